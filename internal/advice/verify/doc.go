// Package verify follows advice by machine where that can be done, and measures what it gains.
//
// # Design
//
// Of a finding whose fix is a capacity, find looks for the expression that makes the slice, map or
// channel, by the place that the advice is for: on its line, or, where it grows first, what is declared
// for it in the same function. That expression alone is changed, so that all lines stay where they are.
// Run builds the program as it is, and with each change in an overlay: nothing of the user's is written.
// It runs all of them in turns, and says by how much they differ, with the interval.
//
// What can't be changed by a machine is not guessed: a Reason says why.
package verify
