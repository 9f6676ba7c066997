//go:build !unix

package snapshot

const openFlags = 0
