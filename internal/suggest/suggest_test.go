package suggest

import (
	"strings"
	"testing"
)

var columns = []string{"id", "submit_seconds", "duration_seconds", "gpus", "gpus_per_pod", "queue", "tenant", "priority"}

func TestClosest(t *testing.T) {
	for _, c := range []struct{ got, want, why string }{
		{"gpu", "gpus", "a letter missing"},
		{"gpuss", "gpus", "a letter too many"},
		{"qeueu", "queue", "two letters changed"},
		{"pirority", "priority", "two letters swapped"},
		{"ID", "id", "case does not count"},
		{"Tenant", "tenant", "case does not count"},
		{"submit", "submit_seconds", "the beginning of a word"},
		{"priority_class", "priority", "a word and more"},
		{"gpus_per", "gpus_per_pod", "the longest shared beginning wins"},
		{"xy", "", "two changes turn any short word into any other"},
		{"runtime", "", "nothing near"},
		{"", "", "nothing given"},
		{"du", "", "too short a beginning to mean anything"},
	} {
		got, ok := Closest(c.got, columns)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Closest(%q) = %q, %v, want %q: %s", c.got, got, ok, c.want, c.why)
		}
	}
}

func TestClosestPrefersFewerTyposThenTheEarlier(t *testing.T) {
	if got, _ := Closest("cat", []string{"cart", "bat", "cat"}); got != "cat" {
		t.Errorf("got %q, want the word itself", got)
	}
	if got, _ := Closest("cat", []string{"bat", "hat"}); got != "bat" {
		t.Errorf("got %q, want the earlier of two equally near words", got)
	}
}

func TestClosestCountsLettersNotBytes(t *testing.T) {
	if got, _ := Closest("größe", []string{"grösse"}); got != "grösse" {
		t.Errorf("got %q, want the word two letters away", got)
	}
}

func TestHint(t *testing.T) {
	if got := Hint("gpu", columns); got != " (did you mean gpus?)" {
		t.Errorf("got %q", got)
	}
	if got := Hint("runtime", columns); got != "" {
		t.Errorf("got %q, want nothing where no word is near", got)
	}
}

func TestDistanceAgainstTheTextbookRecursion(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		switch {
		case a == "" || b == "":
			return len(a) + len(b)
		case a[0] == b[0]:
			return naive(a[1:], b[1:])
		}
		return 1 + min(naive(a[1:], b), naive(a, b[1:]), naive(a[1:], b[1:]))
	}
	words := strings.Fields("a ab ba abc acb cab rack rcak block blok zone host hots")
	for _, a := range words {
		for _, b := range words {
			if got, want := distance(a, b, 100), naive(a, b); got != want {
				t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}
