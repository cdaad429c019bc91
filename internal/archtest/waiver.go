package archtest

import (
	"go/token"
	"strings"
)

const waiverMark = "//det:ok"

// applyWaivers takes out the findings that a waiver stands beside, and adds one for each
// waiver that has no reason or nothing to waive.
func applyWaivers(fset *token.FileSet, p *pkg, found []finding) []finding {
	type place struct {
		file string
		line int
	}
	waived := map[place]bool{}
	for _, f := range found {
		waived[place{f.pos.Filename, f.pos.Line}] = false
	}
	var out []finding
	for _, w := range waivers(fset, p) {
		if w.text == "" {
			out = append(out, finding{w.pos, "waiver", waiverMark + " needs a reason"})
			continue
		}
		used := false
		for _, line := range []int{w.pos.Line, w.pos.Line + 1} {
			at := place{w.pos.Filename, line}
			if _, hit := waived[at]; hit {
				waived[at], used = true, true
			}
		}
		if !used {
			out = append(out, finding{w.pos, "waiver", waiverMark + " waives nothing here"})
		}
	}
	for _, f := range found {
		if !waived[place{f.pos.Filename, f.pos.Line}] {
			out = append(out, f)
		}
	}
	return out
}

// waivers lists the waiver comments of p, each with its reason as text.
func waivers(fset *token.FileSet, p *pkg) []finding {
	var out []finding
	for _, f := range p.files {
		for _, group := range f.tree.Comments {
			for _, c := range group.List {
				if reason, ok := strings.CutPrefix(c.Text, waiverMark); ok {
					out = append(out, finding{fset.Position(c.Pos()), "waiver", strings.TrimSpace(reason)})
				}
			}
		}
	}
	return out
}
