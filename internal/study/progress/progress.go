// Package progress shows on a terminal how far long work has come. It is silent anywhere
// else: logs and pipes get results, not bars.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Bar is one line that is written over again. A nil Bar shows nothing.
type Bar struct {
	mu     sync.Mutex
	out    io.Writer
	what   string
	start  time.Time
	shown  time.Time
	width  int // of the line that stands
	reused int
	now    func() time.Time
}

// New returns a bar for some work, "runs" for instance, or nil unless the writer is a
// terminal.
func New(out io.Writer, what string) *Bar {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return newBar(out, what, time.Now)
}

func newBar(out io.Writer, what string, now func() time.Time) *Bar {
	return &Bar{out: out, what: what, start: now(), now: now}
}

// often is how often the line changes.
const often = 100 * time.Millisecond

// Set says that some of all is done, of which some was there before and took no time.
func (b *Bar) Set(done, all, reused int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.now()
	if done < all && t.Sub(b.shown) < often {
		return
	}
	b.shown, b.reused = t, reused
	b.show(b.line(done, all, t.Sub(b.start)))
}

// barWidth is the width of the bar itself.
const barWidth = 24

func (b *Bar) line(done, all int, spent time.Duration) string {
	full := barWidth
	if all > 0 {
		full = barWidth * done / all
	}
	line := fmt.Sprintf("%s%s %d of %d %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), done, all, b.what)
	if b.reused > 0 {
		line += fmt.Sprintf(", %d reused", b.reused)
	}
	if made := done - b.reused; made > 0 && done < all {
		left := time.Duration(float64(spent) / float64(made) * float64(all-done))
		line += ", " + short(left) + " left"
	}
	return line
}

// short writes a duration with as much of it as anybody wants to know.
func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", (d+time.Second-1)/time.Second)
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// show writes a line over the one that stands.
func (b *Bar) show(line string) {
	width := len([]rune(line))
	fmt.Fprintf(b.out, "\r%s%s", line, strings.Repeat(" ", max(0, b.width-width)))
	b.width = width
}

// Clear takes the line away, so that results can follow.
func (b *Bar) Clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(b.out, "\r%s\r", strings.Repeat(" ", b.width))
	b.width = 0
}
