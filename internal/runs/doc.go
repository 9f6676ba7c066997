// Package runs measures runs of a command, and computes the difference between the runs of
// two sides.
package runs
