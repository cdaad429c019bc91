package sim

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// oracle is the contract's digest with the standard library's FNV-1a.
func oracle(ts []Transition) Digest {
	h := fnv.New64a()
	for _, t := range ts {
		for _, w := range []int64{t.Time, int64(t.Kind), int64(t.Job), int64(t.Rank), int64(t.Place), int64(t.Count)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(w)))
		}
	}
	return Digest(h.Sum64())
}

func digest(ts []Transition) Digest {
	d := NewDigest
	for _, t := range ts {
		d = d.Add(t)
	}
	return d
}

func TestDigestAgainstTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var ts []Transition
	for range 500 {
		ts = append(ts, Transition{Time: int64(r.Uint64()), Kind: TransitionKind(r.UintN(12)), Job: int32(r.Uint32()),
			Rank: r.Int32N(9) - 1, Place: r.Int32N(9) - 1, Count: r.Int32()})
		if got, want := digest(ts), oracle(ts); got != want {
			t.Fatalf("%d transitions: %016x, want %016x", len(ts), uint64(got), uint64(want))
		}
	}
}

// These values never change: results made by earlier versions are compared with them.
func TestDigestGolden(t *testing.T) {
	ts := []Transition{
		{0, Submit, 0, -1, 0, 8, 0},
		{0, Admit, 0, -1, 0, 8, 0},
		{1_500_000_000, Bind, 0, 7, 3, 1, 0},
		{math.MaxInt64, Verdict, math.MaxInt32, -1, -1, int32(NeverFits), 0},
	}
	golden := []Digest{0xcbf29ce484222325, 0x89ae2523cf3781b4, 0xfa71f633db279766, 0x89f47abedd2f7c4a, 0x188765ee3ec9b2b1}
	for n, want := range golden {
		if got := digest(ts[:n]); got != want {
			t.Errorf("%d transitions: %016x, want %016x", n, uint64(got), uint64(want))
		}
	}
}

func TestDigestSeesEveryFieldAndTheOrder(t *testing.T) {
	a := Transition{1, Submit, 2, 3, 4, 5, 0}
	variants := []Transition{a, a, a, a, a, a}
	variants[0].Time++
	variants[1].Kind++
	variants[2].Job++
	variants[3].Rank++
	variants[4].Place++
	variants[5].Count++
	for i, v := range variants {
		if digest([]Transition{v}) == digest([]Transition{a}) {
			t.Errorf("field %d does not show", i)
		}
		if digest([]Transition{a, v}) == digest([]Transition{v, a}) {
			t.Errorf("the order of two that differ in field %d does not show", i)
		}
	}
}

// The numbers of the contract, which stand in every digest.
func TestNumbersOfTheContract(t *testing.T) {
	for want, k := range []TransitionKind{Submit, Admit, Bind, Ready, Barrier, Evict, Requeue, Deactivate, Finish, Fail, Verdict} {
		if int(k) != want+1 {
			t.Errorf("%v is %d, want %d", k, k, want+1)
		}
	}
	names := []string{"submit", "admit", "bind", "ready", "barrier", "evict", "requeue", "deactivate", "finish", "fail", "verdict"}
	for i, want := range names {
		if got := TransitionKind(i + 1).String(); got != want {
			t.Errorf("transition %d is called %q, want %q", i+1, got, want)
		}
	}
	for i, want := range []string{"deadlock", "livelock", "starvation", "never_fits"} {
		if got := VerdictKind(i + 1).String(); got != want {
			t.Errorf("verdict %d is called %q, want %q", i+1, got, want)
		}
	}
	for i, want := range []string{"pods_ready", "preempted", "node", "failure", "deadline", "notice", "deactivated"} {
		if got := Cause(i).String(); got != want || int(NumCauses) != 7 {
			t.Errorf("cause %d is called %q, want %q", i, got, want)
		}
	}
	if TransitionKind(99).String() != "unknown" {
		t.Error("a number out of range has a name")
	}
}

// Kueue's requeuing backoff: base doubled with every timeout, never above the maximum.
// spec: base x 2^(n-1), at most max.
func TestPodsReadyBackoff(t *testing.T) {
	p := PodsReady{BackoffBase: 60 * second, BackoffMax: 3600 * second}
	for n, want := range []int64{60, 120, 240, 480, 960, 1920, 3600, 3600} {
		if got := p.backoff(int32(n + 1)); got != want*second {
			t.Errorf("after timeout %d: %d ns, want %d s", n+1, got, want)
		}
	}
	if got := p.backoff(math.MaxInt32); got != 3600*second {
		t.Errorf("after very many: %d", got)
	}
	small := PodsReady{BackoffBase: 60 * second, BackoffMax: 30 * second}
	if got := small.backoff(1); got != 30*second {
		t.Errorf("a base above the maximum: %d", got)
	}
	large := PodsReady{BackoffBase: 1, BackoffMax: math.MaxInt64}
	if got := large.backoff(1000); got <= 0 {
		t.Errorf("a huge maximum overflows: %d", got)
	}
	var none PodsReady
	if none.backoff(1) != 0 || none.backoff(math.MaxInt32) != 0 {
		t.Error("no base, but a wait")
	}
}

const second = int64(1e9)
