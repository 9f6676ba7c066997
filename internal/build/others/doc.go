// Package others holds what the tool records of programs that are not ours against what is
// known of them: modules from the proxy, in versions that never change. It has tests only.
//
//   - counts_test.go: calls of functions, by coverage counters of the same run
//   - own_test.go: their own tests pass as they do plain, and their directories stay as they are
//   - waits_test.go: waits for locks, by Go's own mutex profile of the same run
//   - cost_test.go: results are the same, and what recording takes of the CPU time
//
// TestCounts has a program in the test and is always run; make run-check runs the rest.
package others
