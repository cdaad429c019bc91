package archtest

import (
	"bytes"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// checkWords finds foreignWords in one file, whatever their case. Binary files are passed over.
func checkWords(name string, text []byte) []finding {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	var out []finding
	for i, line := range strings.Split(strings.ToLower(string(text)), "\n") {
		for _, word := range foreignWords {
			if strings.Contains(line, word) {
				out = append(out, finding{token.Position{Filename: name, Line: i + 1}, "word", "does not belong here: " + word})
			}
		}
	}
	return out
}

// projectFiles are the files that are, or would be, tracked; without git all files that
// are not hidden. The walk is made in any case: it is how `go test` learns that its cached
// result depends on which files there are.
func projectFiles(root string) ([]string, error) {
	var walked []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.Type().IsRegular():
			walked = append(walked, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return walked, nil
	}
	var tracked []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			tracked = append(tracked, filepath.Join(root, name))
		}
	}
	return tracked, nil
}
