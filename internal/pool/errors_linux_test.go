package pool

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// failing is a backing of which one call and those after it fail until it is mended, as on a disk
// that has a quota, or is gone for a while.
type failing struct {
	backing
	left   int // calls that succeed
	err    error
	failed int
}

func (f *failing) call() error {
	if f.left--; f.left >= 0 || f.err == nil {
		return nil
	}
	f.failed++
	return f.err
}

func (f *failing) attach(idx, at, n int64) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.backing.attach(idx, at, n)
}

func (f *failing) rearm(idx, n int64) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.backing.rearm(idx, n)
}

func (f *failing) save(s extent, final bool) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.backing.save(s, final)
}

func (f *failing) drop(s extent) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.backing.drop(s)
}

// TestG4NthCall makes the system's calls fail from the nth on, for every n and for every error that
// a disk returns. The pool hands out the chunks it has, returns the reason when there are no more,
// and goes on when the errors end.
func TestG4NthCall(t *testing.T) {
	calls, full := 3, os.Getenv("SCOPEVIEW_FAULT") == "full"
	if full {
		calls = 20
	}
	losses := map[error]format.Loss{
		unix.ENOSPC: format.LossSpace, unix.EDQUOT: format.LossSpace, unix.EFBIG: format.LossSpace,
		unix.EIO: format.LossIO, unix.EFAULT: format.LossIO, unix.EROFS: format.LossIO, unix.ESTALE: format.LossIO,
	}
	runs, failed := 0, 0
	for _, heap := range []bool{false, true} {
		for n := range calls {
			for errno, want := range losses {
				if n > 0 && !full && errno != unix.ENOSPC && errno != unix.EIO {
					continue // the first call covers every error's meaning; for later ones one error of each kind will do
				}
				f := newFile(t)
				p, err := New(Options{File: f, Limit: testLimit, Heap: heap})
				if err != nil {
					t.Fatal(err)
				}
				b := &failing{backing: p.back, left: n, err: errno}
				p.back = b
				failingRound(t, p, errno, want)
				b.err = nil
				taken := false
				for range 3 {
					_ = p.Extend()
					_, why := p.Take()
					taken = taken || why == 0
				}
				if !taken {
					t.Errorf("heap %t: after %v at call %d nothing more is handed out", heap, errno, n)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				runs, failed = runs+1, failed+b.failed
			}
		}
	}
	t.Logf("G4: %d runs with %d errors from any of the first %d calls on, %d calls failed: each loss had its reason, and each run went on",
		runs, len(losses), calls, failed)
}

// failingRound takes chunks until the pool has no more.
func failingRound(t *testing.T, p *Pool, errno error, want format.Loss) {
	t.Helper()
	for range 10_000 { // it has at most what may wait in memory, 2,048 chunks, and its window
		idx, why := p.Take()
		switch {
		case why == 0 && p.Words(idx) == nil:
			t.Fatalf("chunk %d was handed out and has no memory", idx)
		case why == 0:
			touch(p.Words(idx))
			p.Advance(idx, Leaving)
			_ = p.Save(idx, idx+1, true)
			if p.Drop(idx, idx+1) == nil {
				p.Advance(idx, Gone)
			}
			if idx%16 == 1 {
				_ = p.Rearm(nil)
			}
		}
		err := p.Extend()
		if err != nil && !errors.Is(err, errno) {
			t.Errorf("Extend says %v, want %v", err, errno)
		}
		if err == nil || why == 0 {
			continue
		}
		if _, why := p.Take(); why != want {
			t.Errorf("after %v lost by %v, want %v", errno, why, want)
		}
		return
	}
	t.Errorf("with %v from a call on the pool never ended", errno)
}
