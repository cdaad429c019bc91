// Package archtest holds the rules of the house as tests: who may import whom, what the
// deterministic core may not do, how long a function or a file may be, and which words do
// not belong in the project. `go test ./internal/archtest` runs them on the whole module.
//
// Read table.go first: it is the architecture as data, and the only file a change of the
// architecture edits. load.go lists, parses and type-checks the module. Every other file is
// one family of rules, each a function from packages to findings, so that rules_test.go can
// show every rule failing on a few lines of made-up source.
//
// A finding of determinism.go or floats.go is waived by a comment on its line or on the
// line above, with the reason:
//
//	//det:ok the sum does not depend on the order
//
// A waiver without a reason, or one that waives nothing, is itself a finding.
package archtest
