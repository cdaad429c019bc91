package verify

import (
	"fmt"
	"slices"

	"github.com/gangplan/gangplan/testdata"
	"github.com/gangplan/gangplan/topology/fabric"
)

var collectives = Suite{
	Name: "collectives",
	Doc:  "all-reduces on fabrics of one to three dimensions, recorded from ASTRA-sim; equal to the nanosecond",
	Run:  runCollectives,
}

// astraGB is the gigabyte of the recordings per nanosecond: 2^30 bytes a second.
const astraGB = 1.073741824

// infiniteMemory is the bandwidth, in GB/s, from which on memory was made to cost nothing.
const infiniteMemory = 1e9

type astraCase struct {
	Case         string    `json:"case"`
	Backend      string    `json:"backend"`
	Collective   string    `json:"collective"`
	Topologies   []string  `json:"topology_per_dim"`
	Ranks        []int64   `json:"npus_per_dim"`
	Bandwidth    []float64 `json:"bandwidth_GiBps_per_dim"`
	Latency      []float64 `json:"link_latency_ns_per_dim"`
	Algorithms   []string  `json:"algorithm_per_dim"`
	Bytes        int64     `json:"size_bytes"`
	Optimization string    `json:"collective_optimization"`
	Endpoint     int64     `json:"endpoint_delay_ns"`
	Chunks       int64     `json:"preferred_dataset_splits"`
	Memory       float64   `json:"local_mem_bw_GBps"`
	Nanos        int64     `json:"time_ns"`
	Caveat       string    `json:"caveat"`
	OracleOK     bool      `json:"oracle_ok"`
}

func runCollectives(o Options) ([]Outcome, error) {
	var out []Outcome
	err := eachLine(o.Cases, testdata.Astra, func(line []byte) error {
		var c astraCase
		if err := readCase(line, &c); err != nil {
			return err
		}
		n := len(c.Ranks)
		if n == 0 || len(c.Topologies) != n || len(c.Bandwidth) != n || len(c.Latency) != n || len(c.Algorithms) != n {
			return fmt.Errorf("expected lists of one length, one entry per dimension")
		}
		out = append(out, c.outcome())
		return nil
	})
	return out, err
}

func (c *astraCase) outcome() Outcome {
	o := Outcome{ID: c.Case, Verdict: Equal}
	got, err := c.model()
	switch {
	case err != nil:
		o.Verdict, o.Reason = Skipped, err.Error()
	case got != c.Nanos:
		o.Verdict, o.Reason, o.Want, o.Got = Outside, fmt.Sprintf("%d ns instead of %d", got, c.Nanos), c.Nanos, got
		o.Error = float64(got)/float64(c.Nanos) - 1
	}
	return o
}

// model is the closed form that matches the case.
func (c *astraCase) model() (int64, error) {
	if !c.OracleOK {
		if c.Caveat == "" {
			return 0, cannot("the recording is marked as no oracle")
		}
		return 0, cannot("the recording is marked as no oracle: %s", c.Caveat)
	}
	op := slices.Index(fabric.Collectives, c.Collective)
	if op < 0 {
		return 0, cannot("the collective %s has no recorded form", c.Collective)
	}
	if c.Memory > 0 && c.Memory < infiniteMemory {
		return 0, cannot("memory of %v GB/s is part of the time", c.Memory)
	}
	dims, err := c.dims()
	if err != nil {
		return 0, err
	}
	var t int64
	var ok bool
	switch {
	case c.Chunks > 1 && len(dims) == 1 && fabric.Collective(op) == fabric.AllReduce:
		t, ok = dims[0].Pipelined(c.Bytes, c.Endpoint, c.Chunks)
	case c.Chunks <= 1:
		schedule := fabric.Nested
		if c.Optimization == "baseline" {
			schedule = fabric.PerDim
		}
		t, ok = fabric.MultiDim(fabric.Collective(op), dims, c.Bytes, c.Endpoint, schedule)
	}
	if !ok {
		return 0, cannot("no closed form for %v in %d chunks", c.Algorithms, c.Chunks)
	}
	return t, nil
}

func (c *astraCase) dims() ([]fabric.Dim, error) {
	names := []string{"ring", "halvingDoubling", "direct"}
	algorithms := []fabric.Algorithm{fabric.Ring, fabric.HalvingDoubling, fabric.Direct}
	dims := make([]fabric.Dim, len(c.Ranks))
	for i := range dims {
		k := slices.Index(names, c.Algorithms[i])
		if k < 0 || c.Ranks[i] < 1 || c.Bandwidth[i] <= 0 {
			return nil, cannot("no closed form for %s among %d ranks", c.Algorithms[i], c.Ranks[i])
		}
		hops := int64(1)
		if c.Topologies[i] == "Switch" {
			hops = 2
		}
		dims[i] = fabric.Dim{Ranks: c.Ranks[i], Rate: c.Bandwidth[i] * astraGB, Latency: c.Latency[i], Hops: hops,
			StoreForward: c.Backend == "congestion_aware", Algorithm: algorithms[k]}
	}
	return dims, nil
}
