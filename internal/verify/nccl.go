package verify

import (
	"fmt"
	"math"
	"strings"

	"github.com/gangplan/gangplan/testdata"
	"github.com/gangplan/gangplan/topology/fabric"
)

var nccl = Suite{
	Name: "nccl",
	Doc:  "published all-reduce measurements against the shipped profiles: 5 % (15 % for one untuned cluster), 16 MiB and more",
	Run:  runNCCL,
}

// The tolerances that the model claims, and the smallest size it claims anything for.
const (
	busTolerance     = 0.05
	untunedTolerance = 0.15
	sweepTolerance   = 0.05
	smallestJudged   = 16 << 20
)

// measurement is one line: a sweep over sizes, or one point as a bus bandwidth or a time.
type measurement struct {
	Name   string `json:"name"`
	Ranks  int64  `json:"n"`
	Nodes  int    `json:"nodes"`
	M      int    `json:"m"`
	Points []struct {
		Bytes  int64   `json:"size_bytes"`
		Micros float64 `json:"time_us"`
	} `json:"points"`
	BusBW   float64 `json:"busbw_GBps"`
	Seconds float64 `json:"time_s"`
	Bytes   float64 `json:"size"`
	Source  string  `json:"source"`
	Src     string  `json:"src"`
}

func runNCCL(o Options) ([]Outcome, error) {
	rows, err := compareNCCL(o)
	out := make([]Outcome, len(rows))
	for i := range rows {
		out[i] = rows[i].outcome()
	}
	return out, err
}

// compared is a measurement beside the model. Points are above smallestJudged, but for a
// row that has none.
type compared struct {
	measurement
	profile   string
	fitted    bool // a constant of the profile was fitted on it
	tolerance float64
	points    []comparedPoint
	skip      string
}

type comparedPoint struct {
	bytes              int64
	measured, modelled float64 // ns
	level              string
}

