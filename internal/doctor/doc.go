// Package doctor explains why a program does not scale. It reports which known problems of
// concurrent programs a trace shows, with the evidence, a confidence and the estimated gain
// of fixing each.
//
// # Design
//
// Examine builds a model of the trace: each goroutine's states over time (internal/states),
// its scopes, and the locks it held and waited for. The rules read only that model. Their
// table is in rules.go; each rules_*.go has the rules of one kind, each with its limits and
// the type of its facts. words.go turns facts into sentences.
//
//  1. A rule reports nothing without the data it needs: missing data makes an entry in
//     Report.Unexamined, never a finding. Otherwise a program without a Go execution
//     trace would be called healthy, or blamed for waits that were not recorded.
//  2. Each rule has its limits beside it, each with its source. A finding below
//     its limit is dropped, not shown small: a false finding costs its reader more
//     than a missing one.
//  3. Findings are ordered by gain × confidence.
//     Otherwise the longest wait would come first, which often costs nothing.
//     A gain comes from a replay of the goroutines' work on the same number of cores, with the
//     cause removed (replay.go), or from the formula that its rule states. It is an
//     estimate: a replay has only the data of the trace.
//  4. Each cause is reported once. Where a lock is held during a blocking call, that is the
//     finding; the contention is not a second one.
//
// The tests simulate programs (world_test.go), so the expected findings and gains are known
// exactly. examples/doctor has real programs; make doctor-check runs the built tool on them.
package doctor
