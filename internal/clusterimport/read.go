package clusterimport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gangplan/gangplan/traces/kube"
)

// Read reads what kubectl printed: a file, or all files of a folder that end in .yaml, .yml or
// .json, in the order of their names. Links to files are followed; what begins with a dot is
// not looked at. The error is a kube.Errors or says what cannot be read.
func Read(path string) (*kube.Dump, error) {
	names := []string{path}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a file nor a folder", path)
	case info.IsDir():
		if names, err = filesOf(path); err != nil {
			return nil, err
		}
	}
	d := &kube.Dump{}
	var wrong kube.Errors
	for _, name := range names {
		err := readFile(d, name)
		if list, ok := errors.AsType[kube.Errors](err); ok {
			wrong = append(wrong, list...)
		} else if err != nil {
			return nil, err
		}
	}
	if len(wrong) > 0 {
		return nil, wrong[:min(len(wrong), kube.MaxErrors)]
	}
	return d, nil
}

func readFile(d *kube.Dump, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", name, cause(err))
	}
	defer f.Close()
	return d.Add(name, f)
}

// endings are those of the files that are read.
var endings = []string{".yaml", ".yml", ".json"}

func filesOf(dir string) (names []string, err error) {
	if err := walk(dir, &names); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", dir, cause(err))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no files that end in .yaml, .yml or .json", dir)
	}
	return names, nil
}

// walk lists the files of a folder and of those in it. Links to folders are not followed: they
// may lead back.
func walk(dir string, names *[]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if err := walk(path, names); err != nil {
				return err
			}
		case slices.Contains(endings, strings.ToLower(filepath.Ext(path))) && isFile(path, e):
			*names = append(*names, path)
		}
	}
	return nil
}

// isFile reports whether an entry is a file or a link to one, or to nothing: that is said when
// it is opened.
func isFile(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// cause is an error of the file system without its path.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
