package traces

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gangplan/gangplan/workloads"
)

const phillyHeader = "timestamp,duration,num_gpus,gpu_time,cluster\n"

func TestPhilly(t *testing.T) {
	tr := mustOpen(t, "testdata/philly.csv")
	if got := ids(tr.Jobs); got != "philly-2 philly-4 philly-3 philly-1" {
		t.Fatalf("order %s, want by time, and equal rows kept in order", got)
	}
	want := workloads.Job{ID: "philly-3", Row: 3, Submit: 3600e9, Duration: 10_500_000_000, GPUs: 2,
		Tenant: "aaaaaa", Startup: workloads.StartupFromTiming}
	if got := tr.Jobs[2]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("job\n got %+v\nwant %+v", got, want)
	}
	// The clocks went back at 02:00: between 00:30 and 03:00 lie three and a half hours.
	if got := tr.Jobs[3].Submit; got != int64(3*time.Hour+30*time.Minute) {
		t.Errorf("the last job was submitted after %v", time.Duration(got))
	}
	if len(tr.Warnings) != 1 || !strings.HasPrefix(tr.Warnings[0], "3 of 4 rows come after a row submitted later, by up to 3h30m0s") {
		t.Errorf("warnings %q", tr.Warnings)
	}
}

func TestPhillyColumnsInAnyOrderAndWithoutGPUTime(t *testing.T) {
	tr := mustRead(t, "cluster,num_gpus,timestamp,duration\r\nvc, 4 ,2017-10-09 07:01:55,66\r\n\r\n", "")
	if j := tr.Jobs[0]; j.Tenant != "vc" || j.GPUs != 4 || j.Duration != 66e9 || j.Submit != 0 {
		t.Errorf("got %+v", j)
	}
}

func TestLocalTimeWhereClocksChange(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	pacific, sydney := zone("America/Los_Angeles"), zone("Australia/Sydney")
	for _, c := range []struct {
		zone      *time.Location
		wall, utc string
	}{
		{pacific, "2017-10-09 07:01:55", "2017-10-09T14:01:55Z"},
		{pacific, "2017-11-05 00:59:59", "2017-11-05T07:59:59Z"},
		{pacific, "2017-11-05 01:00:00", "2017-11-05T08:00:00Z"}, // comes twice: the first
		{pacific, "2017-11-05 01:59:59", "2017-11-05T08:59:59Z"}, // likewise
		{pacific, "2017-11-05 02:00:00", "2017-11-05T10:00:00Z"},
		{pacific, "2017-03-12 01:59:59", "2017-03-12T09:59:59Z"},
		{pacific, "2017-03-12 03:00:00", "2017-03-12T10:00:00Z"},
		{sydney, "2017-04-02 02:30:00", "2017-04-01T15:30:00Z"}, // comes twice: the first
		{time.UTC, "2017-11-05 01:30:00", "2017-11-05T01:30:00Z"},
	} {
		got, err := localTime(c.wall, c.zone)
		if err != nil || time.Unix(got, 0).UTC().Format(time.RFC3339) != c.utc {
			t.Errorf("%s in %s = %v, %v, want %s", c.wall, c.zone, time.Unix(got, 0).UTC(), err, c.utc)
		}
	}
	for _, wall := range []string{"2017-03-12 02:00:00", "2017-03-12 02:59:59"} {
		if _, err := localTime(wall, pacific); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: error %v", wall, err)
		}
	}
}

