package staging

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// childVariable makes the test's program a process that writes to a folder below the one
// named, says so, and waits until it is killed.
const childVariable = "GANGPLAN_STAGING_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		f, err := New(dir, ".new-")
		if err == nil {
			err = os.WriteFile(filepath.Join(f.Path, "half"), []byte("half"), 0o666)
		}
		fmt.Println("written", err)
		time.Sleep(time.Minute)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// writer starts a process that has written something to a folder below dir.
func writer(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("written <nil>"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "written <nil>" {
		t.Fatalf("the other process says %q, %v", said, err)
	}
	return c
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// What another process is writing stays, and what it left when it was killed does not.
func TestSweepAwayBesideAnotherProcess(t *testing.T) {
	if f, err := lock(t.TempDir()); err != nil {
		t.Skip("folders cannot be locked here: ", err)
	} else {
		f.Close()
	}
	dir := t.TempDir()
	c := writer(t, dir)
	before := names(t, dir)
	if err := SweepAway(dir, ".new-"); err != nil {
		t.Fatal(err)
	}
	if after := names(t, dir); before == "" || after != before {
		t.Errorf("of %q there is %q left while it is written", before, after)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if err := SweepAway(dir, ".new-"); err != nil {
		t.Fatal(err)
	}
	if after := names(t, dir); after != "" {
		t.Errorf("%q is left of a process that was killed", after)
	}
}

// aged makes a folder with a file in it that was last written some time ago.
func aged(t *testing.T, path string, age time.Duration, withFile bool) {
	t.Helper()
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if withFile {
		file := filepath.Join(path, "half")
		if err := errors.Join(os.WriteFile(file, nil, 0o666), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// The locks of another machine mean nothing here: of its folders only what has not been
// touched for a day is left behind. What is not locked on this one is, however young, and with
// nothing in it yet.
func TestSweepAwayByAge(t *testing.T) {
	dir, own := t.TempDir(), ".new-"+machine()+"-"
	if f, err := lock(dir); err != nil {
		own = ".new-other-old-" // is taken away by its age
	} else {
		f.Close()
	}
	aged(t, filepath.Join(dir, ".new-other-1"), 23*time.Hour, true)
	aged(t, filepath.Join(dir, ".new-other-2"), 25*time.Hour, true)
	aged(t, filepath.Join(dir, own+"1"), 25*time.Hour, false)
	aged(t, filepath.Join(dir, own+"2"), 25*time.Hour, true)
	if own != ".new-other-old-" {
		aged(t, filepath.Join(dir, own+"3"), 0, false)
	}
	aged(t, filepath.Join(dir, "cell"), 99*time.Hour, true)
	// An old folder in which something is still written.
	aged(t, filepath.Join(dir, ".new-other-3"), 99*time.Hour, true)
	if err := os.WriteFile(filepath.Join(dir, ".new-other-3", "half"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := SweepAway(dir, ".new-"); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), ".new-other-1 .new-other-3 cell"; got != want {
		t.Errorf("left are %s, expected %s", got, want)
	}
	if err := SweepAway(filepath.Join(dir, "absent"), ".new-"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a folder that there is not: %v", err)
	}
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	f, err := New(dir, ".x-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path, "half"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil || names(t, dir) != "" {
		t.Errorf("%v, %q is left", err, names(t, dir))
	}
}

// Several that put a folder in the same place get along: in the end one of them is there,
// whole.
func TestReplaceAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "data")
	var all sync.WaitGroup
	for i := range 8 {
		from := filepath.Join(dir, fmt.Sprint("from-", i))
		for k := range 20 {
			name := filepath.Join(from, fmt.Sprint(k), "file")
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		all.Go(func() {
			if err := Replace(from, to); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(filepath.Join(to, "*", "file"))
	if err != nil || len(files) != 20 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if err := Replace(filepath.Join(dir, "absent"), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
}

// A file is there whole or as it was before, and nobody hears of the name beside it.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.svg")
	whole := func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }
	if err := WriteFile(path, whole); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no axis")
	err := WriteFile(path, func(w io.Writer) error { _, _ = io.WriteString(w, "ha"); return broken })
	if text, _ := os.ReadFile(path); !errors.Is(err, broken) || string(text) != "whole" || names(t, dir) != "a.svg" {
		t.Errorf("%v, %q, files %s", err, text, names(t, dir))
	}
	absent := filepath.Join(dir, "absent", "a.svg")
	if err := WriteFile(absent, whole); err == nil || err.Error() != "write "+absent+": no such file or directory" {
		t.Errorf("into a folder that there is not: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "taken"), whole); err == nil || strings.Contains(err.Error(), ".gangplan-") {
		t.Errorf("over a folder: %v", err)
	}
}

// Errors about what lies beside get the name of the place; others stay as they are.
func TestNamed(t *testing.T) {
	f := &Folder{Path: "out/.new-1"}
	for _, c := range []struct{ err, want error }{
		{nil, nil},
		{&fs.PathError{Op: "open", Path: "out/.new-1/a", Err: fs.ErrPermission}, errors.New("write out/cell: permission denied")},
		{fmt.Errorf("x: %w", &os.LinkError{Op: "rename", Old: "out/.new-1/a", New: "out/cell", Err: fs.ErrExist}), errors.New("write out/cell: file already exists")},
		{&fs.PathError{Op: "open", Path: "in/a", Err: fs.ErrPermission}, errors.New("open in/a: permission denied")},
	} {
		got := f.Named("out/cell", c.err)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v is told as %v, expected %v", c.err, got, c.want)
		}
		var inner *fs.PathError
		if c.err != nil && !errors.As(got, &inner) {
			t.Errorf("%v cannot be named again", got)
		}
	}
}

// Folders that are made while others sweep are swept away before they are locked, or not at
// all: what New returns is there, and stays.
func TestNewWhileOthersSweep(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var sweepers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := SweepAway(dir, ".new-"); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 200 {
		f, err := New(dir, ".new-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.Path, "half"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	sweepers.Wait()
}
