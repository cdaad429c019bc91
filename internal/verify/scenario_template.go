package verify

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/internal/rng"
)

// Workloads that a scenario describes in a sentence instead of listing jobs. A node is one
// GPU where there is only a number of nodes, so a k-node job is k pods of one GPU.

// maxSentenceJobs bounds what a sentence can ask for.
const maxSentenceJobs = 1_000_000

var (
	burstSentence = regexp.MustCompile(`^every (?:(\S+) )?(second|minute|hour|day)s?(?: on the (?:minute|hour|day))? (\S+) (\S+)-node jobs? of (\S+) (\S+), (\S+) (\S+)$`)
	queueSentence = regexp.MustCompile(`^(\S+)-node jobs, Poisson arrivals (\S+) per (\S+), exponential service mean (\S+) (\S+), (\S+) jobs$`)
)

// sentenceJobs makes the jobs of a sentence; nil if it is none of those that are known.
func sentenceJobs(text string) ([]map[string]any, error) {
	if m := burstSentence.FindStringSubmatch(text); m != nil {
		return bursts(m[1:])
	}
	if m := queueSentence.FindStringSubmatch(text); m != nil {
		return poisson(m[1:])
	}
	return nil, nil
}

// bursts are so many equal jobs at every multiple of a period, as long as it says.
func bursts(words []string) ([]map[string]any, error) {
	var w wordReader
	period := w.number(words[0], 1) * w.unit(words[1])
	count, nodes := w.number(words[2], 0), w.number(words[3], 0)
	duration := w.number(words[4], 0) * w.unit(words[5])
	length := w.number(words[6], 0) * w.unit(words[7])
	if w.err != nil {
		return nil, w.err
	}
	if period <= 0 || length/period*count > maxSentenceJobs {
		return nil, cannot("more than %d jobs in a sentence", maxSentenceJobs)
	}
	var jobs []map[string]any
	for burst := 0; float64(burst)*period < length; burst++ {
		for k := range int(count) {
			jobs = append(jobs, sentenceJob(fmt.Sprintf("j%d-%d", burst, k), float64(burst)*period, nodes, duration))
		}
	}
	return jobs, nil
}

// poisson are jobs that arrive at random and take times that nothing remembers, drawn as
// synthetic jobs are, from seed 1.
func poisson(words []string) ([]map[string]any, error) {
	var w wordReader
	nodes := w.number(words[0], 0)
	between := w.unit(words[2]) / w.number(words[1], 0)
	service := w.number(words[3], 0) * w.unit(words[4])
	count := w.number(words[5], 0)
	if w.err != nil {
		return nil, w.err
	}
	if count > maxSentenceJobs {
		return nil, cannot("more than %d jobs in a sentence", maxSentenceJobs)
	}
	jobs := make([]map[string]any, int(count))
	at := 0.0
	for i := range jobs {
		id := rng.StableID("sentence", int64(i))
		at += millis(between * rng.Exp(rng.Hash(1, rng.Arrival, id, 0)))
		jobs[i] = sentenceJob("j"+strconv.Itoa(i), at, nodes, millis(service*rng.Exp(rng.Hash(1, rng.Duration, id, 0))))
	}
	return jobs, nil
}

// millis rounds a drawn time in seconds as all drawn times are.
func millis(seconds float64) float64 { return float64(rng.QuantiseMillis(seconds)/1e6) / 1e3 }

func sentenceJob(id string, submit, nodes, duration float64) map[string]any {
	return map[string]any{"id": id, "submit": submit, "pods": nodes, "gpus_per_pod": 1.0, "duration": duration}
}

// wordReader reads the numbers and units of a sentence and keeps the first word it cannot.
type wordReader struct{ err error }

var smallNumbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

// number reads a number in digits or, up to twelve, in letters; nothing stands for otherwise.
func (w *wordReader) number(s string, otherwise float64) float64 {
	if s == "" {
		return otherwise
	}
	if i := slices.Index(smallNumbers, s); i > 0 {
		return float64(i)
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if (err != nil || x <= 0) && w.err == nil {
		w.err = cannot("the number %q", s)
	}
	return x
}

// unit reads a unit of time, in seconds.
func (w *wordReader) unit(s string) float64 {
	for name, seconds := range map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": 86400} {
		if s == name || s == name+"s" || s == name[:1] || s == "min" && name == "minute" {
			return seconds
		}
	}
	if w.err == nil {
		w.err = cannot("the unit %q", s)
	}
	return 0
}
