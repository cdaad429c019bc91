package archtest

import (
	"go/token"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Each rule is shown to fail on the smallest source that breaks it, and to pass on the
// nearest source that does not.

// lab type-checks made-up packages against the real standard library.
var lab = sync.OnceValues(func() (house, error) {
	fset := token.NewFileSet()
	std, err := stdImporter(".", fset, []string{"maps", "math", "reflect", "slices", "sort", "sync", "time"})
	return house{fset: fset, std: std}, err
})

// compile makes a package of one file at path, type-checked like a real one. What it
// imports beside the packages of the lab has no types.
func compile(t *testing.T, path, text string) (*token.FileSet, *pkg) {
	t.Helper()
	h, err := lab()
	if err != nil {
		t.Fatal(err)
	}
	p := &pkg{path: path}
	p.addFile(h.fset, path+"/x.go", []byte(text), true)
	checkTypes(h.fset, h.std, []*pkg{p})
	return h.fset, p
}

// rulesOf are the rules that the findings name, each once, in order.
func rulesOf(found []finding) string {
	var names []string
	for _, f := range found {
		names = append(names, f.rule)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

func TestSourceRules(t *testing.T) {
	const sim, report = "sim", "report"
	cases := []struct {
		name, pkg, text string
		want            string
	}{
		{"clean", sim, `func f(a []int) (n int) { for _, x := range a { n += x }; return n }`, ""},
		{"goroutine", sim, `func f() { go f() }`, "goroutine"},
		{"goroutine elsewhere", report, `func f() { go f() }`, ""},
		{"channel type", sim, `type t struct{ c chan int }`, "channel"},
		{"select", sim, `func f() { select {} }`, "channel"},
		{"sync", sim, `import "sync"; var m sync.Mutex`, "import"},
		{"sync/atomic", "policies/stage", `import "sync/atomic"; var n atomic.Int64`, "import"},
		{"math/rand", "topology", `import "math/rand"; var n = rand.Int()`, "import"},
		{"math/rand/v2", "workloads", `import "math/rand/v2"; var n = rand.Int()`, "import"},
		{"math", sim, `import "math"; var n = math.Pi`, ""},
		{"time.Now", "policies", `import "time"; var n = time.Now()`, "call"},
		{"time.Now under another name", "policies", `import clock "time"; var now = clock.Now`, "call"},
		{"time.Duration", "policies", `import "time"; var d time.Duration`, ""},
		{"own Now", "policies", `type c int; func (c) Now() int { return 0 }; var n = c(0).Now()`, ""},
		{"sort.Slice", sim, `import "sort"; func f(a []int) { sort.Slice(a, nil) }`, "call"},
		{"sort.SliceStable", sim, `import "sort"; func f(a []int) { sort.SliceStable(a, nil) }`, ""},
		{"slices.SortFunc", sim, `import "slices"; func f(a []int) { slices.SortFunc(a, nil) }`, "call"},
		{"slices.SortStableFunc", sim, `import "slices"; func f(a []int) { slices.SortStableFunc(a, nil) }`, ""},
		{"map range", sim, `func f(m map[int]int) { for range m {} }`, "map-range"},
		{"named map range", sim, `type t map[int]int; func f(m t) { for range m {} }`, "map-range"},
		{"type parameter map range", sim, `func f[M ~map[int]int](m M) { for range m {} }`, "map-range"},
		{"map range in policies", "policies/stage", `func f(m map[int]int) { for range m {} }`, "map-range"},
		{"map range elsewhere", report, `func f(m map[int]int) { for range m {} }`, ""},
		{"map look-up", sim, `func f(m map[int]int) int { return m[1] }`, ""},
		{"maps.Keys", sim, `import "maps"; func f(m map[int]int) { for range maps.Keys(m) {} }`, "call"},
		{"sorted maps.Keys", sim, `import ("maps"; "slices"); func f(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }`, ""},
		{"MapRange", sim, `import "reflect"; func f(v reflect.Value) { v.MapRange() }`, "call"},
		{"waived", sim, "func f(m map[int]int) (n int) {\n\t//det:ok a sum of integers\n\tfor _, x := range m { n += x }\n\treturn n\n}", ""},
		{"waived on the line", sim, "func f() { go f() } //det:ok an example", ""},
		{"waiver without a reason", sim, "func f() { go f() } //det:ok", "goroutine waiver"},
		{"waiver too far", sim, "//det:ok an example\n\nfunc f() { go f() }", "goroutine waiver"},
		{"waiver of nothing", sim, "//det:ok an example\nfunc f() {}", "waiver"},
		{"fused", report, `func f(x, y, z float64) float64 { return x*y + z }`, "fused"},
		{"fused in brackets", report, `func f(x, y, z float64) float64 { return z - (x * y) }`, "fused"},
		{"fused assignment", report, `func f(x, y, z float64) { z += -x * y; _ = z }`, "fused"},
		{"rounded", report, `func f(x, y, z float64) float64 { return float64(x*y) + z }`, ""},
		{"integers", report, `func f(x, y, z int) int { return x*y + z }`, ""},
		{"constants", report, `const x = 1.5*2 + 1`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fset, p := compile(t, c.pkg, "package x\n"+c.text)
			found := append(checkDeterminism(fset, p), checkFused(fset, p)...)
			if got := rulesOf(applyWaivers(fset, p, found)); got != c.want {
				t.Errorf("rules %q, want %q", got, c.want)
			}
		})
	}
}

func TestPureRule(t *testing.T) {
	cases := []struct{ pkg, imports, want string }{
		{"sim", "os", "pure"},
		{"sim/quota", "os/exec", "pure"},
		{"topology", "encoding/binary", "pure"},
		{"workloads", "time", "pure"},
		{"internal/rng", "time", "pure"},
		{"sim", "math/bits", ""},
		{"sim", "fmt", "fmt"},
		{"sim/ledger", "fmt", "fmt"},
		{"topology", "fmt", ""},
		{"traces", "os", ""},
	}
	for _, c := range cases {
		fset, p := compile(t, c.pkg, "package x\nimport _ \""+c.imports+"\"")
		found := slices.DeleteFunc(checkPure(fset, []*pkg{p}), func(f finding) bool { return f.pos.Filename == "" })
		if got := rulesOf(found); got != c.want {
			t.Errorf("%s importing %s: rules %q, want %q", c.pkg, c.imports, got, c.want)
		}
	}
}

func TestFmtFiles(t *testing.T) {
	saved := fmtFiles
	defer func() { fmtFiles = saved }()
	fmtFiles = map[string]string{"sim/x.go": "a test"}
	fset, p := compile(t, "sim", "package x\nimport _ \"fmt\"")
	if got := checkPure(fset, []*pkg{p}); len(got) != 0 {
		t.Errorf("a named file: %v", got)
	}
	fset, p = compile(t, "sim", "package x")
	if got := rulesOf(checkPure(fset, []*pkg{p})); got != "fmt" {
		t.Errorf("a name that is not needed: rules %q, want fmt", got)
	}
}

func TestArrowRule(t *testing.T) {
	cases := []struct {
		from, to string
		ok       bool
	}{
		{"topology", "sim", false},
		{"topology", "internal/rng", false},
		{"topology/fabric", "topology", true},
		{"sim/quota", "topology", false},
		{"sim/quota", "workloads", false},
		{"sim/quota", "sim", false},
		{"sim/ledger", "sim", false},
		{"sim/ledger", "sim/quota", false},
		{"sim/capacity", "topology", true},
		{"sim", "sim/ledger", true},
		{"sim", "workloads", true},
		{"sim", "policies", false},
		{"sim", "internal/stats", false},
		{"workloads", "topology/fabric", true},
		{"workloads", "traces", false},
		{"traces", "sim/quota", true},
		{"traces", "sim", false},
		{"traces/kube", "traces", true},
		{"policies", "policies/stage", true},
		{"policies", "sim/capacity", true},
		{"policies", "report", false},
		{"report/figure", "report", true},
		{"report", "sim", true},
		{"report", "policies", false},
		{"report", "internal/scenario", false},
		{"internal/scenario", "policies", true},
		{"internal/scenario", "internal/study", false},
		{"internal/study", "internal/scenario", true},
		{"internal/verify", "internal/scenario", true},
		{"internal/verify", "testdata", true},
		{"internal/scenario", "internal/study", false},
		{"sim", "testdata", false},
		{"internal/columnar", "traces", false},
		{"internal/study", "cmd/gangplan", false},
		{"cmd/gangplan", "internal/study", true},
		{"internal/unheard", "topology", false},
	}
	for _, c := range cases {
		found := checkArrows([]*pkg{{path: c.from, imports: []string{"sort", module + "/" + c.to}}})
		if (len(found) == 0) != c.ok {
			t.Errorf("%s -> %s: findings %v, want ok %v", c.from, c.to, found, c.ok)
		}
	}
}

func TestLibraryRule(t *testing.T) {
	cases := []struct {
		from, to string
		test, ok bool
	}{
		{"internal/columnar", "github.com/apache/arrow/go/v17/arrow", false, true},
		{"report", "github.com/apache/arrow/go/v17/arrow", false, false},
		{"report", "github.com/apache/arrow/go/v17/arrow", true, false},
		{"report/figure", "gonum.org/v1/plot", false, true},
		{"report", "gonum.org/v1/plot/vg", false, false},
		{"internal/stats", "gonum.org/v1/gonum/stat", false, true},
		{"workloads", "gonum.org/v1/gonum/stat", false, false},
		{"workloads", "gonum.org/v1/gonum/stat", true, true},
		{"internal/scenario", "gopkg.in/yaml.v3", false, true},
		{"traces", "gopkg.in/yaml.v3", false, false},
		{"cmd/gangplan", "github.com/spf13/cobra", false, true},
		{"report", "github.com/spf13/cobra", false, false},
		{"report", "github.com/olekukonko/tablewriter/tw", false, true},
		{"cmd/gangplan", "github.com/olekukonko/tablewriter", false, false},
		{"sim", "pgregory.net/rapid", true, true},
		{"sim", "pgregory.net/rapid", false, false},
		{"sim", "example.com/unheard", false, false},
		{"sim", "example.com/unheard", true, false},
	}
	for _, c := range cases {
		p := &pkg{path: c.from, imports: []string{c.to}}
		if c.test {
			p.imports, p.testImports = nil, p.imports
		}
		if found := checkLibraries([]*pkg{p}); (len(found) == 0) != c.ok {
			t.Errorf("%s -> %s (test %v): findings %v, want ok %v", c.from, c.to, c.test, found, c.ok)
		}
	}
}

func TestSizeRule(t *testing.T) {
	body := func(lines int) string { return "func f() {" + strings.Repeat("\n", lines-1) + "}\n" }
	cases := []struct{ name, text, want string }{
		{"longest function", "package x\n" + body(maxFuncLines), ""},
		{"too long a function", "package x\n" + body(maxFuncLines+1), "function-length"},
		{"longest file", "package x\n" + strings.Repeat("\n", maxFileLines-1), ""},
		{"too long a file", "package x\n" + strings.Repeat("\n", maxFileLines), "file-length"},
		{"generated", "// Code generated by hand. DO NOT EDIT.\n\npackage x\n" + body(maxFileLines), ""},
	}
	for _, c := range cases {
		fset, p := compile(t, "report", c.text)
		if got := rulesOf(checkSize(fset, p)); got != c.want {
			t.Errorf("%s: rules %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWordRule(t *testing.T) {
	for _, word := range foreignWords {
		text := "clean\nsee " + strings.ToUpper(word) + " here\n"
		found := checkWords("x.md", []byte(text))
		if len(found) == 0 || found[0].pos.Line != 2 {
			t.Errorf("%q: findings %v, want line 2", word, found)
		}
		if found := checkWords("x.bin", []byte("\x00"+text)); len(found) != 0 {
			t.Errorf("%q in a binary file: findings %v", word, found)
		}
	}
	if found := checkWords("x.md", []byte("workloads/work and homework")); len(found) != 0 {
		t.Errorf("clean text: findings %v", found)
	}
}

// A package that is half written must not break the rules' own machinery.
func TestBrokenSource(t *testing.T) {
	fset, p := compile(t, "sim", "package x\nimport \"nowhere\"\nfunc f() { go undefined.f() }\nfunc g( {")
	if got := rulesOf(checkDeterminism(fset, p)); got != "goroutine" {
		t.Errorf("rules %q, want goroutine", got)
	}
}
