//go:build !linux

package mmpool

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

func newDisk(f *os.File, o *Options) (backing, error) {
	return nil, sys.ErrNoMap
}

func newShm(f *os.File, o *Options, allowed *atomic.Int64) (backing, *copier, error) {
	return nil, nil, sys.ErrNoMap
}

func lossOf(err error) format.Loss {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNoSpace) || errors.Is(err, errMemory) {
		return format.LossSpace
	}
	return format.LossIO
}
