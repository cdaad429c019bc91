package archtest

// module is the import path of the project; every path in the tables below is relative to it.
const module = "github.com/gangplan/gangplan"

// arrows says which packages of the project a package may import, the longest matching
// path winning. An entry speaks for its whole subtree. Within the subtree of one entry
// imports are free; an import of "x" permits the subtree of x. Test files are free, as long
// as Go accepts them: the arrows say what a package needs to be understood and built.
var arrows = map[string][]string{
	"topology":          {},
	"sim/quota":         {},
	"internal/rng":      {},
	"internal/stats":    {"internal/rng"},
	"internal/columnar": {},
	"internal/suggest":  {},
	"internal/archtest": {},
	"internal/staging":  {},

	"workloads":    {"topology", "internal/rng", "internal/stats"},
	"traces":       {"workloads", "topology", "sim/quota", "internal/columnar", "internal/suggest"},
	"sim/capacity": {"topology", "sim/devices"},
	"sim/ledger":   {},
	"sim/order":    {},
	"sim/devices":  {},
	"sim":          {"topology", "workloads", "internal/rng"},
	"policies":     {"sim", "topology", "workloads", "internal/rng"},
	"report":       {"sim", "internal/stats", "internal/columnar", "internal/staging"},

	"internal/scenario":      everythingBelowCmd,
	"internal/study":         everythingBelowCmd,
	"internal/clusterimport": everythingBelowCmd,
	"internal/plots":         {"report", "internal/study", "sim", "internal/stats", "internal/columnar", "internal/suggest", "internal/staging"},
	"internal/fragmentation": {"topology", "traces", "policies/stage", "sim/devices", "internal/rng"},
	"internal/record":        everythingBelowCmd,
	"internal/verify":        append([]string{"internal/fragmentation", "internal/study", "internal/record"}, everythingBelowCmd...),
	"cmd":                    append([]string{"internal/study", "internal/verify", "internal/record", "internal/fragmentation", "internal/plots", "internal/clusterimport"}, everythingBelowCmd...),
}

// everythingBelowCmd is what the packages that put runs together may use: study and verify
// build on scenario. The testdata package embeds the files that the commands ship.
var everythingBelowCmd = []string{
	"internal/scenario", "topology", "workloads", "traces", "sim", "policies", "report",
	"internal/rng", "internal/stats", "internal/columnar", "internal/suggest", "internal/staging", "testdata",
}

// A library is a third-party module prefix and the only packages that may import it, so
// that its successor is a change in one place.
type library struct {
	prefix   string
	users    []string // packages of the project, with their subtrees; none: tests only
	anyTests bool     // test files of any package may import it
}

// libraries is the closed list: an import of anything else fails. Adding a line here goes
// with a sentence of why in ARCHITECTURE.md.
var libraries = []library{
	{prefix: "github.com/apache/arrow", users: []string{"internal/columnar"}},
	{prefix: "gonum.org/v1/plot", users: []string{"report/figure"}},
	{prefix: "codeberg.org/go-pdf/fpdf", users: []string{"report/figure"}},
	{prefix: "golang.org/x/image", users: []string{"report/figure"}},
	{prefix: "gonum.org/v1/gonum", users: []string{"internal/stats", "report"}, anyTests: true},
	{prefix: "gopkg.in/yaml.v3", users: []string{"internal/scenario", "traces/kube"}, anyTests: true},
	{prefix: "github.com/spf13/cobra", users: []string{"cmd"}},
	{prefix: "github.com/spf13/pflag", users: []string{"cmd"}},
	{prefix: "github.com/olekukonko/tablewriter", users: []string{"report"}},

	{prefix: "github.com/cockroachdb/datadriven", anyTests: true},
	{prefix: "github.com/google/go-cmp", anyTests: true},
	{prefix: "github.com/rogpeppe/go-internal", anyTests: true},
	{prefix: "pgregory.net/rapid", anyTests: true},
	{prefix: "k8s.io/apimachinery/pkg/api/resource", users: []string{"traces/kube"}},
	{prefix: "k8s.io/api", anyTests: true},
	{prefix: "sigs.k8s.io/yaml", anyTests: true},
	{prefix: "golang.org/x/perf", anyTests: true},
}

