// Package advice estimates the cost of a program's containers, buffers and locks, and
// cheaper alternatives, from the data that package count has collected in it.
//
// # Design
//
// Rows of several runs are merged. A Rule judges the rows of one kind: it returns the cost
// of the use by the Weights, the cost of the alternative, objections to it, and the
// evidence. Of makes a Report: advice whose gain is above a threshold, best first, and
// characteristics for which no rule has a remedy.
package advice
