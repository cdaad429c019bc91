package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkFused finds x*y + z in floats. Go may compute it with one rounding, and does so on
// some processors only, so the same run would print different digits; float64(x*y) + z
// rounds everywhere.
func checkFused(fset *token.FileSet, p *pkg) []finding {
	var out []finding
	for _, f := range p.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if e, fused := fusedSum(n); fused && isFloat(p.info, e) {
				out = append(out, finding{fset.Position(n.Pos()), "fused",
					"a float product in a sum may be fused on some processors; write float64(x*y) + z"})
			}
			return true
		})
	}
	return out
}

// fusedSum reports whether n adds or subtracts a product, and an operand to take the type of.
func fusedSum(n ast.Node) (ast.Expr, bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.ADD || n.Op == token.SUB {
			return n, isProduct(n.X) || isProduct(n.Y)
		}
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			return n.Lhs[0], isProduct(n.Rhs[0])
		}
	}
	return nil, false
}

// isProduct sees through parentheses and signs, as the compiler does.
func isProduct(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.MUL
	case *ast.ParenExpr:
		return isProduct(e.X)
	case *ast.UnaryExpr:
		return isProduct(e.X)
	}
	return false
}

// isFloat reports whether e is computed in floats at run time: constants are exact.
func isFloat(info *types.Info, e ast.Expr) bool {
	tv := info.Types[e]
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}