// pureRoots are sim and everything below it: pure functions of their input, which never
// reach for the machine they run on.
var pureRoots = []string{"sim", "topology", "workloads", "internal/rng", "internal/stats"}

// impureImports must not appear in pureRoots, with the reason.
var impureImports = map[string]string{
	"os":            "the core reads no machine",
	"io":            "the core reads and writes nothing",
	"bufio":         "the core reads and writes nothing",
	"log":           "the core returns rows; the command prints",
	"net":           "the core reads no machine",
	"path/filepath": "the core knows no files",
	"encoding":      "formats belong to traces and report",
	"time":          "virtual time is int64 nanoseconds; a clock has no place here",
	"reflect":       "slow, and order-dependent over maps",
}

// fmtFiles are the files of sim that may import fmt, each with the reason. All others are
// taken to be hot: formatting allocates. An entry that is not needed any more fails.
var fmtFiles = map[string]string{
	"sim/shared.go":  "errors about pods and nodes that cannot share GPUs; before the clock starts, as build.go",
	"sim/flavors.go": "errors about flavors that quota is given for; before the clock starts, as build.go",
	"sim/build.go":   "errors about a scenario that cannot be built; runs once, before the clock starts",
}

// fmtRoots is where fmt needs a line in fmtFiles.
var fmtRoots = []string{"sim"}

// detRoots are the packages that must do the same thing in every run.
var detRoots = []string{"sim", "policies", "topology", "workloads"}

// detImports must not appear in detRoots, with the reason.
var detImports = map[string]string{
	"sync":         "parallelism is across runs only",
	"math/rand":    "draws come from internal/rng, by purpose and stable id",
	"crypto/rand":  "draws come from internal/rng, by purpose and stable id",
	"hash/maphash": "its seed differs in every process",
	"os":           "a policy that reads its machine differs between machines",
	"net":          "a policy that reads its machine differs between machines",
}

// detCalls are functions that must not be used in detRoots, with the reason. Methods are
// written type.Method.
var detCalls = map[string]string{
	"time.Now":               wallClock,
	"time.Since":             wallClock,
	"time.Until":             wallClock,
	"time.Sleep":             wallClock,
	"time.After":             wallClock,
	"time.AfterFunc":         wallClock,
	"time.Tick":              wallClock,
	"time.NewTimer":          wallClock,
	"time.NewTicker":         wallClock,
	"sort.Slice":             unstable,
	"sort.Sort":              unstable,
	"slices.SortFunc":        unstable,
	"slices.SortedFunc":      unstable,
	"reflect.Value.MapKeys":  mapOrder,
	"reflect.Value.MapRange": mapOrder,
	"maps.Keys":              mapOrder,
	"maps.Values":            mapOrder,
	"maps.All":               mapOrder,
	"runtime.NumCPU":         oneMachine,
	"runtime.GOMAXPROCS":     oneMachine,
}

const (
	wallClock  = "wall-clock time; the engine passes virtual time"
	unstable   = "unstable; use slices.SortStableFunc with an index as the last key"
	mapOrder   = "map order differs between runs; slices.Sorted(maps.Keys(m)) is fine"
	oneMachine = "differs between machines"
)

// Limits on non-test code that is not generated.
const (
	maxFuncLines = 60
	maxFileLines = 600
)

// foreignWords do not belong in the project: they name the machine or the service that
// somebody happened to work with. They are put together here so that this file is clean.
var foreignWords = []string{
	"/wo" + "rk/",
	"/fa" + "rm/",
	"farm-" + "bench",
	"farm-" + "studio",
	".lib" + "rary",
	"sub" + "agent",
	"proxy." + "golang",
	"registry." + "npmjs",
	"deb." + "debian",
}
