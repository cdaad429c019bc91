// Package suggest finds the word somebody probably meant.
package suggest

import (
	"fmt"
	"strings"
)

// maxTypos is the most single-letter changes between a word and its suggestion. In words
// of up to shortWord letters only one: two changes make any of them into any other.
const (
	maxTypos  = 2
	shortWord = 3
)

// Closest returns the known word nearest to got: the one with the fewest typos, else one
// that got begins or that begins got. Case does not count, and the earlier of two equally
// near words wins. It reports false if no word is near.
func Closest(got string, known []string) (string, bool) {
	best, typos := "", allowed(got)+1
	for _, k := range known {
		if d := distance(strings.ToLower(got), strings.ToLower(k), typos); d < typos {
			best, typos = k, d
		}
	}
	if best != "" {
		return best, true
	}
	return longestPrefix(got, known)
}

// Hint returns " (did you mean WORD?)", ready to end an error with, or nothing.
func Hint(got string, known []string) string {
	if word, ok := Closest(got, known); ok {
		return fmt.Sprintf(" (did you mean %s?)", word)
	}
	return ""
}

// allowed is the number of typos tolerated in a word.
func allowed(word string) int {
	if len([]rune(word)) <= shortWord {
		return 1
	}
	return maxTypos
}

// longestPrefix returns the first known word that shares the most letters with got, among
// those where the shorter of the two is a prefix of the other and not very short.
func longestPrefix(got string, known []string) (string, bool) {
	best, length := "", shortWord-1
	for _, k := range known {
		short, long := strings.ToLower(got), strings.ToLower(k)
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) > length && strings.HasPrefix(long, short) {
			best, length = k, len(short)
		}
	}
	return best, best != ""
}

// distance is the Levenshtein distance of a and b in letters, or limit if it is not less.
func distance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if len(s)-len(t) >= limit || len(t)-len(s) >= limit {
		return limit
	}
	row := make([]int, len(t)+1) // distances of s[:i] to every t[:j]
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j := range t {
			change := diagonal
			if s[i] != t[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(t)], limit)
}
