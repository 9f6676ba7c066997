// Package doctor says in words why a program does not scale: which of the known
// problems of concurrent programs a trace shows, by which numbers, how sure that is,
// and what it would gain to mend it.
//
// # Design
//
// Examine makes a model of the trace: what each goroutine did from moment to moment
// (internal/states), the scopes it was in, the locks it held and waited for. The rules
// look at that model and at nothing else. Their table is in rules.go, and a rules_*.go has
// those of one kind, each beside its limits and the facts that it finds. words.go makes the
// sentences of the facts.
//
//  1. A rule says nothing where it can't know: what a trace lacks makes an entry in
//     Report.Unexamined, never a finding. Otherwise a program without a Go execution
//     trace would be told that it is healthy, or be blamed for waits nobody saw.
//  2. Each rule has its limits beside it, each with where it comes from. A finding below
//     its limit is dropped, not shown small: a false finding costs its reader more
//     than a missing one.
//  3. Findings are ordered by what mending them does to the end, gain × confidence.
//     Otherwise the longest wait would come first, which is often nobody's concern.
//     A gain comes from a replay of what the goroutines did, on as many cores, with the
//     cause taken out (replay.go), or from the formula that its rule states. It is an
//     estimate: a replay knows only what is in the trace.
//  4. One cause is told once. Where a lock is held over a blocking call, that is the
//     finding, and not also that the lock is contended.
//
// The tests play programs in a world of their own (world_test.go), so that what should be
// found, and what mending brings, is known exactly. examples/doctor has real ones; make
// doctor-check asks the built tool about them as a user would.
package doctor