func TestPhillyZoneIsAnOption(t *testing.T) {
	tr, err := Open("testdata/philly.csv", "", Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Jobs[3].Submit; got != int64(2*time.Hour+30*time.Minute) {
		t.Errorf("without a change of clocks the last job was submitted after %v, want 2h30m", time.Duration(got))
	}
}

func TestPhillyErrors(t *testing.T) {
	good := "2017-10-09 07:01:55,66.0,1,66.0,vc\n"
	for _, c := range []struct{ text, want string }{
		{"timestamp,duration,gpus\n", "t:1:20: gpus: unknown column: expected some of timestamp, duration, num_gpus, cluster, gpu_time"},
		{"timestamp,duration,num_gpu,cluster\n", "t:1:20: num_gpu: unknown column (did you mean num_gpus?)"},
		{"timestamp,duration,num_gpus\n", "t:1:1: cluster: missing column: the header has timestamp, duration, num_gpus"},
		{"timestamp,duration,num_gpus,cluster,duration\n", "t:1:37: duration: the column is there twice"},
		{phillyHeader + good + "2017-10-09 07:01:55,66.0,1\n", "t:3:1: 3 fields: expected 5 as in the header"},
		{phillyHeader + good + "2017-10-09 07:01:55,-66.0,1,66.0,vc\n", "t:3:21: duration: -66.0 is negative: expected 0 or more seconds"},
		{phillyHeader + good + "2017-10-09 07:01:55,nan,1,66.0,vc\n", `t:3:21: duration: "nan" is not a number: expected seconds as digits, such as 0.5`},
		{phillyHeader + good + "2017-10-09 07:01:55,66.0,-1,66.0,vc\n", "t:3:26: num_gpus: -1 is negative: expected 0 or more GPUs"},
		{phillyHeader + good + "2017-10-09 07:01:55,66.0,99999999,66.0,vc\n", `t:3:26: num_gpus: "99999999" is too large: expected at most 1000000 GPUs`},
		{phillyHeader + "None,66.0,1,66.0,vc\n", `t:2:1: timestamp: "None" is not a time: expected one such as 2017-10-09 07:01:55`},
		{phillyHeader + "2017-02-29 07:01:55,66.0,1,66.0,vc\n", `t:2:1: timestamp: "2017-02-29 07:01:55" is not a time: expected one such as 2017-10-09 07:01:55`},
		{phillyHeader + "2017-10-09 07:01:55.5,66.0,1,66.0,vc\n", `t:2:1: timestamp: "2017-10-09 07:01:55.5" is not a time: expected one such as 2017-10-09 07:01:55`},
		{phillyHeader + "1917-10-09 07:01:55,66.0,1,66.0,vc\n", "t:2:1: timestamp: 1917-10-09 07:01:55: expected a year from 1970 to 2069"},
		{phillyHeader + "2017-03-12 02:30:00,66.0,1,66.0,vc\n", "t:2:1: timestamp: 2017-03-12 02:30:00 does not exist in America/Los_Angeles: the clocks were put forward over it"},
		{phillyHeader + "2017-10-09 07:01:55,66.0,1,66.0,\"v\nc\"\n", `t:2:33: cluster: "v\nc" has a control character: expected one line of text`},
	} {
		wantError(t, c.text, "philly", c.want)
	}
}

// TestPhillyRealData reads the published file, which gangplan does not ship.
func TestPhillyRealData(t *testing.T) {
	shared := os.Getenv("GANGPLAN_SHARED")
	if shared == "" {
		t.Skip("set GANGPLAN_SHARED to the folder that has traces/philly-derived/philly_jobs_pollux_sia.csv.gz to read the real trace")
	}
	tr := mustOpen(t, filepath.Join(shared, "traces", "philly-derived", "philly_jobs_pollux_sia.csv.gz"))
	if len(tr.Jobs) != 82_247 {
		t.Errorf("%d jobs, want 82247", len(tr.Jobs))
	}
	bySize, tenants, work := map[int32]int{}, map[string]int{}, int64(0)
	for i := range tr.Jobs {
		j := &tr.Jobs[i]
		bySize[j.GPUs]++
		tenants[j.Tenant]++
		work += j.Duration / 1e9 * int64(j.GPUs)
	}
	for gpus, want := range map[int32]int{16: 199, 32: 67, 12: 7, 24: 7, 64: 6, 128: 3} {
		if bySize[gpus] != want {
			t.Errorf("%d jobs of %d GPUs, want %d", bySize[gpus], gpus, want)
		}
	}
	for gpus, want := range map[int32]float64{1: 93.17, 4: 2.27, 2: 2.21, 8: 2.00} {
		if got := 100 * float64(bySize[gpus]) / float64(len(tr.Jobs)); math.Abs(got-want) > 0.005 {
			t.Errorf("%.3f %% of jobs of %d GPUs, want %.2f", got, gpus, want)
		}
	}
	if len(tenants) != 15 || tenants["6214e9"] != 41_226 || tenants["795a4c"] != 3 {
		t.Errorf("tenants %v", tenants)
	}
	if got := math.Round(float64(work) / 3600); got != 978_078 {
		t.Errorf("%.0f GPU-hours, want 978078", got)
	}
	// 2017-09-04 10:30:41 to 2017-12-22 08:02:11, with one hour more than the clocks show.
	span := time.Duration(tr.Jobs[len(tr.Jobs)-1].Submit)
	if want := time.Date(2017, 12, 22, 9, 2, 11, 0, time.UTC).Sub(time.Date(2017, 9, 4, 10, 30, 41, 0, time.UTC)); span != want {
		t.Errorf("span %v, want %v", span, want)
	}
	if len(tr.Warnings) != 1 || !strings.Contains(tr.Warnings[0], "by up to 106 days") {
		t.Errorf("warnings %q", tr.Warnings)
	}
}

// phillyText is a made-up file of n rows.
func phillyText(n int) string {
	var b strings.Builder
	b.WriteString(phillyHeader)
	start := time.Date(2017, 9, 4, 10, 30, 41, 0, time.UTC)
	for i := range n {
		at := start.Add(time.Duration(i*7919%n) * 100 * time.Second)
		fmt.Fprintf(&b, "%s,%d.0,%d,%d.0,vc%04d\n", at.Format(time.DateTime), i%5000, 1+i%8, i, i%15)
	}
	return b.String()
}

func BenchmarkPhilly(b *testing.B) {
	text := phillyText(82_247)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if got := len(mustRead(b, text, "").Jobs); got != 82_247 {
			b.Fatal(got)
		}
	}
}

func FuzzPhilly(f *testing.F) {
	f.Add([]byte(phillyText(5)))
	f.Add([]byte(phillyHeader + "2017-11-05 01:30:00,1.5,8,12,\"a,b\"\r\n\r\n"))
	f.Add([]byte(phillyHeader + "2017-03-12 02:30:00,NaN,-1\n"))
	f.Add([]byte("\ufefftimestamp,cluster\n\x00"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { checkInput(t, data, "philly") })
}

// checkInput reads arbitrary bytes: jobs that can be simulated come out, sorted, or an
// error with a line.
func checkInput(t *testing.T, data []byte, format string) *Trace {
	tr, err := Read(strings.NewReader(string(data)), "t", format, Options{})
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Line < 1 || e.Msg == "" {
			t.Fatalf("error %v (%T): want one with a line", err, err)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Fatalf("error %q: want one line", err)
		}
		return nil
	}
	for i := range tr.Jobs {
		if err := workloads.Validate(&tr.Jobs[i]); err != nil {
			t.Fatalf("job %d: %v", i, err)
		}
		if i > 0 && tr.Jobs[i].Submit < tr.Jobs[i-1].Submit {
			t.Fatalf("job %d is out of order", i)
		}
	}
	return tr
}
