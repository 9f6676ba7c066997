package trace_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestRingFollower checks that a follower of a ring delivers every end once and none wrong. If it
// polls often enough it misses nothing, however often the ring is overwritten; else Missed counts,
// and records that were never overwritten are still delivered.
func TestRingFollower(t *testing.T) {
	if trace.RaceEnabled {
		t.Skip("it has one goroutine, and takes long with the race detector")
	}
	lapped := 0
	for seed := uint64(200); seed < 200+seedsOf(ringSeeds/2); seed++ {
		w := newRingWriter(seed, 40)
		slow, fromStart, closes := seed%4 == 0, seed%3 != 0, seed%2 == 0
		for range []int{0, 500, 100000}[seed%3] {
			w.step()
		}
		r := &tearingRing{w: w, rate: 40}
		before := ended(w)
		f, err := trace.NewFollower(r, func() (int64, error) { return w.size, nil }, trace.FollowOptions{FromStart: fromStart})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := map[int64]bool{}
		deliver := func(e *trace.Event) bool {
			s := w.truth[e.Start+1000]
			if s != nil && (got[s.start] || !fromStart && before[s.start]) {
				t.Fatalf("seed %d: %+v delivered again, or before its time, %+v", seed, e, s)
			}
			if err := w.check(e, f.Trace().Name(e.Name)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if e.Open {
				t.Fatalf("seed %d: %+v delivered open", seed, e)
			}
			got[s.start] = true
			return len(got)%997 != 0 // stops for now
		}
		// Records overwritten while it begins are missed, which the second poll finds.
		for range 2 {
			if _, err := f.Poll(deliver); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		missed := f.Missed()
		after := ended(w)
		there := map[int64]bool{}
		for start, s := range w.truth {
			if _, end := w.readable(s); end && before[start] {
				there[start] = true
			}
		}
		handed := w.handed
		type poll struct{ found, handed int64 }
		var polls []poll
		for range 400 {
			steps := w.rnd.IntN(1500)
			if slow && w.rnd.IntN(8) == 0 {
				steps = w.rnd.IntN(60000)
			}
			if r.rate = 40; slow && w.rnd.IntN(4) == 0 {
				r.rate = 2
			}
			for range steps {
				w.step()
			}
			if done, err := f.Poll(deliver); done || err != nil {
				t.Fatalf("seed %d: done %v, %v", seed, done, err)
			}
			polls = append(polls, poll{f.Found(), w.handed})
		}
		// Carries that were not repeated in two laps are dropped, four times a lap. A lap has as
		// many chunks as the follower finds, and at least 64.
		since := int64(0)
		for _, p := range polls {
			if p.found < f.Found()-(2*64+64/4) {
				since = p.handed - int64(w.ring) // what it had not read yet
			}
		}
		kept, carried := f.Entries()
		if most, rest := w.entries(since); carried > most || kept-carried > rest {
			t.Errorf("seed %d: %d entries and %d carried after %d chunks, which now have %d and %d", seed, kept-carried, carried, w.handed, rest, most)
		}
		if w.handed-handed < 2*w.limit {
			t.Fatalf("seed %d: only %d chunks were handed out", seed, w.handed-handed)
		}
		w.settle(closes)
		r.still = true
		for done, polls := false, 0; !done && polls < 2000; polls++ {
			if done, err = f.Poll(deliver); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if done != closes && polls > 1900 {
				t.Fatalf("seed %d: done is %v", seed, done)
			}
		}
		missed = f.Missed() - missed
		if missed > w.handed-handed || !slow && missed != 0 {
			t.Fatalf("seed %d: %d chunks were missed of %d", seed, missed, w.handed-handed)
		}
		if missed > 0 {
			lapped++
		}
		for _, s := range w.truth {
			_, end := w.readable(s)
			if missed == 0 {
				end = s.ended && s.published // it was delivered at its time
			}
			if end && !got[s.start] && (!after[s.start] || fromStart && there[s.start]) {
				t.Fatalf("seed %d: not delivered, %d missed: %+v, %+v, %+v, %+v", seed, missed, s, s.chunk, s.apart, s.carriedIn)
			}
		}
		open := map[int64]bool{}
		var last int64
		err = f.Open(func(e *trace.Event) bool {
			s := w.truth[e.Start+1000]
			if !e.Open || s == nil || s.ended && missed == 0 || open[s.start] || e.Start < last {
				t.Fatalf("seed %d: open: %+v, want %+v", seed, e, s)
			}
			if err := w.check(e, f.Trace().Name(e.Name)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			last = e.Start
			open[s.start] = true
			return true
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, s := range w.truth {
			if begin, _ := w.readable(s); begin && !s.ended && !open[s.start] {
				t.Fatalf("seed %d: not delivered as open: %+v", seed, s)
			}
		}
		again, err := trace.Open(r, w.size)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := schedOf(t, f.Trace()), schedOf(t, again); got != want || got == "" {
			t.Errorf("seed %d: followed:\n%s\nis there:\n%s", seed, got, want)
		}
		n, base := int64(-1), int64(-1)
		err = errors.Join(again.EachLockSums(func(l *format.LockSums) bool {
			if l.Contended <= n {
				t.Fatalf("seed %d: the lock block %d comes after %d", seed, l.Contended, n)
			}
			n = l.Contended
			return true
		}), again.EachSwitches(func(s *format.Switches) bool {
			if s.Base <= base {
				t.Fatalf("seed %d: switches from %d on come after those from %d on", seed, s.Base, base)
			}
			base = s.Base
			return true
		}))
		if err != nil || n < 0 || base < 0 {
			t.Errorf("seed %d: blocks up to %d and %d, %v", seed, n, base, err)
		}
		o := f.Trace().Overwritten()
		if o.Records != w.records || o.Until != w.until-1000 {
			t.Errorf("seed %d: %+v overwritten, want %d, all there from %d", seed, o, w.records, w.until)
		}
		for _, p := range f.Problems() {
			if p.Damage() {
				t.Errorf("seed %d: %+v", seed, p)
			}
		}
	}
	if lapped == 0 {
		t.Error("no follower was ever lapped")
	}
}

// TestRingMissedAtTheEnd checks that Missed counts what is overwritten between the last poll and
// the closing of the trace: nothing else can come then.
func TestRingMissedAtTheEnd(t *testing.T) {
	if trace.RaceEnabled {
		t.Skip("it has one goroutine, and takes long with the race detector")
	}
	tried := 0
	for seed := uint64(1); seed <= 16; seed++ {
		w := newRingWriter(seed, 40)
		f, err := trace.NewFollower(&tearingRing{w: w, still: true}, func() (int64, error) { return w.size, nil }, trace.FollowOptions{FromStart: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := map[int64]bool{}
		poll := func() (done bool) {
			done, err := f.Poll(func(e *trace.Event) bool {
				got[e.Start+1000] = true
				return true
			})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return done
		}
		for range 100 {
			for range 1500 {
				w.step()
			}
			poll()
		}
		if n := f.Missed(); n != 0 {
			t.Errorf("seed %d: %d chunks were missed, and none was", seed, n)
		}
		// Chunks that may have grown since they were read are gone once chunks that were not begun
		// then are gone.
		found, cut := w.handed, map[*simRing]bool{}
		for _, s := range w.truth {
			if c := s.chunk; c != nil && (slices.Contains(w.owners, c) || c.busy > 0) {
				cut[c] = true
			}
		}
		missed := map[*simRing]bool{}
		for len(missed) == 0 {
			for range 500 {
				w.step()
			}
			for _, s := range w.truth {
				if c := s.chunk; s.kind == format.KindEvent && s.published && c.gone && c.nth >= found {
					missed[c] = true
				}
			}
		}
		w.settle(true)
		for polls := 0; !poll(); polls++ {
			if polls == 100 {
				t.Fatalf("seed %d: it is never done", seed)
			}
		}
		if w.handed/w.limit != found/w.limit {
			continue // the number of chunks in the last lap is not known
		}
		tried++
		for c := range cut {
			if c.gone {
				missed[c] = true
			}
		}
		if n := f.Missed(); n < int64(len(missed)) {
			t.Errorf("seed %d: %d chunks were missed, and it says %d", seed, len(missed), n)
		}
	}
	if tried == 0 {
		t.Error("all were overwritten while numbers began again")
	}
}

// schedOf renders the blocks that are read on demand.
func schedOf(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	b, err := readSched(nil, tr)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// ended returns the scopes that had ended, by start.
func ended(w *ringWriter) map[int64]bool {
	m := map[int64]bool{}
	for start, s := range w.truth {
		if s.ended && s.kind != format.KindTrack || s.kind == format.KindTrack && s.published {
			m[start] = true
		}
	}
	return m
}
