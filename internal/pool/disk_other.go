//go:build !linux

package pool

import (
	"errors"
	"syscall"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

func newDisk(p *Pool, o *Options) (backing, error) {
	return nil, sys.ErrNoMap
}

func newShm(p *Pool, o *Options) (backing, error) {
	return nil, sys.ErrNoMap
}

func lossOf(err error) format.Loss {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNoSpace) || errors.Is(err, errMemory) || err == errNumbers {
		return format.LossSpace
	}
	return format.LossIO
}
