package check

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/sim"
)

// drawTransitions draws what no run would do, so that nothing is as expected.
func drawTransitions(t *rapid.T) sim.Transitions {
	small := rapid.OneOf(rapid.Int32Range(-1, 5), rapid.Int32())
	var ts sim.Transitions
	at := int64(0)
	for range rapid.IntRange(0, 40).Draw(t, "n") {
		at += rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1<<50)).Draw(t, "dt")
		ts = append(ts, sim.Transition{Time: at, Kind: sim.TransitionKind(rapid.IntRange(1, 11).Draw(t, "kind")), Job: small.Draw(t, "job"),
			Rank: small.Draw(t, "rank"), Place: small.Draw(t, "place"), Count: small.Draw(t, "count"), Why: sim.Why(rapid.Byte().Draw(t, "why"))})
	}
	return ts
}

// What is packed is unpacked, whatever it is; twice the same is packed into the same bytes.
func TestPackedTapesAreUnpacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tapes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tape {
			return tape{rapid.String().Draw(t, "label"), rapid.Uint64().Draw(t, "seed"), drawTransitions(t)}
		}), 0, 3).Draw(t, "tapes")
		file := packTapes(tapes)
		got, err := unpackTapes(file)
		if err != nil || len(got) != len(tapes) {
			t.Fatalf("%d tapes of %d, %v", len(got), len(tapes), err)
		}
		for i := range got {
			same := len(got[i].transitions) == len(tapes[i].transitions)
			for k := range got[i].transitions {
				same = same && got[i].transitions[k] == tapes[i].transitions[k]
			}
			if !same || got[i].label != tapes[i].label || got[i].seed != tapes[i].seed || got[i].digest() != tapes[i].digest() {
				t.Fatalf("%+v was packed, %+v unpacked", tapes[i], got[i])
			}
		}
		if !bytes.Equal(packTapes(got), file) {
			t.Fatal("packed twice, two files")
		}
	})
}

// The ends of what the fields can be.
func TestExtremeTransitions(t *testing.T) {
	ts := sim.Transitions{
		{Time: 0, Kind: 255, Job: math.MinInt32, Rank: math.MaxInt32, Place: math.MinInt32, Count: math.MaxInt32, Why: 255},
		{Time: math.MaxInt64, Kind: sim.Bind, Job: math.MaxInt32, Rank: math.MinInt32, Place: math.MaxInt32, Count: math.MinInt32},
	}
	got, err := unpackTapes(packTapes([]tape{{"x", math.MaxUint64, ts}}))
	if err != nil || !reflect.DeepEqual(got[0].transitions, ts) || got[0].seed != math.MaxUint64 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A damaged file is an error and never a panic, wherever it is damaged or cut; most damage
// is found by the checksum of gzip, so that what is inside is damaged as well.
func TestDamagedTapes(t *testing.T) {
	file := packTapes([]tape{{"gang", 1, drawTransitionsOnce(t)}})
	for n := range file {
		if _, err := unpackTapes(file[:n]); err == nil {
			t.Errorf("%d of %d bytes are enough", n, len(file))
		}
	}
	if _, err := unpackTapes([]byte("transitions: []\n")); err != errDamaged {
		t.Errorf("a file of something else: %v", err)
	}
	inside := unzip(t, file)
	for i := range inside {
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			damaged := bytes.Clone(inside)
			damaged[i] = b
			if got, err := unpackTapes(zip(damaged)); err == nil && len(got) > 1<<20 {
				t.Errorf("byte %d as %d: %d tapes", i, b, len(got))
			}
		}
		if _, err := unpackTapes(zip(inside[:i])); err == nil {
			t.Errorf("%d of %d bytes are enough", i, len(inside))
		}
	}
	foreign := bytes.Clone(inside)
	foreign[len(recordMagic)-2] = '2'
	if _, err := unpackTapes(zip(foreign)); err != errForeign {
		t.Errorf("the next format: %v", err)
	}
}

func FuzzTapes(f *testing.F) {
	f.Add([]byte(recordMagic))
	f.Add([]byte(recordMagic + "\x01\x01a\x01\x01\x01\x01\x01\x01\x00\x01\x00\x01\x00\x01\x00\x01\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, inside []byte) {
		tapes, err := unpackTapes(zip(inside))
		if err != nil {
			return
		}
		again, err := unpackTapes(packTapes(tapes))
		if err != nil || !reflect.DeepEqual(again, tapes) {
			t.Errorf("%v, %+v became %+v", err, tapes, again)
		}
	})
}
