package topology

import "fmt"

// NodeError says what is wrong with one node of a list. It carries no file position: the
// caller that read the list knows where entry Index stands.
type NodeError struct {
	Index   int    // position in the list given to Build
	Name    string // the node's name, possibly empty
	Field   string // "name", "path", a level's name, or a resource's name
	Problem string
}

// Error implements error.
func (e *NodeError) Error() string {
	return fmt.Sprintf("node %d (%q): %s: %s", e.Index, e.Name, e.Field, e.Problem)
}

// FieldError says what is wrong with a description that is not a single node: the list of
// levels, the counts of a Synthetic, the factor of Multiply.
type FieldError struct {
	Field   string // "levels", "counts", "nodes", "gpus", "cpu", "memory", "scale", or a level's name
	Problem string
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }
