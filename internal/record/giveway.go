//go:build !scope_off

package record

import (
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/sys"
)

// giveWay ends the recording, and removes its trace, because another one replaces it. control
// is held.
func (r *recorder) giveWay() {
	_ = r.stop() // errors do not matter: the trace is removed
	_ = os.Remove(r.path)
	hot.Discard(r.id, format.FileID{})
}

// StopGivingWay ends the recording if it is one that gives way to others, and returns its
// trace's path; empty if there is none. ended, if not empty, is recorded as the way in which
// the program ends.
func StopGivingWay(ended string) (path string, err error) {
	if sys.Forked() {
		return "", ErrStopped
	}
	control.Lock()
	defer control.Unlock()
	r := current.Load()
	if atomic.LoadUint32(&sys.Live.On) == Off || r.opts.giveWay == nil {
		return "", nil
	}
	r.fact("ended", ended)
	return r.path, r.stop()
}
