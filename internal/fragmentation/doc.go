// Package fragmentation runs the fragmentation study of Weng et al. (Beware of
// Fragmentation, USENIX ATC 2023): pods arrive one after another at a cluster until more
// is asked for than there is; none ever leaves, one that does not fit is dropped. What the
// node scorers are compared by is how much of the cluster they fill.
//
// Everything follows the published study to the last digit: its pod sequence, the order
// in which it breaks ties, its scores that are rounded down to integers, and how its
// tables are made of the samples. docs/fragmentation.md tells the story.
package fragmentation
