// Package hooks is what scopeview run puts into a program. There is nothing in it to call by
// hand.
//
// The standard library of such a program tells it of waits, of goroutines that are made, of
// requests and of tests, by variables that a file sets which is added to this package when the
// program is built. In any other build that file is not there, and nothing is told.
package hooks
