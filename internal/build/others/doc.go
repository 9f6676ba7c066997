// Package others compares recordings of other people's programs with independent data about
// them: modules from the proxy, in fixed versions. It has only tests.
//
//   - counts_test.go: calls of functions, by coverage counters of the same run
//   - own_test.go: their own tests pass as in a plain build, and their directories do not change
//   - waits_test.go: waits for locks, by Go's own mutex profile of the same run
//   - cost_test.go: results are the same, and the CPU time of recording
//
// TestCounts uses a program in the test and always runs; make run-check runs the rest.
package others
