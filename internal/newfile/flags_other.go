//go:build !unix

package newfile

// These flags do not exist on these systems.
const noFollow, noWait = 0, 0
