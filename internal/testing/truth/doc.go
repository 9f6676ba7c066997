// Package truth compares the output of scopeview for existing programs with that of Linux's
// perf for the same runs. make truth runs it.
package truth
