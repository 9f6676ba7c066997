// Package advice says which container, buffer or lock of a program costs what, and what would cost
// less, of what package count has counted in it.
//
// # Design
//
// Rows of several runs are put together. A Rule judges the rows of one kind: it returns what the use
// costs by the Weights, what the alternative would, what speaks against it, and the numbers that show it.
// Of makes a Report: advice whose gain is above a threshold, best first, and the second kind of report,
// characteristics that no rule has a remedy for.
package advice
