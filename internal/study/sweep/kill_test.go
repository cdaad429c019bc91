package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// twoHundred is a sweep of two hundred runs.
const twoHundred = `matrix: {policy: [gang, random], cluster.synthetic.racks: [1, 2], scale.load: {from: 0.5, to: 2.5, step: 0.5}, seed: 1..10}
keep: summary
`

// raced says that the race detector watches.
var raced bool

// whole200 is the folder of twoHundred, run in one go.
func whole200(t *testing.T) string {
	t.Helper()
	if testing.Short() || raced {
		t.Skip("sweeps of 200 cells, ended in many ways: not with -short or -race")
	}
	once200.Do(func() {
		var err error
		if dir200, err = os.MkdirTemp("", "sweep-"); err != nil {
			t.Fatal(err)
		}
		p := planOf(t, twoHundred)
		run(t, p, Options{Dir: dir200})
		finish(t, p, dir200)
	})
	return dir200
}

var (
	once200 sync.Once
	dir200  string // removed by TestMain
)

// childVariable makes the test's program run all of a study into a folder and nothing
// else; see child.
const childVariable = "GANGPLAN_SWEEP_CHILD"

// child is a process that runs $GANGPLAN_SWEEP_CHILD_STUDY into $GANGPLAN_SWEEP_CHILD.
func child() int {
	limitFiles(os.Getenv(childVariable + "_LIMIT"))
	p, err := tryPlan(tiny+os.Getenv(childVariable+"_STUDY"), "v1.0.0")
	if err == nil {
		_, err = p.Run(context.Background(), Options{Dir: os.Getenv(childVariable)})
	}
	if err == nil {
		_, err = p.Finish(os.Getenv(childVariable))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// childOf prepares a child. prefix is a command that gets its command line.
func childOf(t *testing.T, dir, matrix string, prefix ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(prefix, self)
	c := exec.Command(line[0], line[1:]...)
	var errOut bytes.Buffer
	c.Stderr = &errOut
	c.Env = append(os.Environ(), childVariable+"="+dir, childVariable+"_STUDY="+matrix)
	return c, &errOut
}

// allWhole wants every folder that has the name of a cell to be that cell, undamaged.
func allWhole(t *testing.T, p *Plan, dir string) (whole int) {
	t.Helper()
	for _, task := range p.tasks {
		err := task.verify(filepath.Join(dir, cellsDir))
		if err == nil {
			whole++
		} else if !os.IsNotExist(err) {
			t.Errorf("it looks done, but: %v", err)
		}
	}
	if Is(dir) && whole < len(p.tasks) {
		t.Errorf("there is an index, but %d of %d runs", whole, len(p.tasks))
	}
	return whole
}

// A process that is killed at any moment leaves whole cells only, and the next goes on from
// there: in the end there are the same bytes.
func TestKilled(t *testing.T) {
	want, dir := whole200(t), t.TempDir()
	p := planOf(t, twoHundred)
	if len(p.tasks) != 200 {
		t.Fatalf("%d runs", len(p.tasks))
	}
	moments := rand.New(rand.NewPCG(1, 2))
	kills, between := 0, 0
	for {
		c, errOut := childOf(t, dir, twoHundred)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// The more there is done, the more time it gets: it must end some day.
		late := time.AfterFunc(time.Duration(moments.IntN(60+15*kills))*time.Millisecond, func() { _ = c.Process.Kill() })
		err := c.Wait()
		late.Stop()
		whole := allWhole(t, p, dir)
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v: %s", err, errOut)
		}
		kills++
		if whole > 0 && whole < len(p.tasks) {
			between++
		}
	}
	if between == 0 {
		t.Errorf("of %d kills none was between the first cell and the last", kills)
	}
	same(t, want, dir)
	t.Logf("%d kills, %d of them between the first cell and the last", kills, between)
}

// Where files cannot grow, a sweep ends with an error, nothing half-written counts, and it
// can go on when there is room.
func TestFilesCannotGrow(t *testing.T) {
	p := planOf(t, small)
	want, dir := finished(t, p, 0), t.TempDir()
	c, errOut := childOf(t, dir, small)
	c.Env = append(c.Env, childVariable+"_LIMIT=9000") // less than a table of jobs takes
	if err := c.Run(); err == nil || c.ProcessState.ExitCode() != 2 {
		t.Skipf("files of any size can be written here: %v %s", err, errOut)
	}
	if !strings.Contains(errOut.String(), "too large") {
		t.Errorf("the error is %s", errOut)
	}
	if whole := allWhole(t, p, dir); whole != 0 {
		t.Errorf("%d runs are done, in files that cannot be", whole)
	}
	run(t, p, Options{Dir: dir})
	finish(t, p, dir)
	same(t, want, dir)
}

// mounted runs a child in a file system of its own, made with some options, after a command
// in it, and copies what the child left to another folder.
func mounted(t *testing.T, options, then, matrix string) (left, errOut string, exit int) {
	t.Helper()
	place, left := t.TempDir(), t.TempDir()
	script := `mount -t tmpfs -o ` + options + ` none "$1" || exit 77
mkdir "$1/out"
` + then + `
"$3"; code=$?
cp -a "$1/out/." "$2" && exit $code`
	c, text := childOf(t, filepath.Join(place, "out"), matrix, "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", place, left)
	err := c.Run()
	if exit = c.ProcessState.ExitCode(); err != nil && exit != 2 {
		t.Skipf("no file systems can be mounted here: %v %s", err, text)
	}
	return left, text.String(), exit
}

func TestDiskFull(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("there is no unshare to mount a small disk with")
	}
	want, p := whole200(t), planOf(t, twoHundred)
	dir, errOut, exit := mounted(t, "size=2m", "", twoHundred)
	if exit != 2 || !strings.Contains(errOut, "no space left on device") {
		t.Fatalf("exit code %d and %q on a full disk", exit, errOut)
	}
	whole := allWhole(t, p, dir)
	if whole == 0 || whole == len(p.tasks) {
		t.Errorf("%d runs fit on the disk, expected some", whole)
	}
	if got := run(t, p, Options{Dir: dir}); got.Reused != whole || got.Done != len(p.tasks) {
		t.Errorf("with room again: %+v, where %d were done", got, whole)
	}
	finish(t, p, dir)
	same(t, want, dir)
}

