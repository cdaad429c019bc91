package verify

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/internal/record"
)

// The tolerance of times: what was recorded from least to most, widened by a part of the
// time and by a step of the slowest watch.
const (
	timePart  = 0.1
	timeSlack = 0.25 // s
)

// compareTimes compares the times of a job, each occurrence with that of the repetitions.
func (c *timelineCase) compareTimes(j *record.Job) *difference {
	recorded, ok := c.Timings[j.Name]
	if !ok {
		return nil
	}
	for _, of := range timesByField(j) {
		if recorded[of.field] == nil && !c.complete() {
			continue
		}
		if of.field == firstBound && len(of.times) == 0 {
			continue // that nothing was bound is said by the outcome
		}
		if d := compareTimesOf(j.Name+"."+of.field, recorded[of.field], of.times); d != nil {
			return d
		}
	}
	return nil
}

const firstBound = "first_bound_s"

type fieldTimes struct {
	field string
	times []int64
}

// timesByField are the times of a job under the names of the recorded cases.
func timesByField(j *record.Job) []fieldTimes {
	var created, admitted, evicted, bound []int64
	if j.WorkloadCreated != record.Never {
		created = []int64{j.WorkloadCreated}
	}
	for _, a := range j.Admissions {
		admitted = append(admitted, a.At)
	}
	for _, e := range j.Evictions {
		evicted = append(evicted, e.At)
	}
	if len(j.Bound) > 0 {
		bound = []int64{j.Bound[0].At}
	}
	return []fieldTimes{{"workload_created_s", created}, {"admitted_s", admitted}, {"unsuspended_s", j.Unsuspended}, {firstBound, bound},
		{"all_ready_s", j.AllReady}, {"barrier_lost_s", j.BarrierLost}, {"evicted_s", evicted}, {"suspended_s", j.Suspended},
		{"admission_cleared_s", j.Cleared}, {"deactivated_s", j.Deactivated}, {"run_complete_s", j.RunComplete},
		{"job_complete_s", j.JobComplete}, {"finished_s", j.Finished}}
}

// compareTimesOf compares the occurrences of something. Where their number varied, as a
// mapping says, only that is compared.
func compareTimesOf(what string, recorded any, times []int64) *difference {
	differs := func(format string, args ...any) *difference {
		return &difference{what + ": " + fmt.Sprintf(format, args...), recorded, inSeconds(times)}
	}
	if lengths, ok := recorded.(map[string]any); ok {
		list, _ := lengths["lengths"].([]any)
		for _, n := range list {
			if number(n) == float64(len(times)) {
				return nil
			}
		}
		return differs("want %v times, got %d", list, len(times))
	}
	ranges := rangesOf(recorded)
	if len(ranges) != len(times) {
		return differs("want %d times, got %d", len(ranges), len(times))
	}
	for i, r := range ranges {
		low, high := float64(r[0]*(1-timePart))-timeSlack, float64(r[1]*(1+timePart))+timeSlack
		if at := sec(times[i]); at < low || at > high {
			return differs("want %.2f to %.2f s, got %.2f", low, high, at)
		}
	}
	return nil
}

// distance is how far a time lies outside of what was recorded.
type distance struct {
	seconds float64
	early   bool
	what    string
}

// String writes it in tenths of a second.
func (d distance) String() string {
	if d.what == "" {
		return "inside"
	}
	if d.early {
		return fmt.Sprintf("%s %.1f s early", d.what, d.seconds)
	}
	return fmt.Sprintf("%s %.1f s late", d.what, d.seconds)
}

// note keeps the farthest time of the runs that fit. Less than a twentieth of a second is
// inside: the recorder's watches were not closer to each other.
func (c *timelineCase) note(r *record.Record) {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		for _, of := range timesByField(j) {
			for k, within := range rangesOf(c.Timings[j.Name][of.field]) {
				if k >= len(of.times) {
					break
				}
				at := sec(of.times[k])
				if far := max(within[0]-at, at-within[1]); far >= 0.05 && far > c.farthest.seconds {
					c.farthest = distance{far, at < within[0], j.Name + "." + strings.TrimSuffix(of.field, "_s")}
				}
			}
		}
	}
}

func inSeconds(times []int64) (list []float64) {
	for _, t := range times {
		list = append(list, sec(t))
	}
	return list
}

// rangesOf reads the least and the most of each occurrence: a list of least, median and most,
// or of a single occurrence the least and the most alone.
func rangesOf(recorded any) (ranges [][2]float64) {
	list, _ := recorded.([]any)
	if len(list) == 2 {
		if _, ok := list[0].(float64); ok {
			return [][2]float64{{number(list[0]), number(list[1])}}
		}
	}
	for _, of := range list {
		if r, _ := of.([]any); len(r) > 0 {
			ranges = append(ranges, [2]float64{number(r[0]), number(r[len(r)-1])})
		}
	}
	return ranges
}
