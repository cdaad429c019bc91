package check

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/gangplan/gangplan/sim"
)

// recordMagic begins every file of transitions. The number is that of the format.
const recordMagic = "gangplan transitions 1\n"

// maxRecord bounds the size of a file of transitions, unpacked.
const maxRecord = 1 << 28

// errForeign is a file of transitions in a format of another version.
var errForeign = errors.New("written by another version of gangplan")

// errDamaged is a file of transitions that is none, or not whole.
var errDamaged = errors.New("damaged")

// tape is what one run did.
type tape struct {
	label       string
	seed        uint64
	transitions sim.Transitions
}

func (t *tape) digest() sim.Digest {
	d := sim.NewDigest
	for _, x := range t.transitions {
		d = d.Add(x)
	}
	return d
}

// packTapes writes runs as one compressed file: a column per field, each value as its
// difference from what the transitions before it, and the runs before this one, let one
// expect. That is one to two bytes for a transition.
func packTapes(tapes []tape) []byte {
	w := &packer{unit: timeUnit(tapes)}
	w.raw(recordMagic)
	w.number(uint64(w.unit))
	w.number(uint64(len(tapes)))
	known := map[int32]plan{}
	for i := range tapes {
		w.text(tapes[i].label)
		w.number(tapes[i].seed)
		w.transitions(tapes[i].transitions, newModel(known))
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(w.b)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		panic("check: " + err.Error()) // the level is one, and memory takes everything
	}
	return out.Bytes()
}

// unpackTapes is the inverse. The error is errForeign or errDamaged.
func unpackTapes(file []byte) ([]tape, error) {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, errDamaged
	}
	b, err := io.ReadAll(io.LimitReader(z, maxRecord+1))
	if err != nil || len(b) > maxRecord {
		return nil, errDamaged
	}
	r := &unpacker{b: b}
	if magic := r.raw(len(recordMagic)); string(magic) != recordMagic {
		if bytes.HasPrefix(magic, []byte(recordMagic[:len(recordMagic)-2])) {
			return nil, errForeign
		}
		return nil, errDamaged
	}
	r.unit = int64(r.number())
	tapes := make([]tape, r.count())
	known := map[int32]plan{}
	for i := range tapes {
		tapes[i] = tape{r.text(), r.number(), r.transitions(newModel(known))}
	}
	if r.bad || len(r.b) > 0 {
		return nil, errDamaged
	}
	return tapes, nil
}

// columns are the fields of transitions, in the order they are read back: what is expected
// of one may depend on those before it.
const (
	colKind = iota
	colJob
	colTime
	colRank
	colPlace
	colCount
	colWhy
	numColumns
)

// packer appends to a file.
type packer struct {
	b    []byte
	unit int64 // all times are multiples of it
}

func (w *packer) raw(s string)    { w.b = append(w.b, s...) }
func (w *packer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *packer) text(s string)   { w.number(uint64(len(s))); w.raw(s) }

func (w *packer) transitions(ts sim.Transitions, m *model) {
	var columns [numColumns][]byte
	put := func(column int, difference int64) { columns[column] = binary.AppendVarint(columns[column], difference) }
	for _, t := range ts {
		columns[colKind] = append(columns[colKind], byte(t.Kind))
		columns[colWhy] = append(columns[colWhy], byte(t.Why))
		put(colJob, int64(t.Job)-int64(m.job(t.Kind)))
		put(colTime, t.Time/w.unit-m.time(t.Kind, t.Job)/w.unit)
		put(colRank, int64(t.Rank)-int64(m.rank(t.Kind, t.Job)))
		put(colPlace, int64(t.Place)-int64(m.place(t.Kind, t.Job, t.Rank)))
		put(colCount, int64(t.Count)-int64(m.count(t.Job, t.Rank)))
		m.learn(t)
	}
	w.number(uint64(len(ts)))
	for i := range columns {
		w.text(string(columns[i]))
	}
}

// timeUnit is the largest time of which all are multiples.
func timeUnit(tapes []tape) int64 {
	unit := int64(0)
	for i := range tapes {
		for _, t := range tapes[i].transitions {
			for a := t.Time; a != 0; {
				unit, a = a, unit%a
			}
		}
	}
	return max(1, unit)
}

// unpacker reads a file. After bad everything it reads is empty.
type unpacker struct {
	b    []byte
	bad  bool
	unit int64
}

func (r *unpacker) fail() { r.bad, r.b = true, nil }

func (r *unpacker) raw(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *unpacker) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads a number of things that each take a byte or more.
func (r *unpacker) count() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *unpacker) text() string { return string(r.raw(r.count())) }

// difference reads a signed number and adds what was expected.
func (r *unpacker) difference(expected int32) int32 {
	d, size := binary.Varint(r.b)
	v := d + int64(expected)
	if size <= 0 || v != int64(int32(v)) {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return int32(v)
}

// time reads the difference from a time that was expected, in units.
func (r *unpacker) time(expected, unit int64) int64 {
	d, size := binary.Varint(r.b)
	n := expected/max(1, unit) + d // cannot overflow, or is negative
	if size <= 0 || n < 0 || unit < 1 || n > math.MaxInt64/unit {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n * unit
}

func (r *unpacker) transitions(m *model) sim.Transitions {
	n := r.count()
	var columns [numColumns]unpacker
	for i := range columns {
		columns[i].b = r.raw(r.count())
	}
	if len(columns[colKind].b) != n || len(columns[colWhy].b) != n {
		r.fail()
		return nil
	}
	ts := make(sim.Transitions, n)
	for i := range ts {
		ts[i] = m.read(&columns, r.unit)
		m.learn(ts[i])
	}
	for i := range columns {
		if columns[i].bad || len(columns[i].b) > 0 {
			r.fail()
		}
	}
	return ts
}

// read reads the next transition.
func (m *model) read(columns *[numColumns]unpacker, unit int64) (t sim.Transition) {
	t.Kind = sim.TransitionKind(columns[colKind].raw(1)[0])
	t.Why = sim.Why(columns[colWhy].raw(1)[0])
	t.Job = columns[colJob].difference(m.job(t.Kind))
	t.Time = columns[colTime].time(m.time(t.Kind, t.Job), unit)
	t.Rank = columns[colRank].difference(m.rank(t.Kind, t.Job))
	t.Place = columns[colPlace].difference(m.place(t.Kind, t.Job, t.Rank))
	t.Count = columns[colCount].difference(m.count(t.Job, t.Rank))
	return t
}

// model expects the fields of a transition from those before it. It decides only how small
// a file is; a wrong expectation costs a byte.
type model struct {
	last      sim.Transition
	submitted int32           // the last job submitted
	bound     int32           // the node of the last bind
	queue     map[int32]int32 // of each job
	pods      map[int32]int32 // of each job
	node      map[pod]int32   // where each pod was bound last
	started   map[int32]int64 // when the barrier of each job last held
	known     map[int32]plan  // from the runs before
}

type pod struct{ job, rank int32 }

// plan is what the runs of a job have in common, as a rule: when it is submitted, and for
// how long it runs.
type plan struct{ submit, run int64 }

func newModel(known map[int32]plan) *model {
	return &model{submitted: -1, queue: map[int32]int32{}, pods: map[int32]int32{}, node: map[pod]int32{}, started: map[int32]int64{}, known: known}
}

// time is never negative.
func (m *model) time(k sim.TransitionKind, job int32) int64 {
	p := m.known[job]
	switch at := m.started[job]; {
	case k == sim.Submit:
		return max(m.last.Time, p.submit)
	case k == sim.Finish && at <= math.MaxInt64-p.run:
		return max(m.last.Time, at+p.run)
	}
	return m.last.Time
}

func (m *model) job(k sim.TransitionKind) int32 {
	if k == sim.Submit {
		return m.submitted + 1
	}
	return m.last.Job
}

func (m *model) rank(k sim.TransitionKind, job int32) int32 {
	switch {
	case k != sim.Bind && k != sim.Ready:
		return -1
	case m.last.Kind == k && m.last.Job == job:
		return m.last.Rank + 1
	}
	return 0
}

func (m *model) place(k sim.TransitionKind, job, rank int32) int32 {
	switch {
	case k == sim.Bind:
		return m.bound
	case rank >= 0:
		return m.node[pod{job, rank}]
	case k == sim.Submit || k == sim.Admit || k == sim.Requeue:
		return m.queue[job]
	}
	return -1
}

func (m *model) count(job, rank int32) int32 {
	if rank >= 0 {
		return 1
	}
	return m.pods[job]
}

func (m *model) learn(t sim.Transition) {
	m.last = t
	switch p := m.known[t.Job]; t.Kind {
	case sim.Submit:
		m.submitted = t.Job
		m.queue[t.Job], m.pods[t.Job] = t.Place, t.Count
		m.known[t.Job] = plan{t.Time, p.run}
	case sim.Barrier:
		m.started[t.Job] = t.Time
	case sim.Finish:
		m.known[t.Job] = plan{p.submit, t.Time - m.started[t.Job]}
	case sim.Bind:
		m.bound = t.Place
		m.node[pod{t.Job, t.Rank}] = t.Place
	}
}

// findTape returns the tape of a run that has the digest.
func findTape(tapes []tape, label string, seed uint64, digest string) (*tape, error) {
	for i := range tapes {
		if t := &tapes[i]; t.label == label && t.seed == seed {
			if hexDigest(t.digest()) != digest {
				return nil, errors.New("of other runs than the baseline")
			}
			return t, nil
		}
	}
	return nil, errors.New("without some of the runs of the baseline")
}
