package traces

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/gangplan/gangplan/workloads"
)

// The csv format has a header and one job a row, with the columns of fields.go in any
// order. An empty cell is a field that is not given. Blanks around values do not count.

func looksLikeCSV(head []byte) bool { return headerHas(head, "submit_seconds") }

// readCSV reads gangplan's own CSV.
func readCSV(src *source, o Options) ([]job, error) {
	t, err := newCSVTable(src, slotNames)
	if err != nil {
		return nil, err
	}
	columns, err := bind(t)
	if err != nil {
		return nil, err
	}
	c := newContext(o)
	var jobs []job
	for {
		record, err := t.next()
		if err != nil || record == nil {
			return jobs, err
		}
		j, err := readRow(c, record, columns, int64(len(jobs))+1)
		if err != nil {
			return nil, t.place(err)
		}
		jobs = append(jobs, j)
	}
}

// bind returns the slot of each column, and an error if none of the ways to say how many
// GPUs a job asks for is there.
func bind(t *csvTable) ([]int, error) {
	required := []string{"id", "submit_seconds", "duration_seconds", "gpus"}
	if t.column("pods") >= 0 && t.column("gpus_per_pod") >= 0 {
		required = required[:3]
	}
	if err := t.requireColumns(required...); err != nil {
		return nil, err
	}
	columns := make([]int, len(t.header))
	for i, name := range t.header {
		columns[i] = slots[name]
	}
	return columns, nil
}

// readRow makes a job of a record.
func readRow(c *context, record []string, columns []int, row int64) (job, error) {
	d := newDraft(row)
	for i, s := range record {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if err := d.put(c, columns[i], s); err != nil {
			return job{}, err
		}
	}
	return d.finish()
}

// WriteCSV writes jobs so that reading them back gives equal jobs, if they are in the
// order of workloads.Sort and the reader finds their models by name. Optional columns that
// no job uses are left out. A job that CSV cannot express, such as one with several
// PodSets, is an error that names it, and nothing is written.
func WriteCSV(w io.Writer, jobs []workloads.Job) error {
	columns, err := usedColumns(jobs)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i, slot := range columns {
		record[i] = slotNames[slot]
	}
	out.Write(record) // an error stays with out until the end
	for i := range jobs {
		texts := csvTexts(&jobs[i])
		for k, slot := range columns {
			record[k] = texts[slot]
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// usedColumns returns the slots that are needed to write the jobs, or an error if one of
// them cannot be written.
func usedColumns(jobs []job) ([]int, error) {
	used := make([]bool, len(slotNames))
	for _, name := range []string{"id", "row", "submit_seconds", "duration_seconds"} {
		used[slots[name]] = true
	}
	for i := range jobs {
		texts := csvTexts(&jobs[i])
		if err := checkCSV(&jobs[i], texts); err != nil {
			return nil, err
		}
		for slot, s := range texts {
			used[slot] = used[slot] || s != ""
		}
	}
	var columns []int
	for slot, is := range used {
		if is {
			columns = append(columns, slot)
		}
	}
	return columns, nil
}

// csvTexts returns the cells of a job by slot.
func csvTexts(j *job) []string {
	texts := written(j)
	if len(j.PodSets) > 0 {
		writePods(texts, &j.PodSets[0])
	}
	return texts
}

// checkCSV returns an error unless the cells say everything of the job.
func checkCSV(j *job, texts []string) error {
	if len(j.PodSets) > 1 {
		return unwritable(j, fmt.Sprintf("a row of CSV holds one PodSet, the job has %d: write jsonl", len(j.PodSets)))
	}
	for slot, s := range texts {
		if s != strings.TrimSpace(s) {
			return unwritable(j, slotNames[slot]+": CSV cannot keep the blanks around "+quote(s))
		}
	}
	return checkReadBack(j, texts)
}
