//go:build !linux

package pool

import (
	"errors"
	"sync/atomic"
	"syscall"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

func newDisk(o *Options, f file) (backing, error) {
	return nil, sys.ErrNoMap
}

func newShm(o *Options, f file, allowed *atomic.Int64) (backing, error) {
	return nil, sys.ErrNoMap
}

func lossOf(err error) format.Loss {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNoSpace) || errors.Is(err, errMemory) || err == errNumbers {
		return format.LossSpace
	}
	return format.LossIO
}
