// Package sweep runs studies: one scenario under every combination of some values. It can
// be stopped at any moment and goes on where it stopped, on one machine or on many.
//
// A study is planned first: every cell, one run of one policy, gets an id that is the hash
// of all that decides its bytes. Cells are then run in any order, by any number of workers
// and machines, each into a folder named by its id. A folder is there whole or not at all,
// and says of itself whether it is undamaged. Last, when no cell is missing, the results
// are put together from the folders alone; so they do not depend on who ran what when.
package sweep
