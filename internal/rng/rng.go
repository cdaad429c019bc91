// Package rng draws random numbers without a generator: every draw is a hash of what it
// is for. There is no state, so a new consumer shifts nobody's numbers, two policies that
// ask the same question get the same answer (common random numbers), and the order in
// which questions are asked does not matter.
//
// Everything here gives the same bits on every architecture: the floating-point
// functions use only correctly rounded operations (+ - * / and square root) whose
// products are rounded before they are summed, and none of package math's
// transcendental functions, which have assembly of their own on some architectures.
package rng

import "math/bits"

// Purpose says what a draw is for, so that two draws about one thing are independent.
type Purpose uint64

// The purposes. The values are part of the meaning of a seed: they never change, and a
// new purpose takes the next number.
const (
	StartUp    Purpose = 1  // time from bound to ready, by pod
	Crash      Purpose = 2  // progress at which a job crashes, by job
	NodeFault  Purpose = 3  // time to a node's next fault, by node
	NodeRepair Purpose = 4  // time until a failed node returns, by node
	Tie        Purpose = 5  // choice among equal nodes, by pod and node
	Arrival    Purpose = 6  // gap before a synthetic job
	Size       Purpose = 7  // size of a synthetic job
	Duration   Purpose = 8  // duration of a synthetic job
	Model      Purpose = 9  // model a synthetic job trains
	Priority   Purpose = 10 // priority of a job
	Image      Purpose = 11 // container image of a job
	Tenant     Purpose = 12 // tenant or queue of a job
	Resample   Purpose = 13 // thinning and replication of a trace, by job
	Provision  Purpose = 14 // time until a new node is provisioned, by node
	Bootstrap  Purpose = 15 // value of a resample, by position and resample
	Latency    Purpose = 16 // how long a step of the control plane takes, by job and step
	Identity   Purpose = 17 // the order of what a clock cannot tell apart, by job
)

// golden is 2^64 divided by the golden ratio, made odd: the increment of splitmix64.
const golden = 0x9e3779b97f4a7c15

// Hash maps (seed, purpose, id, attempt) to 64 uniformly distributed bits. With all
// arithmetic modulo 2^64,
//
//	h = 0
//	for w in seed, purpose, id, attempt:
//	    h = mix((h xor w) + 0x9e3779b97f4a7c15)
//
//	mix(z): z = (z xor z>>30) * 0xbf58476d1ce4e5b9
//	        z = (z xor z>>27) * 0x94d049bb133111eb
//	        z xor z>>31
//
// The id of a thing is stable (StableID, ID2), never an index that slicing or
// relabelling shifts; the attempt counts the draws for one purpose and id from zero.
// source: splitmix64, Steele, Lea and Flood, OOPSLA 2014 (mix is Stafford's variant 13).
func Hash(seed uint64, purpose Purpose, id, attempt uint64) uint64 {
	h := fold(0, seed)
	h = fold(h, uint64(purpose))
	h = fold(h, id)
	return fold(h, attempt)
}

// ID2 combines two ids into one. The order counts: ID2(job, rank) is a pod's id,
// ID2(pod, node) that of a pod on a node. It is two rounds of Hash's loop.
func ID2(a, b uint64) uint64 { return fold(fold(0, a), b) }

// fold is a bijection of w for each h, so different words never collide in one place.
func fold(h, w uint64) uint64 { return mix((h ^ w) + golden) }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// The parameters of the 64-bit Fowler-Noll-Vo hash.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// StableID returns the id of the thing named s in row row of its original source: 64-bit
// FNV-1a over the bytes of s and then the row's eight bytes, lowest first. Things that
// have no row, such as nodes, use row 0.
func StableID(s string, row int64) uint64 {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	for shift := 0; shift < 64; shift += 8 {
		h = (h ^ uint64(row)>>shift&0xff) * fnvPrime
	}
	return h
}

// Below maps a hash to an integer in [0, n): the high word of h*n. The bias is at most
// n / 2^64. It returns 0 if n is 0.
func Below(h, n uint64) uint64 {
	hi, _ := bits.Mul64(h, n)
	return hi
}
