// Package topology describes a cluster: an immutable tree of named levels (zone, rack,
// host) over a list of nodes, and what the nodes offer.
//
// Read cluster.go first: it holds the types, and the one invariant everything above
// relies on, that every domain of every level is an interval of node indices. builder.go
// turns any list of nodes into such a tree; synthetic.go makes lists of nodes, from counts
// or from another list. resources.go holds the units: milli-GPU, milli-cores, bytes.
//
// A Cluster never changes after Build and may be shared by any number of goroutines. What
// happens to nodes during a run (taken, failed, drained) is the engine's state. How fast
// the nodes talk to each other is the business of package topology/fabric.
package topology
