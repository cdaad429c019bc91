// Package flow shares links among flows, event by event: between two events every flow
// runs at its weighted max-min share, and an event is a flow that starts or ends. It is
// exact for its model and slow: it validates the closed forms and the contention of the
// parent package, and serves small studies.
//
// Read share.go for one allocation, net.go for the clock, jobs.go for training jobs that
// compute and then send along a ring.
//
// Bytes, bytes per second and picoseconds are integers. A share is rounded down, so that
// no link carries more than it can; the end of a flow is rounded up. What is left of a
// flow is kept in 1e-12 bytes, so that nothing is lost in between. A run can last a
// hundred days.
package flow
