package traces

import (
	"bufio"
	"encoding/csv"
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
// order of workloads.Sort and the reader finds their models by name. A column that no job
// uses is left out, except for the first four. A job that CSV cannot express, such as one
// with several PodSets, is an error that names it; then part of the file is written.
func WriteCSV(w io.Writer, jobs []workloads.Job) error {
	columns, err := usedColumns(jobs)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	record := make([]string, len(columns))
	for i, slot := range columns {
		record[i] = slotNames[slot]
	}
	out.Write(record) // errors stay with out until Error
	for i := range jobs {
		texts, err := csvTexts(&jobs[i])
		if err != nil {
			return err
		}
		for k, slot := range columns {
			record[k] = texts[slot]
		}
		out.Write(record)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}

// usedColumns returns the slots that are needed to write the jobs.
func usedColumns(jobs []job) ([]int, error) {
	used := make([]bool, len(slotNames))
	for _, name := range []string{"id", "row", "submit_seconds", "duration_seconds"} {
		used[slots[name]] = true
	}
	for i := range jobs {
		texts, err := csvTexts(&jobs[i])
		if err != nil {
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

// csvTexts returns the cells of a job by slot, which say everything of it.
func csvTexts(j *job) ([]string, error) {
	if len(j.PodSets) > 1 {
		return nil, unwritable(j, "a row of CSV holds one PodSet: write JSONL")
	}
	texts := written(j)
	if len(j.PodSets) == 1 {
		writePods(texts, &j.PodSets[0])
	}
	for slot, s := range texts {
		if s != strings.TrimSpace(s) {
			return nil, unwritable(j, slotNames[slot]+": CSV cannot keep the blanks around "+quote(s))
		}
	}
	return texts, checkReadBack(j, texts)
}
