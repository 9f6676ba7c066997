package trace_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// check compares a delivered event with the model's.
func (w *writer) check(e *trace.Event, name string) error {
	s := w.truth[int64(e.Loc)]
	switch {
	case s == nil:
		return fmt.Errorf("an event at %d, where there is none", e.Loc)
	case e.Start != s.start-1000 || e.Goid != s.goid || name != simName(s.name) || e.Owner+100 != s.thread:
		return fmt.Errorf("event %+v of %+v", e, s)
	case s.arg != 0 && (len(e.Args) != 5 || e.Args[0].Value != s.arg) || s.arg == 0 && len(e.Args) != 0:
		return fmt.Errorf("arguments %v of %+v", e.Args, s)
	case s.instant:
		if e.Kind != format.KindEvent || e.Dur != 0 {
			return fmt.Errorf("event %+v of an instant", e)
		}
		return nil
	case e.Thread != s.thread || e.Open:
		return fmt.Errorf("event %+v of %+v", e, s)
	case e.Dur != s.stop-s.start || e.CPU != int64(s.cpu>>2) || e.Quality != format.Likely:
		return fmt.Errorf("end %+v of %+v", e, s)
	case s.endArg != 0 && (len(e.EndArgs) != 1 || e.EndArgs[0].Value != s.endArg):
		return fmt.Errorf("end arguments %v of %+v", e.EndArgs, s)
	case s.endBy != 0 && s.endBy != s.goid && e.EndGoid != s.endBy:
		return fmt.Errorf("ended by %d, want %+v", e.EndGoid, s)
	}
	return nil
}

// TestFollower checks that a follower of a trace whose three writers are in the middle of their
// records, with torn reads, delivers every end once and none wrong.
func TestFollower(t *testing.T) {
	seeds := uint64(30)
	if trace.RaceEnabled {
		seeds = 4
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		w := newWriter(seed)
		fromStart := seed%3 != 0
		for range 500 {
			w.step()
		}
		before := w.ended
		f, err := trace.NewFollower(tearing{w}, func() (int64, error) { return w.size, nil }, trace.FollowOptions{FromStart: fromStart})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		after := w.ended
		got := map[int64]int{}
		deliver := func(e *trace.Event) bool {
			if got[int64(e.Loc)]++; got[int64(e.Loc)] > 1 {
				t.Fatalf("seed %d: %+v delivered again", seed, e)
			}
			if err := w.check(e, f.Trace().Name(e.Name)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return len(got)%17 != 0 // stops for now
		}
		for range 60 {
			for range w.rnd.IntN(60) {
				w.step()
			}
			if done, err := f.Poll(deliver); done || err != nil {
				t.Fatalf("seed %d: done %v, %v", seed, done, err)
			}
		}
		w.settle(seed%2 == 0)
		w.nblk |= simChunk - 1 // no more steps: see tearing
		for done, polls := false, 0; !done && polls < 150; polls++ {
			if done, err = f.Poll(deliver); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if done != (seed%2 == 0) && polls > 140 {
				t.Fatalf("seed %d: done is %v", seed, done)
			}
		}
		ended, open := 0, map[int64]bool{}
		for loc, s := range w.truth {
			if s.stop >= 0 {
				ended++
			} else {
				open[loc] = true
			}
		}
		least, most := ended-after, ended-before
		if fromStart {
			least, most = ended, ended
		}
		if len(got) < least || len(got) > most {
			t.Errorf("seed %d: %d events, want %d to %d", seed, len(got), least, most)
		}
		var last int64
		err = f.Open(func(e *trace.Event) bool {
			if !open[int64(e.Loc)] || !e.Open || e.Start < last {
				t.Errorf("seed %d: open: %+v, want %+v", seed, e, w.truth[int64(e.Loc)])
			}
			last = e.Start
			delete(open, int64(e.Loc))
			return true
		})
		if err != nil || len(open) > 0 {
			t.Errorf("seed %d: %d open scopes are not delivered; %v", seed, len(open), err)
		}
		if ps := f.Problems(); len(ps) > 0 {
			t.Errorf("seed %d: problems %v", seed, ps)
		}
	}
}

// TestEventsLive checks that Events on a trace that is being written returns only what its writers
// recorded.
func TestEventsLive(t *testing.T) {
	seeds := uint64(30)
	if trace.RaceEnabled {
		seeds = 4
	}
	for seed := uint64(100); seed < 100+seeds; seed++ {
		w := newWriter(seed)
		for range 3000 {
			w.step()
		}
		ended := map[int64]bool{}
		for loc, s := range w.truth {
			ended[loc] = s.stop >= 0
		}
		tr, err := trace.Open(tearing{w}, w.size)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var last int64
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			if e.Start < last {
				t.Fatalf("seed %d: %+v after one at %d", seed, e, last)
			}
			last = e.Start
			if e.Open {
				if ended[int64(e.Loc)] {
					t.Fatalf("seed %d: %+v is open, had ended before", seed, e)
				}
			} else if err := w.check(e, tr.Name(e.Name)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			delete(ended, int64(e.Loc))
		}
		for loc, was := range ended {
			if was {
				t.Errorf("seed %d: the scope at %d had ended and is missing", seed, loc)
			}
		}
	}
}

// TestFollowerLosesTrace checks that a trace that shrinks, or is replaced, gives an error and not
// garbage.
func TestFollowerLosesTrace(t *testing.T) {
	w := newWriter(1)
	for range 3000 {
		w.step()
	}
	w.settle(false)
	data := bytes.Clone(w.image[:w.size])
	size := w.size
	f, err := trace.NewFollower(bytes.NewReader(data), func() (int64, error) { return size, nil }, trace.FollowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	poll := func() error {
		_, err := f.Poll(func(*trace.Event) bool { return true })
		return err
	}
	size = w.chunk * simChunk // Stop cut off the prepared window
	if err := poll(); err != nil {
		t.Errorf("cut to its end: %v", err)
	}
	size = simChunk
	if err := poll(); err == nil {
		t.Error("cut within its chunks: no error")
	}
	size = w.size
	other := newWriter(2)
	other.image[0] = 'X'
	copy(data, other.image[:simChunk])
	if err := poll(); err == nil {
		t.Error("replaced: no error")
	}
}
