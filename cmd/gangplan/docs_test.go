package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs every command of a console block in the README and in docs, and compares
// what it prints. `| tail -1` keeps the last line and `| grep -E WORDS` the lines with one
// of the words, as a reader would. `# exits with 1` says that the command does, and a
// backslash that it goes on. Files are found from the top of the repository; what commands
// write goes to a folder that those of one file share. With GANGPLAN_UPDATE=1 the blocks are
// written anew.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := ""
		for _, block := range consoleBlocks(string(text)) {
			if ran++; folder == "" {
				folder = likeTheTop(t)
			}
			t.Run(filepath.Base(file)+"/"+block.command, func(t *testing.T) { block.check(t, file, folder) })
		}
	}
	if ran == 0 {
		t.Error("no console block was found: nothing was tested")
	}
}

// likeTheTop makes a folder that looks like the top of the repository and can be written to.
func likeTheTop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"testdata", "docs", "README.md"} {
		top, err := filepath.Abs(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(top, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// consoleBlock is a command of the docs and the output printed under it.
type consoleBlock struct {
	command, want string
}

func consoleBlocks(text string) []consoleBlock {
	var blocks []consoleBlock
	for {
		_, rest, ok := strings.Cut(text, "```console\n")
		if !ok {
			return blocks
		}
		var body string
		body, text, _ = strings.Cut(rest, "```")
		for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
			command, want, _ := strings.Cut(strings.ReplaceAll(part, "\\\n", "\x00"), "\n")
			blocks = append(blocks, consoleBlock{strings.ReplaceAll(command, "\x00", "\\\n"), want})
		}
	}
}

// words takes a command line apart as a shell does; text in single quotes is one word.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(strings.ReplaceAll(line, "\\\n", " "), "'") {
		switch fields := strings.Fields(part); {
		case i%2 == 1:
			out = append(out, part)
		default:
			out = append(out, fields...)
		}
	}
	return out
}

func (b consoleBlock) check(t *testing.T, file, folder string) {
	file, _ = filepath.Abs(file)
	t.Chdir(folder)
	line, comment, _ := strings.Cut(b.command, " # ")
	line, filter, _ := strings.Cut(line, " | ")
	want := exitOK
	if _, code, ok := strings.Cut(comment, "exits with "); ok {
		want = int(code[0] - '0')
	}
	args := words(line)
	if args[0] != "gangplan" {
		t.Fatalf("expected a gangplan command")
	}
	var out, errOut bytes.Buffer
	if code := execute(context.Background(), args[1:], strings.NewReader(""), &out, &errOut); code != want {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	got := strings.TrimSpace(out.String())
	if strings.HasPrefix(filter, "tail -1") {
		got = got[strings.LastIndex(got, "\n")+1:]
	}
	if words, ok := strings.CutPrefix(filter, "grep -E "); ok {
		got = grep(t, strings.Trim(words, "'"), got)
	}
	switch {
	case trimRight(got) == trimRight(strings.TrimSpace(b.want)):
	case os.Getenv("GANGPLAN_UPDATE") != "":
		b.rewrite(t, file, got)
	default:
		t.Errorf("prints\n%s\nbut the docs say\n%s", got, b.want)
	}
}

// rewrite puts what the command prints into its block.
func (b consoleBlock) rewrite(t *testing.T, file, got string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := "$ " + b.command + "\n"
	blank := cmp.Or(b.want[len(strings.TrimRight(b.want, "\n")):], "\n")
	fresh := strings.Replace(string(text), head+b.want, head+trimRight(got)+blank, 1)
	if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadmeScenarios runs what the README says about one's own cluster: every scenario with
// the trace under it, and then every gangplan command of the same section.
func TestReadmeScenarios(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, section := range strings.Split(string(text), "\n## ") {
		blocks := map[string]string{}
		for _, m := range fence.FindAllStringSubmatch(section, -1) {
			blocks[m[1]] += m[2]
		}
		if blocks["yaml"] == "" {
			continue
		}
		ran++
		title, _, _ := strings.Cut(section, "\n")
		t.Run(title, func(t *testing.T) { followReadme(t, blocks) })
	}
	if ran == 0 {
		t.Error("no scenario was found: nothing was tested")
	}
}

var (
	fence     = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	traceFile = regexp.MustCompile(`file: ([\w.]+)`)
)

// followReadme does in an empty folder what a reader would.
func followReadme(t *testing.T, blocks map[string]string) {
	t.Chdir(t.TempDir())
	write(t, "scenario.yaml", blocks["yaml"])
	if m := traceFile.FindStringSubmatch(blocks["yaml"]); m != nil {
		write(t, m[1], blocks["csv"])
	}
	commands := 0
	for line := range strings.Lines(blocks[""]) {
		line, _, _ = strings.Cut(line, "#")
		args := strings.Fields(line)
		if len(args) == 0 || args[0] != "gangplan" {
			continue
		}
		commands++
		var out, errOut bytes.Buffer
		code := execute(t.Context(), args[1:], strings.NewReader(""), &out, &errOut)
		if different := args[1] == "diff" && code == exitFailed; code != exitOK && !different || out.Len() == 0 {
			t.Errorf("%s: exit code %d: %s", line, code, errOut.String())
		}
	}
	if commands == 0 {
		t.Error("no command was found")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if text == "" {
		t.Fatalf("the README does not say what %s is", name)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func grep(t *testing.T, pattern, text string) string {
	t.Helper()
	p, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") { // without its end: $ is behind the last letter
		if p.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// trimRight drops blanks at the ends of lines, which Markdown editors eat.
func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
