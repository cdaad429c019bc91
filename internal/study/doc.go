// Package study runs simulations side by side: several policies over one scenario, each
// on a goroutine of its own, their results brought to a common end and handed on to
// package report.
//
// A run is deterministic by itself and shares only its configuration, which nobody
// changes, with the others; so the results do not depend on how many run at a time.
package study
