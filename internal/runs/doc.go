// Package runs is about runs of a program: it runs a command and measures what that took, and
// says by how much the runs of two sides differ.
package runs