// The folder that the cells go to becomes unwritable in the midst of a sweep.
func TestUnwritableFromThenOn(t *testing.T) {
	want, p, dir := whole200(t), planOf(t, twoHundred), t.TempDir()
	cells, aside := filepath.Join(dir, cellsDir), filepath.Join(dir, "aside")
	_, err := p.Run(context.Background(), Options{Dir: dir, Progress: func(now Progress) {
		if now.Done != 70 {
			return
		}
		if err := errors.Join(os.Rename(cells, aside), os.WriteFile(cells, nil, 0o666)); err != nil {
			t.Error(err)
		}
	}})
	if !errors.Is(err, fs.ErrNotExist) { // of one that was being moved into place
		wantError(t, err, "not a directory")
	}
	if err := errors.Join(os.Remove(cells), os.Rename(aside, cells)); err != nil {
		t.Fatal(err)
	}
	if whole := allWhole(t, p, dir); whole < 70 || whole == len(p.tasks) {
		t.Errorf("%d runs are done, of the 70 that could be written", whole)
	}
	run(t, p, Options{Dir: dir})
	finish(t, p, dir)
	same(t, want, dir)
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	p := planOf(t, small)
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := p.Run(context.Background(), Options{Dir: dir, Progress: func(now Progress) { t.Errorf("something was run: %+v", now) }})
		wantError(t, err, "not a directory")
		_, err = p.Merge(context.Background(), dir, nil, 0)
		wantError(t, err, "not a directory")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("there is no unshare to mount a read-only disk with")
	}
	_, errOut, exit := mounted(t, "size=1m", `mount -o remount,ro "$1"`, small)
	if exit != 2 || !strings.Contains(errOut, "read-only file system") {
		t.Errorf("exit code %d and %q on a read-only disk", exit, errOut)
	}
}
