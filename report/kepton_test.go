package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gangplan/gangplan/sim/ledger"
)

// stored writes the summary of a run and reads it back.
func stored(t interface{ Fatal(...any) }, s *Summary) *Summary {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := &Summary{}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A stored run is kept on to the very numbers of the run itself, every metric of the
// registry included.
func TestKeptOnIsMeasuredLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawResult(t)
		r.ReservedRate = rapid.Int64Range(0, 64_000).Draw(t, "quota taken")
		r.AtRisk = ledger.Uint128{Hi: rapid.Uint64Range(0, 1<<20).Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
		b := OwnBooks(r)
		end := r.End
		if r.Books.Rates(0)[ledger.Running] == 0 {
			end += rapid.Int64Range(0, 1<<50).Draw(t, "later")
		}
		b.KeepOn(end)
		got, err := stored(t, newSummary("gang", r)).KeptOn(end)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Measure(r, b), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestKeptOnRefuses(t *testing.T) {
	for _, c := range []struct {
		spoil func(s *Summary)
		end   int64
		want  string
	}{
		{func(s *Summary) { s.AtRisk = "-1" }, 2, "expected a whole number"},
		{func(s *Summary) { s.Reserved = "1e9" }, 2, "expected a whole number"},
		{func(s *Summary) { s.Models[0].Accounts[3].Sum = strings.Repeat("9", 40) }, 2, "expected a whole number"},
		{func(s *Summary) { s.Models[0].Accounts = s.Models[0].Accounts[1:] }, 2, "accounts, expected"},
		{func(s *Summary) { s.Models[0].Accounts[0].Account = "idle" }, 2, "account idle in the place of"},
		{func(s *Summary) { s.Models[0].Running = 8000 }, 2, "still running"},
		{func(s *Summary) {}, -1, "after the"},
	} {
		r := handmade(0, 8)
		s := stored(t, newSummary("gang", r))
		c.spoil(s)
		if _, err := s.KeptOn(r.End + c.end); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
	}
}
