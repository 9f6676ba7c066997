// Package cputest checks what the recorder says about CPU time against the
// truth: that no scope is ever charged with another goroutine's CPU time, and
// that an upper bound is one.
//
// Each run is recorded twice at once, by scope and by runtime/trace. What a
// goroutine really used is known from two sides:
//
//   - Not more than what the Go execution trace shows it running or in a system
//     call. That holds on any machine, because a thread that the operating
//     system took off the CPU, or a machine that its host did, only makes the
//     trace's time longer.
//   - Not less than what the thread's CPU clock counted over the stretches of
//     computing in which the Go trace shows that the goroutine did not yield.
//     That holds on any machine, because nothing else runs on a thread then.
//
// Marks in the Go trace just outside and just inside of every scope, and around
// each stretch of computing, join the two: the n-th scope of a goroutine is the
// one between its n-th marks.
package cputest
