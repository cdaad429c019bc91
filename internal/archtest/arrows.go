package archtest

import (
	"go/token"
	"slices"
	"strings"
)

// checkArrows finds imports within the project that arrows does not permit, and packages
// that it does not know.
func checkArrows(pkgs []*pkg) []finding {
	var out []finding
	for _, p := range pkgs {
		if p.path == "." {
			continue
		}
		entry, ok := arrowEntry(p.path)
		if !ok {
			out = append(out, finding{rule: "arrow", text: p.path + " has no line in the table of arrows"})
			continue
		}
		for _, i := range p.imports {
			to := relative(i)
			if !strings.HasPrefix(i, module) || mayImport(entry, to) {
				continue
			}
			out = append(out, finding{rule: "arrow", text: p.path + " must not import " + to})
		}
	}
	return out
}

// arrowEntry is the longest path in arrows that p is within.
func arrowEntry(p string) (string, bool) {
	best := ""
	for entry := range arrows {
		if within(p, entry) && len(entry) > len(best) {
			best = entry
		}
	}
	return best, best != ""
}

// mayImport permits the subtrees that the entry names, and those packages of its own
// subtree that no other entry speaks for. The leaves of sim are sim's own.
func mayImport(entry, to string) bool {
	if own, _ := arrowEntry(to); own == entry {
		return true
	}
	if entry == "sim" && within(to, "sim") {
		return true
	}
	return withinAny(to, arrows[entry])
}

// checkLibraries finds imports of third-party packages outside the packages that
// libraries names for them.
func checkLibraries(pkgs []*pkg) []finding {
	var out []finding
	for _, p := range pkgs {
		for _, i := range p.imports {
			if !isStd(i) && !strings.HasPrefix(i, module) && !mayUse(p.path, i, false) {
				out = append(out, finding{rule: "library", text: p.path + " must not import " + i})
			}
		}
		for _, i := range p.testImports {
			if !isStd(i) && !strings.HasPrefix(i, module) && !mayUse(p.path, i, true) {
				out = append(out, finding{rule: "library", text: "tests of " + p.path + " must not import " + i})
			}
		}
	}
	return out
}

func mayUse(p, importPath string, test bool) bool {
	return slices.ContainsFunc(libraries, func(l library) bool {
		return within(importPath, l.prefix) && (withinAny(p, l.users) || test && l.anyTests)
	})
}

// checkPure finds imports in sim and below that reach for the machine, and fmt in a file
// of sim that fmtFiles does not name.
func checkPure(fset *token.FileSet, pkgs []*pkg) []finding {
	var out []finding
	unneeded := map[string]bool{}
	for name := range fmtFiles {
		unneeded[name] = true
	}
	for _, p := range pkgs {
		if !withinAny(p.path, pureRoots) {
			continue
		}
		out = append(out, checkImports(fset, p, "pure", impureImports)...)
		if !withinAny(p.path, fmtRoots) {
			continue
		}
		for _, f := range p.files {
			for _, spec := range f.tree.Imports {
				if importOf(spec) != "fmt" {
					continue
				}
				delete(unneeded, f.name)
				if fmtFiles[f.name] == "" {
					out = append(out, finding{fset.Position(spec.Pos()), "fmt", "fmt in a file that fmtFiles does not name"})
				}
			}
		}
	}
	for name := range unneeded {
		out = append(out, finding{rule: "fmt", text: name + " stands in fmtFiles and does not import fmt"})
	}
	return out
}

// checkImports finds imports of p that are, or lie below, a key of banned.
func checkImports(fset *token.FileSet, p *pkg, rule string, banned map[string]string) []finding {
	var out []finding
	for _, f := range p.files {
		for _, spec := range f.tree.Imports {
			for root, why := range banned {
				if within(importOf(spec), root) {
					out = append(out, finding{fset.Position(spec.Pos()), rule, "import of " + importOf(spec) + ": " + why})
				}
			}
		}
	}
	return out
}
