package study

import (
	"fmt"
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
)

// autoMost is how many transitions of a run are kept without being asked for: 128 MiB of
// memory while it runs, and some 25 MB of its run directory.
const autoMost = 4 << 20

// Keepings are the words of Keep.
func Keepings() []string { return []string{"auto", "always", "never"} }

// Keep returns the options of runs that are to be saved: whether their transitions are kept,
// always, never, or unless there are so many that nobody expects what they take.
func Keep(word string) (Options, error) {
	switch word {
	case "auto":
		return Options{Record: true, RecordMost: autoMost}, nil
	case "always":
		return Options{Record: true}, nil
	case "never":
		return Options{}, nil
	}
	return Options{}, fmt.Errorf("expected one of %s, not %q%s", strings.Join(Keepings(), ", "), word, suggest.Hint(word, Keepings()))
}
