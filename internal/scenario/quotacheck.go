package scenario

import (
	"strings"

	"github.com/gangplan/gangplan/internal/suggest"
	"github.com/gangplan/gangplan/topology"
)

// Resources says, as Kueue's configuration does, which of the resources that jobs ask for
// need quota.
type Resources struct {
	QuotaCheckStrategy      string   `yaml:"quotaCheckStrategy"` // BlockUndeclared or IgnoreUndeclared
	ExcludeResourcePrefixes []string `yaml:"excludeResourcePrefixes"`
}

// The values of resources.quotaCheckStrategy.
const (
	IgnoreUndeclared = "IgnoreUndeclared"
	BlockUndeclared  = "BlockUndeclared"
)

// resolveQuotaCheck reads resources. A ClusterQueue of a scenario gives quota of what matters
// to its author; Kueue's default holds where it is asked for.
func (r *resolver) resolveQuotaCheck() {
	given := r.Resources
	if given == nil {
		return
	}
	check := &r.out.Config.Check
	check.BlockUndeclared = word(r, at("resources", "quotaCheckStrategy"), given.QuotaCheckStrategy, []string{IgnoreUndeclared, BlockUndeclared}, false, true)
	if given.QuotaCheckStrategy == IgnoreUndeclared && len(given.ExcludeResourcePrefixes) > 0 {
		r.fail(at("resources", "excludeResourcePrefixes"), "expected none beside quotaCheckStrategy %s, as in Kueue", IgnoreUndeclared)
	}
	for i, prefix := range given.ExcludeResourcePrefixes {
		if !r.exclude(prefix) {
			r.fail(at("resources", "excludeResourcePrefixes", i), "%s: expected the start of the name of a resource, %s%s", quote(prefix),
				strings.Join(quotaNames, ", "), suggest.Hint(prefix, quotaNames))
		}
	}
}

// quotaNames are the resources of which jobs need quota by themselves. Pods count only where
// a queue lists them.
var quotaNames = []string{topology.GPU.String(), topology.CPU.String(), topology.Memory.String()}

// exclude takes out the resources whose name starts with a prefix, or the GPUs by their short
// name, and reports whether there are any.
func (r *resolver) exclude(prefix string) (any bool) {
	for k, name := range quotaNames {
		if prefix != "" && (strings.HasPrefix(name, prefix) || prefix == "gpu" && topology.Resource(k) == topology.GPU) {
			r.out.Config.Check.Excluded[k], any = true, true
		}
	}
	return any
}
