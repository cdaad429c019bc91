package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkDeterminism finds, in detRoots, what may make two runs of the same input differ.
// Waived findings are left out.
func checkDeterminism(fset *token.FileSet, p *pkg) []finding {
	if !withinAny(p.path, detRoots) {
		return nil
	}
	out := checkImports(fset, p, "import", detImports)
	for _, f := range p.files {
		sorted := sortedIterators(f.tree, p.info)
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if rule, text := nondeterminism(n, p.info, sorted); rule != "" {
				out = append(out, finding{fset.Position(n.Pos()), rule, text})
			}
			return true
		})
	}
	return out
}

// nondeterminism names the rule that node n itself breaks.
func nondeterminism(n ast.Node, info *types.Info, sorted map[*ast.Ident]bool) (rule, text string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "goroutine", "parallelism is across runs only"
	case *ast.SelectStmt:
		return "channel", "select picks at random"
	case *ast.ChanType:
		return "channel", "parallelism is across runs only"
	case *ast.RangeStmt:
		if isMap(info.TypeOf(n.X)) {
			return "map-range", "map order differs between runs"
		}
	case *ast.Ident:
		name := qualified(info.Uses[n])
		if why := detCalls[name]; why != "" && !sorted[n] {
			return "call", name + ": " + why
		}
	}
	return "", ""
}

// isMap reports whether a range over t visits a map, be t a type parameter.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	constraint, isInterface := t.Underlying().(*types.Interface)
	if !isInterface {
		_, ok := t.Underlying().(*types.Map)
		return ok
	}
	for e := range constraint.EmbeddedTypes() {
		union, isUnion := e.(*types.Union)
		if !isUnion {
			if isMap(e) {
				return true
			}
			continue
		}
		for term := range union.Terms() {
			if isMap(term.Type()) {
				return true
			}
		}
	}
	return false
}

// sortedIterators are the iterators over maps that are sorted at once, as in
// slices.Sorted(maps.Keys(m)): the order they came in does not matter.
func sortedIterators(tree *ast.File, info *types.Info) map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || qualified(info.Uses[callee(call)]) != "slices.Sorted" {
			return true
		}
		if inner, ok := call.Args[0].(*ast.CallExpr); ok && callee(inner) != nil {
			out[callee(inner)] = true
		}
		return true
	})
	return out
}

// callee is the identifier of the function that is called, if it is called by name.
func callee(call *ast.CallExpr) *ast.Ident {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun
	case *ast.SelectorExpr:
		return fun.Sel
	}
	return nil
}

// qualified is "path.Func" or "path.Type.Method" of a function, and empty for anything else.
func qualified(obj types.Object) string {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return ""
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Pkg().Path() + "." + fn.Name()
	}
	t := recv.Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	return fn.Pkg().Path() + "." + named.Obj().Name() + "." + fn.Name()
}
