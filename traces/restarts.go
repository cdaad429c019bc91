package traces

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gangplan/gangplan/workloads"
)

// Failures of containers that start again in place are AT+READY of all pods, or
// AT+READY@RANK of one, in seconds: 7200+60@3.

func setRestarts(_ *context, j *job, s string) error {
	for part := range strings.SplitSeq(s, "|") {
		when, rank, one := strings.Cut(part, "@")
		at, ready, ok := strings.Cut(when, "+")
		if !ok {
			return fmt.Errorf("%s is no restart: expected AT+READY or AT+READY@RANK in seconds, such as 7200+60@3", quote(part))
		}
		r := workloads.Restart{Rank: workloads.AllPods}
		var err error
		if r.Time, err = seconds.parse(at); err != nil {
			return err
		}
		if r.Ready, err = seconds.parse(ready); err != nil {
			return err
		}
		if one {
			n, err := strconv.ParseInt(rank, 10, 32)
			if err != nil || n < 0 {
				return fmt.Errorf("%s is no rank: expected the number of a pod, from 0", quote(rank))
			}
			r.Rank = int32(n)
		}
		j.Restarts = append(j.Restarts, r)
	}
	return nil
}

func getRestarts(j *job) string {
	var parts []string
	for _, r := range j.Restarts {
		part := seconds.format(r.Time) + "+" + seconds.format(r.Ready)
		if r.Rank != workloads.AllPods {
			part += "@" + strconv.Itoa(int(r.Rank))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "|")
}

func setCompletions(_ *context, j *job, s string) error {
	n, err := pods.parse(s)
	j.Completions = int32(n)
	return err
}

func getCompletions(j *job) string { return nonZero(int64(j.Completions)) }
