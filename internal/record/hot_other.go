//go:build !linux && !scope_off

package record

import (
	"errors"
	"os"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/snapshot"
)

func (r *recorder) createHot(po *pool.Options) error { return errors.ErrUnsupported }

func (r *recorder) joined() (snapshot.Source, func(), error) {
	if r.opts.segments == 0 {
		return r.file, func() {}, nil
	}
	j, err := hot.Open(r.path)
	if err != nil {
		return nil, nil, err
	}
	return j, func() { j.Close() }, nil
}

func (r *recorder) adopt() {}

func inMemory(f *os.File) bool { return false }