func compareNCCL(o Options) ([]compared, error) {
	var rows []compared
	err := eachLine(o.Cases, testdata.NCCL, func(line []byte) error {
		row := compared{}
		if err := readCase(line, &row.measurement); err != nil {
			return err
		}
		row.Nodes = max(row.Nodes, row.M)
		if row.Name == "" || row.Nodes < 1 || row.Ranks < int64(row.Nodes) || row.Ranks%int64(row.Nodes) != 0 {
			return fmt.Errorf("expected a name, nodes, and ranks that divide among them")
		}
		if err := row.compare(); err != nil {
			row.skip = err.Error()
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// compare finds the profile of the platform and puts the model beside every point.
func (c *compared) compare() error {
	p, err := c.platform()
	if err != nil {
		return err
	}
	c.profile = p.Name
	c.fitted = fittedOn(c.Name)
	c.tolerance = busTolerance
	switch {
	case strings.Contains(c.Name, "Voltage"):
		c.tolerance = untunedTolerance
	case len(c.Points) > 0:
		c.tolerance = sweepTolerance
	}
	nodes := c.Nodes
	if gpus := int(c.Ranks) / nodes; gpus == p.DomainGPUs { // of NVLink domains, if these are no hosts
		nodes *= max(1, p.DomainHosts)
	}
	f, pods, err := fabric.Alone(p, nodes, int(c.Ranks)/nodes)
	if err != nil {
		return cannot("%v", err)
	}
	s := fabric.NewScratch(f)
	for _, point := range c.measured() {
		if point.bytes < smallestJudged {
			continue
		}
		cost := f.AllReduce(s, pods, point.bytes)
		point.modelled, point.level = float64(cost.Nanos), f.LevelName(cost.Level)
		c.points = append(c.points, point)
	}
	if len(c.points) == 0 {
		return cannot("smaller than 16 MiB: the model claims nothing there")
	}
	return nil
}

// measured lists the points of a row in ns.
func (c *compared) measured() []comparedPoint {
	if len(c.Points) == 0 {
		t := c.Seconds * 1e9
		if c.BusBW > 0 {
			t = c.Bytes * fabric.BusFactor(fabric.AllReduce, c.Ranks) / c.BusBW
		}
		return []comparedPoint{{bytes: int64(c.Bytes), measured: t}}
	}
	var points []comparedPoint
	for _, p := range c.Points {
		points = append(points, comparedPoint{bytes: p.Bytes, measured: p.Micros * 1000})
	}
	return points
}

// platforms lead from what the name of a measurement says to a profile. The first whose
// words are all there counts.
var platforms = []struct {
	words   []string
	profile string
}{
	{[]string{"a3-mega"}, "a3-mega"}, {[]string{"a3mega"}, "a3-mega"},
	{[]string{"nvl72"}, "gb200-nvl72"}, {[]string{"gb200"}, "gb200-nvl72"},
	{[]string{"b300"}, "b300-800g"}, {[]string{"b200"}, "b200-400g"},
	{[]string{"h100", "efa"}, "h100-efa"}, {[]string{"h200", "efa"}, "h100-efa"},
	{[]string{"h100"}, "h100-ndr"}, {[]string{"h200"}, "h100-ndr"},
	{[]string{"p4d"}, "aws-p4d"}, {[]string{"a100", "efa"}, "aws-p4d"}, {[]string{"a100"}, "a100-hdr"},
}

// platform is the shipped profile of a measurement. A host that is not the profile's, by
// its GPUs or its NICs, is another platform.
func (c *compared) platform() (fabric.Profile, error) {
	name := strings.ToLower(c.Name)
	for _, candidate := range platforms {
		all := true
		for _, w := range candidate.words {
			all = all && strings.Contains(name, w)
		}
		if !all {
			continue
		}
		p, _ := fabric.Lookup(candidate.profile)
		if strings.Contains(name, "nvls disabled") {
			p = p.WithoutNVLS()
		}
		gpus := int(c.Ranks) / c.Nodes
		if gpus != p.DomainGPUs && gpus != p.HostGPUs() {
			return p, cannot("hosts of %d GPUs: no shipped profile is of this platform", gpus)
		}
		return p, nil
	}
	return fabric.Profile{}, cannot("no shipped profile is of this platform")
}

// calibration lists the beginnings of the names of measurements that constants of the
// profiles were fitted on.
var calibration = []string{
	"8xA100", "8xH200", "8xH100 (1 node)", "8xB200", "2x8 H200", "4x8 H200", "4x8 B200", "2x8 H100 A3-Mega",
}

func fittedOn(name string) bool {
	for _, c := range calibration {
		if strings.HasPrefix(name, c) {
			return true
		}
	}
	return false
}

// err is the relative error of the bus bandwidth of a point.
func (p *comparedPoint) err() float64 { return p.measured/p.modelled - 1 }

// worst is the error that is judged: of a sweep the geometric mean of the factor between
// model and measurement, less 1; of a point its bus bandwidth's.
func (c *compared) judged() float64 {
	if len(c.Points) == 0 {
		return c.points[0].err()
	}
	sum := 0.0
	for i := range c.points {
		sum += math.Abs(math.Log(c.points[i].modelled / c.points[i].measured))
	}
	return math.Exp(sum/float64(len(c.points))) - 1
}

func (c *compared) outcome() Outcome {
	o := Outcome{ID: c.Name, Verdict: Within}
	if c.skip != "" {
		o.Verdict, o.Reason = Skipped, c.skip
		return o
	}
	o.Error = c.judged()
	o.Reason = fmt.Sprintf("%s, %+.1f %%", c.profile, 100*o.Error)
	if c.fitted {
		o.Reason += ", calibration"
	}
	if !(math.Abs(o.Error) <= c.tolerance) {
		o.Verdict = Outside
		o.Want, o.Got = c.points[0].measured/1e9, c.points[0].modelled/1e9
	}
	return o
}
