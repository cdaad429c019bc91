package traces

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

// The tests here change a trace in ways that must not change its jobs.

// cells splits a CSV without quotes.
func cells(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), ","))
	}
	return all
}

func join(table [][]string) string {
	var b strings.Builder
	for _, row := range table {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String()
}

func TestOrderOfColumnsDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range []string{"testdata/small.csv", "testdata/shapes.csv", "testdata/philly.csv"} {
		table := cells(t, path)
		want := mustRead(t, join(table), "").Jobs
		for range 20 {
			i, k := r.IntN(len(table[0])), r.IntN(len(table[0]))
			for _, row := range table {
				row[i], row[k] = row[k], row[i]
			}
			if got := mustRead(t, join(table), "").Jobs; !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: other jobs with the columns %v", path, table[0])
			}
		}
	}
}

func TestOrderOfRowsDoesNotMatterWhereRowsAreNumbered(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	table := cells(t, "testdata/small.csv")
	want := mustRead(t, join(table), "").Jobs
	table[0] = append(table[0], "row")
	for i := range table[1:] {
		table[i+1] = append(table[i+1], fmt.Sprint(i+1))
	}
	for range 20 {
		rows := table[1:]
		r.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		if got := mustRead(t, join(table), "").Jobs; !reflect.DeepEqual(got, want) {
			t.Fatalf("other jobs with the rows\n%s", join(table))
		}
	}
}

func TestSlicesKeepTheIdentityOfJobs(t *testing.T) {
	all := mustOpen(t, "testdata/small.csv").Jobs
	var b strings.Builder
	if err := WriteCSV(&b, all[1:3]); err != nil {
		t.Fatal(err)
	}
	for i, j := range mustRead(t, b.String(), "").Jobs {
		if want := all[i+1]; j.StableID() != want.StableID() {
			t.Errorf("%s has another identity in the slice", j.ID)
		}
	}
}

func TestConvertingBetweenFormatsKeepsJobs(t *testing.T) {
	for _, path := range []string{"testdata/small.csv", "testdata/shapes.csv", "testdata/philly.csv"} {
		jobs := mustOpen(t, path).Jobs
		checkRoundTrip(t, jobs, WriteCSV, "csv")
		checkRoundTrip(t, jobs, WriteJSONL, "jsonl")
	}
	checkRoundTrip(t, mustOpen(t, "testdata/podsets.jsonl").Jobs, WriteJSONL, "jsonl")
}

func TestShapedJobsKeepTheirTotalAndShape(t *testing.T) {
	jobs := mustOpen(t, "testdata/small.csv").Jobs
	for i := range jobs {
		if jobs[i].PodSets != nil {
			t.Fatal("some jobs had a shape already")
		}
		jobs[i].PodSets = workloads.Shape(jobs[i].GPUs, 8, workloads.PerGPU())
	}
	checkRoundTrip(t, jobs, WriteCSV, "csv")
	checkRoundTrip(t, jobs, WriteJSONL, "jsonl")
}

func TestPhillyStartsWithItsEarliestRow(t *testing.T) {
	text := func(day string) string {
		return phillyHeader + day + " 10:00:00,1,1,1,vc\n" + day + " 09:59:59,1,1,1,vc\n"
	}
	want := mustRead(t, text("2017-09-04"), "").Jobs
	for _, day := range []string{"1970-01-02", "2017-12-31", "2020-02-29", "2069-06-01"} {
		if got := mustRead(t, text(day), "").Jobs; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other jobs than on another day", day)
		}
	}
}

// TestLocalTimeAgainstTheLibrary reads every quarter of an hour of a year with two changes
// of clocks and compares with Go's own reading where that is unambiguous.
func TestLocalTimeAgainstTheLibrary(t *testing.T) {
	zone, err := time.LoadLocation(phillyZone)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for at := time.Date(2017, 1, 1, 8, 0, 0, 0, time.UTC); at.Year() == 2017; at = at.Add(15 * time.Minute) {
		wall := at.In(zone).Format(time.DateTime)
		got, err := localTime(wall, zone)
		if err != nil {
			t.Fatal(err)
		}
		if time.Unix(got, 0).In(zone).Format(time.DateTime) != wall || got > at.Unix() {
			t.Fatalf("%s was read as %s", wall, time.Unix(got, 0).UTC())
		}
		if repeated := at.Unix() - got; repeated != 0 && repeated != 3600 || repeated == 0 && got <= last {
			t.Fatalf("%s was read %d s off", wall, repeated)
		}
		last = at.Unix()
	}
}
