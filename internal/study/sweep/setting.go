package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/gangplan/gangplan/internal/scenario"
	"github.com/gangplan/gangplan/internal/study"
	"github.com/gangplan/gangplan/report"
	"github.com/gangplan/gangplan/sim"
	"github.com/gangplan/gangplan/topology"
)

// setting is a scenario of the study; its policies and seeds share it. Its jobs are in
// memory only while runs of it are under way.
type setting struct {
	study  *scenario.Study
	set    []scenario.Override
	traces *scenario.Traces

	// What describe finds out.
	manifest report.Manifest // as far as it is the same for all runs
	policies []scenario.PolicyChoice
	seed     uint64
	said     string // the fingerprint of the file
	cost     float64
	warnings []string

	mu       sync.Mutex
	users    int
	resolved *scenario.Scenario
}

func (s *setting) resolve() (*scenario.Scenario, *scenario.File, error) {
	f, err := s.study.Base.With(s.set...)
	if err != nil {
		return nil, nil, err
	}
	r, err := f.ResolveSharing(s.study.Dir, s.traces)
	return r, f, err
}

// describe resolves the scenario and keeps all of it but its jobs.
func (s *setting) describe() error {
	r, f, err := s.resolve()
	if err != nil {
		return err
	}
	s.manifest = *study.Manifest("", r)
	s.policies, s.seed, s.said, s.warnings = r.Policies, r.Config.Seed, f.Fingerprint(), r.Warnings
	s.cost = cost(r.Config)
	return nil
}

// cost guesses what a run takes, in some unit: it grows with the pods, and with how much
// more GPU-time is asked for than there is, since jobs that wait are looked at again.
func cost(c *sim.Config) float64 {
	var pods, asked, span float64
	for i := range c.Jobs {
		j := &c.Jobs[i]
		span = max(span, float64(j.Submit))
		for k := range j.PodSets {
			count := float64(j.PodSets[k].Count)
			pods += count
			asked += float64(count * float64(j.PodSets[k].Request[topology.GPU]) * float64(j.Duration))
		}
	}
	there := float64(c.Cluster.Capacity()[topology.GPU]) * max(span, 1)
	return pods * (1 + asked/max(there, 1))
}

// acquire returns the scenario for a run; release follows.
func (s *setting) acquire() (*scenario.Scenario, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resolved == nil {
		r, _, err := s.resolve()
		if err != nil {
			return nil, err
		}
		if now := "sha256:" + r.Hash; now != s.manifest.Scenario.Hash {
			return nil, fmt.Errorf("the files of the study changed while it was running")
		}
		s.resolved = r
	}
	s.users++
	return s.resolved, nil
}

func (s *setting) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		s.resolved = nil
	}
}

// exactVersion tells builds apart that have no version of their own, by the hash of the
// program: results of an older one must not be taken for those of this one.
func exactVersion(version string) (string, error) {
	if version != "devel" && !strings.HasSuffix(version, "+dirty") {
		return version, nil
	}
	sum, err := programHash()
	if err != nil {
		return "", fmt.Errorf("this build has no version, and its program cannot be read: %w", err)
	}
	return version + "-" + sum[:12], nil
}

var programHash = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})
