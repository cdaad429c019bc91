package report

import (
	"io"
	"strings"
)

// Text writes a value of the metric for people: times as durations, amounts with their unit
// behind them. A value that is not there is "never" where it could be a time or a slowdown
// of a job that never got there.
func (m *Metric) Text(v float64, ok bool) string {
	switch {
	case !ok && m.mayNever():
		return "never"
	case !ok:
		return nothing
	case m.Unit == "s":
		return Span(v)
	case m.Unit == "GPU-hours", m.Unit == "GPUs":
		return grouped(v, 1) + " " + m.Unit
	}
	return raw(v)
}

// mayNever reports whether null says that a job never got there, not that there is nothing
// to take a statistic of.
func (m *Metric) mayNever() bool {
	return m.Unit == "s" || strings.HasPrefix(m.Name, "bounded_slowdown")
}

// WriteJSON writes v indented, as all JSON of gangplan is.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v) }
