//go:build !scope_off

package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/sys"
)

// Snapshot writes what the recording holds now. See scope.Snapshot.
func Snapshot(path string) error {
	if inBubble() {
		return ErrBubble
	}
	r := current.Load()
	if r == nil || sys.Forked() || atomic.LoadUint32(&sys.Live.On) == Off {
		return ErrStopped
	}
	_, err := r.snapshot(path, "")
	return err
}

// snapshot writes a snapshot; why becomes a fact in it.
func (r *recorder) snapshot(path, why string) (string, error) {
	r.copying.Lock() // one at a time, and none once the file is closed
	defer r.copying.Unlock()
	if r.shut {
		return "", ErrStopped
	}
	if path == "" {
		return "", fmt.Errorf("scope: %w: the path is empty; give a directory or a file", ErrOption)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, fileName(""))
	}
	r.writeCollected(collectSnapshot)
	o := snapshot.Options{Now: r.clock.Now(), Refresh: func() error { return r.saveLive(false) }}
	if why != "" {
		o.Facts = append(o.Facts, snapshot.Fact{Key: "snapshot_reason", Value: why})
	}
	src, done, err := r.joined()
	if err != nil {
		return "", fmt.Errorf("scope: %w", err)
	}
	defer done()
	res, err := snapshot.Create(path, src, o)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w; give another path than %s: %w", ErrExists, path, err)
	}
	if pool.IsNoSpace(err) {
		return "", noSpace(err)
	}
	if err != nil {
		return "", fmt.Errorf("scope: %w", err)
	}
	r.snapshots.Add(1)
	return res.Path, nil
}

// saveLive updates the file from memory, if it is a copy. The first chunk, which
// holds the state and whether the trace is closed, comes last: not if a write
// failed whose data are still in the hot file.
func (r *recorder) saveLive(final bool) (failed error) {
	if failed = r.flusher.Save(final, r.pool.Live(nil)...); failed != nil && r.hot != nil {
		return failed
	}
	if err := r.flusher.Save(final, 0); err != nil {
		return err
	}
	return failed
}

// errands runs functions that must not run on a recording goroutine, nor delay a
// tick.
func (r *recorder) errands() {
	defer r.ticker.Done()
	for {
		select {
		case <-r.quit:
			// Also handle a scope that was slow just before Stop.
			select {
			case f := <-r.errand:
				f()
			default:
			}
			return
		case f := <-r.errand:
			if !sys.Forked() {
				f()
			}
		}
	}
}

// send passes f to errands; it returns false if another is waiting.
func (r *recorder) send(f func()) bool {
	select {
	case r.errand <- f:
		return true
	default:
		return false
	}
}
