//go:build unix

package newfile

import (
	"math"
	"syscall"
)

var tooLarge error = syscall.EFBIG

// largest is how many bytes files may have.
func largest() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l) != nil { // a filter may refuse it
		return math.MaxUint64
	}
	return uint64(l.Cur) // some systems have it signed
}
