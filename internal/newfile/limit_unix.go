//go:build unix

package newfile

import (
	"math"
	"syscall"
)

var tooLarge error = syscall.EFBIG

// largest returns the file size limit in bytes.
func largest() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l) != nil { // a filter may refuse it
		return math.MaxUint64
	}
	return uint64(l.Cur) // on some systems it is signed
}
