package study

import (
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
)

// Extended is a run with its books kept on to an end that all compared runs share. The
// result itself is as it was.
type Extended struct {
	Result *sim.Result
	Books  *report.Books
}

// Extend brings runs to the latest end among them: what stands in an account at a run's
// own end goes on standing there. A deadlocked run goes on holding its GPUs, a finished
// one has no demand. Verdicts, digest and everything that is not GPU-time stay those of
// the own end.
//
// It panics if a run that would have to be extended is still running jobs: runs that are
// compared share their `until`.
func Extend(results []*sim.Result) []Extended {
	latest := int64(0)
	for _, r := range results {
		latest = max(latest, r.End)
	}
	out := make([]Extended, len(results))
	for i, r := range results {
		out[i] = Extended{r, report.OwnBooks(r)}
		out[i].Books.KeepOn(latest)
	}
	return out
}
