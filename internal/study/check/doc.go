// Package check holds a corpus of scenarios against the baselines committed beside them: the
// gate that fails a build in which a scheduler, or its configuration, made something worse.
//
// A corpus is a folder of scenarios NAME.yaml. Beside each stand NAME.baseline.yaml, with
// every metric of every run, and NAME.transitions.gz, with every transition, from which the
// first one that changed is told. corpus.yaml, if there is one, has seeds and tolerances.
package check
