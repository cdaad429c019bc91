package archtest

import (
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the folder of go.mod, two above this package.
var root = filepath.Join("..", "..")

// loaded lists and checks the module once for all tests.
var loaded = sync.OnceValues(func() (house, error) {
	fset := token.NewFileSet()
	pkgs, err := loadModule(root, fset)
	return house{fset: fset, pkgs: pkgs}, err
})

// A house is what the rules look at.
type house struct {
	fset *token.FileSet
	std  types.Importer
	pkgs []*pkg
}

func load(t *testing.T) house {
	t.Helper()
	h, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// report fails the test with the findings in a fixed order.
func report(t *testing.T, found []finding) {
	t.Helper()
	lines := make([]string, 0, len(found))
	for _, f := range found {
		lines = append(lines, f.String())
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		t.Error(line)
	}
}

func TestArrows(t *testing.T)    { report(t, checkArrows(load(t).pkgs)) }
func TestLibraries(t *testing.T) { report(t, checkLibraries(load(t).pkgs)) }

func TestPure(t *testing.T) {
	h := load(t)
	report(t, checkPure(h.fset, h.pkgs))
}

func TestSameEveryRun(t *testing.T) {
	h := load(t)
	for _, p := range h.pkgs {
		found := append(checkDeterminism(h.fset, p), checkFused(h.fset, p)...)
		report(t, applyWaivers(h.fset, p, found))
	}
}

func TestSize(t *testing.T) {
	h := load(t)
	for _, p := range h.pkgs {
		report(t, checkSize(h.fset, p))
	}
}

func TestWords(t *testing.T) {
	names, err := projectFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) { // removed, and not yet so in the index
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		report(t, checkWords(filepath.ToSlash(name), text))
	}
}

// The rules above pass on an empty list; this one says that the list was not empty.
func TestSomethingWasLoaded(t *testing.T) {
	h := load(t)
	i := slices.IndexFunc(h.pkgs, func(p *pkg) bool { return p.path == "internal/archtest" })
	if i < 0 || len(h.pkgs[i].files) < 5 || !slices.Contains(h.pkgs[i].imports, "go/ast") {
		t.Fatalf("archtest did not find itself among %d packages", len(h.pkgs))
	}
	names, err := projectFiles(root)
	self := func(name string) bool { return strings.HasSuffix(filepath.ToSlash(name), "internal/archtest/words.go") }
	if err != nil || !slices.ContainsFunc(names, self) {
		t.Fatalf("archtest did not find its files among %d (error %v)", len(names), err)
	}
}
