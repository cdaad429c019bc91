// Package size finds how much of something a cluster needs: the first of many values of a
// scenario's field, in the order they are given, with which all targets are met.
//
// Every value is run under the same seeds, so that values are compared on common random
// numbers. A value that is looked at is looked at under all of them, several runs at a time;
// which values are looked at follows from what came out, never from how many ran at once, so
// the answer is the same on any number of processors.
package size
