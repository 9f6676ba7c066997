//go:build !unix

package newfile

// There are no such flags on these systems.
const noFollow, noWait = 0, 0
