package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
)

// checkSize finds functions and files that are too long to be read as one thing.
func checkSize(fset *token.FileSet, p *pkg) []finding {
	var out []finding
	for _, f := range p.files {
		if ast.IsGenerated(f.tree) {
			continue
		}
		if f.lines > maxFileLines {
			out = append(out, finding{token.Position{Filename: f.name, Line: 1}, "file-length",
				fmt.Sprintf("%d lines, more than %d", f.lines, maxFileLines)})
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
				out = append(out, finding{fset.Position(fn.Pos()), "function-length",
					fmt.Sprintf("%s has %d lines, more than %d", fn.Name.Name, n, maxFuncLines)})
			}
		}
	}
	return out
}
