//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestG19 reads a ring while two goroutines overwrite it as fast as they can: by opening
// it again and again, and by following it. Readers get the recorded records, each once,
// in order per goroutine; none is mixed from two chunks.
func TestG19(t *testing.T) {
	if wantPath == format.PathPure {
		t.Skip("the pure path is too slow to go around a ring")
	}
	lasts := time.Second
	if faultfs.Full() {
		lasts = 30 * time.Second
	}
	var lines []string
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(4<<20), WithFlushEvery(20*time.Millisecond))
		Task("step", 0, -1, check(0, -1))()
		breathe(t) // with the heap, the file has its name now
		var quit atomic.Bool
		writers := make(chan bool)
		for w := range 2 {
			go func() {
				for n := 0; !quit.Load(); n++ {
					Task("step", w, n, check(w, n))()
				}
				writers <- true
			}()
		}
		var read, followed, opened, missed int64
		follower := make(chan error)
		go func() { follower <- follow(&quit, &followed, &missed) }()
		begun := time.Now()
		more := func() bool { // or until a slow machine has wrapped around
			took := time.Since(begun)
			return took < lasts || took < lasts+30*time.Second && Stats().Overwritten == 0
		}
		for ; more(); opened++ {
			n, err := readOnce(Path())
			if err != nil {
				t.Errorf("reading %d: %v", opened, err)
				break
			}
			read += n
		}
		quit.Store(true)
		<-writers
		<-writers
		if err := <-follower; err != nil {
			t.Errorf("following: %v", err)
		}
		finish(t)
		if _, err := readOnce(Path()); err != nil {
			t.Error(err)
		}
		verify(t, Path())
		s := Stats()
		if s.Overwritten == 0 || followed == 0 || read == 0 {
			t.Errorf("read %d, followed %d, %+v", read, followed, s)
		}
		lines = append(lines, fmt.Sprintf("%s: %d recorded, of which %d overwritten, %d lost; opened %d times with %d events; followed %d, missed %d; none wrong",
			strings.TrimPrefix(t.Name(), "TestG19/"), s.Recorded+s.Overwritten, s.Overwritten, s.Lost.Total(), opened, read, followed, missed))
	})
	t.Logf("G19: %s", strings.Join(lines, "; "))
}

// check returns a step's third argument, computed from its first two.
func check(w, n int) int { return w*7919 ^ n*104729 }

// step19 checks that an event is a step as recorded, and returns its arguments.
func step19(tr *trace.Trace, e *trace.Event) (w, n int, err error) {
	if e.Kind != format.KindTask || tr.Name(e.Name) != "step" {
		return 0, 0, fmt.Errorf("there is a %v called %q", e.Kind, tr.Name(e.Name))
	}
	if len(e.Args) != 3 {
		return 0, 0, errNoArgs
	}
	w, n = int(e.Args[0].Int()), int(e.Args[1].Int())
	if w < 0 || w > 1 || e.Args[2].Int() != int64(check(w, n)) || e.Dur < 0 {
		return 0, 0, fmt.Errorf("a step has the arguments %v and lasts %d ns", e.Args, e.Dur)
	}
	return w, n, nil
}

// errNoArgs is the error for a step of which only the end is left.
var errNoArgs = errors.New("a step has no arguments")

// readOnce reads the whole trace.
func readOnce(path string) (events int64, err error) {
	tr, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer tr.Close()
	last := [2]int{-2, -2}
	var goid [2]uint64
	from := int64(-1)
	var odd error
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		events++
		w, n, err := step19(tr, e)
		switch {
		case err == errNoArgs:
			return true
		case err != nil:
			odd = err
		case n <= last[w]:
			odd = fmt.Errorf("step %d of %d comes after %d", n, w, last[w])
		case n >= 0 && goid[w] != 0 && goid[w] != e.Goid:
			odd = fmt.Errorf("step %d of %d is of goroutine %d, the others of %d", n, w, e.Goid, goid[w])
		case e.Start < from:
			odd = fmt.Errorf("step %d of %d begins at %d, after one at %d", n, w, e.Start, from)
		}
		if odd != nil {
			return false
		}
		last[w], from = n, e.Start
		if n >= 0 {
			goid[w] = e.Goid
		}
		return true
	})
	if err == nil {
		err = odd
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			err = errors.Join(err, errors.New(p.Text))
		}
	}
	return events, err
}

// follow follows the recording until quit is set.
func follow(quit *atomic.Bool, followed, missed *int64) error {
	f, err := hot.Open(Path())
	if err != nil {
		return err
	}
	defer f.Close()
	fol, err := trace.NewFollower(f, f.Size, trace.FollowOptions{})
	if err != nil {
		return err
	}
	var seen [2]map[int]bool
	seen[0], seen[1] = map[int]bool{}, map[int]bool{}
	var odd error
	for odd == nil && !quit.Load() {
		if _, err := fol.Poll(func(e *trace.Event) bool {
			*followed++
			w, n, err := step19(fol.Trace(), e)
			switch {
			case err == errNoArgs:
				return true
			case err != nil:
				odd = err
			case seen[w][n]:
				odd = fmt.Errorf("step %d of %d comes twice", n, w)
			default:
				seen[w][n] = true
			}
			return odd == nil
		}); err != nil {
			return err
		}
		*missed = fol.Missed()
	}
	return odd
}
