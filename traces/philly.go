package traces

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the zone of Philly, wherever gangplan runs

	"github.com/gangplan/gangplan/workloads"
)

// The philly format is the CSV into which the Pollux and Sia authors put Microsoft's
// Philly trace: "timestamp,duration,num_gpus,gpu_time,cluster". Rows are not sorted, and
// equal rows are kept: nothing tells a duplicate from a twin.

// phillyZone is where the cluster stood: timestamps are its wall clock, without an offset.
const phillyZone = "America/Los_Angeles"

// Years outside these are mistakes; within them no two jobs are workloads.MaxTime apart.
const (
	phillyFirstYear = 1970
	phillyLastYear  = 2069
)

// phillyRequired are the columns that are read. gpu_time repeats duration x num_gpus.
var (
	phillyRequired = []string{"timestamp", "duration", "num_gpus", "cluster"}
	phillyColumns  = append(phillyRequired, "gpu_time")
)

func looksLikePhilly(head []byte) bool { return headerHas(head, phillyRequired...) }

// readPhilly reads the CSV of the Philly trace. Submissions count from the earliest row.
// Each job is "philly-" and its row, its tenant is the virtual cluster, and it has a total
// of GPUs but no shape.
func readPhilly(src *source, o Options) ([]job, error) {
	zone := o.Location
	if zone == nil {
		var err error
		if zone, err = time.LoadLocation(phillyZone); err != nil {
			return nil, err
		}
	}
	t, err := newCSVTable(src, phillyColumns)
	if err != nil {
		return nil, err
	}
	if err := t.requireColumns(phillyRequired...); err != nil {
		return nil, err
	}
	c, columns := newContext(o), phillyPositions(t)
	var jobs []job
	for {
		record, err := t.next()
		if err != nil || record == nil {
			return fromEarliest(jobs), err
		}
		j, err := phillyRow(c, zone, record, columns, int64(len(jobs))+1)
		if err != nil {
			return nil, t.place(err)
		}
		jobs = append(jobs, j)
	}
}

// phillyPositions returns the positions of phillyRequired.
func phillyPositions(t *csvTable) [4]int {
	var at [4]int
	for i, name := range phillyRequired {
		at[i] = t.column(name)
	}
	return at
}

// phillyRow makes a job of a record. Its Submit is in seconds since 1970 until all rows
// are known. The error is a *fieldError.
func phillyRow(c *context, zone *time.Location, record []string, columns [4]int, row int64) (job, error) {
	j := workloads.NewJob(fmt.Sprintf("philly-%d", row), row)
	var n int64
	for i, parse := range [...]func(s string) error{
		func(s string) (err error) { j.Submit, err = localTime(s, zone); return err },
		func(s string) (err error) { j.Duration, err = seconds.parse(s); return err },
		func(s string) (err error) { n, err = gpus.parse(s); return err },
		func(s string) (err error) { j.Tenant, err = c.name(s); return err },
	} {
		if err := parse(strings.TrimSpace(record[columns[i]])); err != nil {
			return job{}, &fieldError{phillyRequired[i], err.Error()}
		}
	}
	j.GPUs = int32(n)
	return j, nil
}

// fromEarliest turns submissions in seconds since 1970 into ns since the earliest.
func fromEarliest(jobs []job) []job {
	if len(jobs) == 0 {
		return nil
	}
	earliest := jobs[0].Submit
	for i := range jobs {
		earliest = min(earliest, jobs[i].Submit)
	}
	for i := range jobs {
		jobs[i].Submit = (jobs[i].Submit - earliest) * int64(time.Second)
	}
	return jobs
}

// localTime reads a wall-clock time of a zone as seconds since 1970. Of an hour that a
// change of the clocks repeats it takes the first; an hour that is left out is an error.
func localTime(s string, zone *time.Location) (int64, error) {
	wall, err := time.Parse(time.DateTime, s)
	if err != nil || len(s) != len(time.DateTime) {
		return 0, fmt.Errorf("%s is not a time: expected one such as 2017-10-09 07:01:55", quote(s))
	}
	if y := wall.Year(); y < phillyFirstYear || y > phillyLastYear {
		return 0, fmt.Errorf("%s: expected a year from %d to %d", s, phillyFirstYear, phillyLastYear)
	}
	naive := wall.Unix()
	const day = 24 * 3600
	before, after := offset(naive-day, zone), offset(naive+day, zone)
	first := naive - max(before, after)
	for _, t := range [...]int64{first, naive - min(before, after)} {
		if t+offset(t, zone) == naive {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%s does not exist in %s: the clocks were put forward over it", s, zone)
}

// offset returns by how many seconds the clocks of a zone are ahead of UTC at a time.
func offset(t int64, zone *time.Location) int64 {
	_, seconds := time.Unix(t, 0).In(zone).Zone()
	return int64(seconds)
}
