package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A source is one non-test Go file.
type source struct {
	name  string // relative to the module, with slashes
	lines int
	tree  *ast.File
	typed bool // part of the build for this platform, so that types are known
}

// A pkg is one package of the module: its imports as the go command sees them, and its
// non-test files.
type pkg struct {
	path        string // relative to the module
	imports     []string
	testImports []string
	files       []source
	info        *types.Info
}

// A finding is one broken rule at one place.
type finding struct {
	pos  token.Position
	rule string
	text string
}

func (f finding) String() string {
	if f.pos.Filename == "" {
		return f.rule + ": " + f.text
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.pos.Filename, f.pos.Line, f.rule, f.text)
}

// listed is the part of `go list -json` that the rules read.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, CgoFiles, IgnoredGoFiles  []string
	Imports, TestImports, XTestImports []string
}

// loadModule lists, parses and type-checks all packages of the module in dir. A package
// that does not build is taken as far as it goes: the build reports it.
func loadModule(dir string, fset *token.FileSet) ([]*pkg, error) {
	out, err := goCommand(dir, "list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	var pkgs []*pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		p, err := readPackage(l, fset)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
	std, err := stdImporter(dir, fset, stdImports(pkgs))
	if err != nil {
		return nil, err
	}
	checkTypes(fset, std, pkgs)
	return pkgs, nil
}

func readPackage(l listed, fset *token.FileSet) (*pkg, error) {
	p := &pkg{path: relative(l.ImportPath), imports: l.Imports, testImports: slices.Concat(l.TestImports, l.XTestImports)}
	built := slices.Concat(l.GoFiles, l.CgoFiles)
	for _, name := range slices.Concat(built, l.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		p.addFile(fset, path.Join(p.path, name), text, slices.Contains(built, name))
	}
	return p, nil
}

// addFile parses one file. What follows a syntax error is missing from the tree.
func (p *pkg) addFile(fset *token.FileSet, name string, text []byte, typed bool) {
	tree, _ := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if tree != nil {
		p.files = append(p.files, source{name: name, lines: bytes.Count(text, []byte("\n")), tree: tree, typed: typed})
	}
}

// relative turns an import path of the module into a path of the tables. The module's root
// package is ".".
func relative(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// checkTypes fills in info of every package. The project's own packages are checked from
// source, in the order they import each other; the standard library comes from the build
// cache; third-party packages stay unknown, because compiling Arrow for a lint is not worth
// minutes: an expression that needs their types has no type, and no rule fires on it.
func checkTypes(fset *token.FileSet, std types.Importer, pkgs []*pkg) {
	c := &checker{fset: fset, std: std, project: map[string]*pkg{}, done: map[string]*types.Package{}}
	for _, p := range pkgs {
		c.project[p.path] = p
	}
	for _, p := range pkgs {
		c.check(p)
	}
}

type checker struct {
	fset    *token.FileSet
	std     types.Importer
	project map[string]*pkg
	done    map[string]*types.Package
}

// Import makes checker a types.Importer.
func (c *checker) Import(importPath string) (*types.Package, error) {
	switch {
	case importPath == "unsafe":
		return types.Unsafe, nil
	case c.project[relative(importPath)] != nil && strings.HasPrefix(importPath, module):
		return c.check(c.project[relative(importPath)]), nil
	case isStd(importPath):
		return c.std.Import(importPath)
	}
	unknown := types.NewPackage(importPath, path.Base(importPath))
	unknown.MarkComplete()
	return unknown, nil
}

func (c *checker) check(p *pkg) *types.Package {
	if done, seen := c.done[p.path]; seen {
		return done
	}
	c.done[p.path] = types.NewPackage(p.path, path.Base(p.path)) // an import cycle ends here
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: c, FakeImportC: true, Error: func(error) {}}
	var trees []*ast.File
	for _, f := range p.files {
		if f.typed {
			trees = append(trees, f.tree)
		}
	}
	checked, _ := conf.Check(p.path, c.fset, trees, p.info)
	c.done[p.path] = checked
	return checked
}

// stdImports are the standard packages that the files import.
func stdImports(pkgs []*pkg) []string {
	seen := map[string]bool{}
	for _, p := range pkgs {
		for _, f := range p.files {
			for _, spec := range f.tree.Imports {
				if i := importOf(spec); isStd(i) && i != "C" && i != "unsafe" {
					seen[i] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// stdImporter reads the export data of standard packages out of the build cache. Without
// names it knows none.
func stdImporter(dir string, fset *token.FileSet, names []string) (types.Importer, error) {
	exports := map[string]string{}
	if len(names) > 0 {
		args := []string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
		out, err := goCommand(dir, append(args, names...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
			exports[name] = file
		}
	}
	open := func(name string) (io.ReadCloser, error) {
		if exports[name] == "" {
			return nil, fmt.Errorf("no export data for %s", name)
		}
		return os.Open(exports[name])
	}
	return importer.ForCompiler(fset, "gc", open), nil
}

func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	return out, nil
}

// isStd tells the standard library by the missing dot in the first path element.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func importOf(spec *ast.ImportSpec) string {
	return strings.Trim(spec.Path.Value, "`\"")
}

// within reports whether p is root or in its subtree.
func within(p, root string) bool {
	return p == root || strings.HasPrefix(p, root+"/")
}

// withinAny reports whether p is in the subtree of one of roots.
func withinAny(p string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(p, root) })
}
