// Package verify applies advice mechanically where that is possible, and measures its gain.
//
// # Design
//
// For a finding whose fix is a capacity, find.go finds the expression that makes the slice,
// map or channel at the advice's place: on its line, or, if that is where it first grows,
// its declaration in the same function. Only that expression is changed, so all lines keep
// their numbers. Run builds the program unchanged, and with each change in an overlay: none
// of the user's files are written. It runs all builds alternately, and reports the
// differences with confidence intervals.
//
// It does not guess other changes: a Reason explains why one is not made.
package verify
