package trace_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// check compares a delivered event with the model's.
func (w *ringWriter) check(e *trace.Event, name string) error {
	s := w.truth[e.Start+1000]
	switch {
	case s == nil:
		return fmt.Errorf("an event at %d, where there is none", e.Start)
	case e.Kind != s.kind || e.Goid != s.goid || name != simName(s.name) || int64(e.Loc) != s.loc:
		return fmt.Errorf("event %+v of %+v", e, s)
	case e.Thread != 0 && (e.Thread != s.thread || e.Owner+100 != s.thread):
		return fmt.Errorf("event %+v of %+v", e, s)
	case e.Thread == 0 && (!s.chunk.gone || s.apart == nil || e.Open):
		return fmt.Errorf("event %+v, and its thread was to be known, of %+v", e, s)
	case len(e.Args) != 0 && (len(e.Args) != 5 || e.Args[0].Value != s.arg || e.Args[4].Value != s.arg):
		return fmt.Errorf("arguments %v of %+v", e.Args, s)
	case len(e.Args) == 0 && s.arg != 0 && e.Thread != 0:
		return fmt.Errorf("no arguments of %+v", s)
	case s.kind != format.KindTask:
		if e.Dur != 0 || e.Open {
			return fmt.Errorf("event %+v of an instant", e)
		}
		return nil
	case e.Open:
		return nil
	case s.stop < 0:
		return fmt.Errorf("%+v ended, and %+v did not", e, s)
	case e.Dur != s.stop-s.start || e.CPU != int64(s.cpu>>2) || e.Quality != format.Likely:
		return fmt.Errorf("end %+v of %+v", e, s)
	case len(e.EndArgs) != 0 && (len(e.EndArgs) != 1 || e.EndArgs[0].Value != s.endArg):
		return fmt.Errorf("end arguments %v of %+v", e.EndArgs, s)
	case len(e.EndArgs) == 0 && s.endArg != 0 && !s.carriedEnd:
		return fmt.Errorf("no end arguments of %+v", s)
	case len(e.EndArgs) != 0 && s.endBy != s.goid && e.EndGoid != s.endBy:
		return fmt.Errorf("ended by %d, want %+v", e.EndGoid, s)
	}
	return nil
}

// readable reports what a reader must find of s now: its begin, and its end.
func (w *ringWriter) readable(s *ringScope) (begin, end bool) {
	begin, end = s.in(func(c *simRing) bool { return c != nil && !c.gone })
	if begin && !end && s.markedApart && s.start < w.until {
		return false, false // only its end is known
	}
	return begin, end
}

// stillReadable is here for what a reader may find: chunks that are to be overwritten are still there
// for a while.
func (w *ringWriter) stillReadable(s *ringScope) (begin, end bool) {
	return s.in(func(c *simRing) bool { return c != nil && !c.zeroed })
}

// in reports which parts of s are in the chunks that exist.
func (s *ringScope) in(there func(*simRing) bool) (begin, end bool) {
	if s.published && there(s.chunk) {
		return true, s.ended && (s.apart == nil || there(s.apart))
	}
	carried := there(s.carriedIn)
	if s.ended && there(s.apart) && (carried || !s.noBegin) {
		return true, true
	}
	if carried {
		return true, s.carriedEnd || s.kind != format.KindTask
	}
	return false, false
}

const ringSeeds = 16

func seedsOf(n uint64) uint64 {
	if trace.RaceEnabled || testing.Short() {
		return max(n/8, 1)
	}
	return n
}

// TestRing checks that a ring's contents at a moment are read completely and correctly: every
// record whose chunk exists, every scope whose end exists, and the carries.
func TestRing(t *testing.T) {
	for seed := uint64(1); seed <= seedsOf(ringSeeds); seed++ {
		w := newRingWriter(seed, 20)
		for range 8 {
			for range 8000 + w.rnd.IntN(30000) {
				w.step()
			}
			w.reads(t, seed)
			if t.Failed() {
				return
			}
		}
		if w.handed < 2*w.limit {
			t.Fatalf("seed %d: only %d chunks were handed out", seed, w.handed)
		}
		w.settle(true)
		w.reads(t, seed)
		findings, err := trace.Verify(bytes.NewReader(w.image), w.size)
		findings = slices.DeleteFunc(findings, func(f trace.Finding) bool {
			return strings.Contains(f.Text, "neither the end nor a carry describes") // the model has such ends now and then
		})
		if err != nil || len(findings) > 0 {
			t.Errorf("seed %d: Verify: %v, %v", seed, findings, err)
		}
	}
}

// reads reads the ring's present contents and compares them with the model's.
func (w *ringWriter) reads(t *testing.T, seed uint64) {
	tr, err := trace.Open(&tearingRing{w: w, still: true}, w.size)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	got := map[int64]bool{}
	tracks := map[uint64]uint16{}
	rows := map[uint64][]int64{}
	var last int64
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		s := w.truth[e.Start+1000]
		if err := w.check(e, tr.Name(e.Name)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		begin, end := w.readable(s)
		may, mayEnd := w.stillReadable(s)
		if got[s.start] || !may || e.Open && begin && end || !e.Open && s.kind == format.KindTask && !mayEnd || e.Start < last {
			t.Fatalf("seed %d: %+v, delivered %v, there %v and %v, %+v, %+v, %+v", seed, e, got[s.start], begin, end, s, s.apart, s.carriedIn)
		}
		got[s.start], last = true, e.Start
		depth := int32(0)
		for _, stop := range rows[e.Goid] {
			if stop > e.Start {
				depth++
			}
		}
		if e.Kind == format.KindTrack {
			tracks[e.Goid] = e.Name
		}
		if e.Depth != depth || e.Track != tracks[e.Goid] {
			t.Fatalf("seed %d: depth %d, row %d, want %d, %d: %+v", seed, e.Depth, e.Track, depth, tracks[e.Goid], e)
		}
		if e.Kind == format.KindTask {
			stop := e.Start + e.Dur
			if e.Open {
				stop = 1 << 60
			}
			rows[e.Goid] = append(rows[e.Goid], stop)
		}
		return true
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for _, s := range w.truth {
		if begin, _ := w.readable(s); begin && !got[s.start] {
			t.Fatalf("seed %d: not delivered: %+v", seed, s)
		}
	}
	for _, s := range w.track {
		if begin, _ := w.readable(s); !begin || tracks[s.goid] != s.name {
			t.Fatalf("seed %d: row %d is called %d, want %+v", seed, s.goid, tracks[s.goid], s)
		}
	}
	o := tr.Overwritten()
	if o.Records != w.records || o.Until != max(w.until-1000, 0) || o.Chunks != 0 {
		t.Fatalf("seed %d: %+v overwritten, want %d, all there from %d", seed, o, w.records, w.until)
	}
	for _, p := range tr.Problems() {
		if p.Damage() || strings.Contains(p.Text, "no begin") {
			t.Fatalf("seed %d: %+v", seed, p)
		}
	}
}

// TestRingLive checks that Events on a ring that is being overwritten returns only what its writers
// recorded, and everything that was there from the beginning to the end.
func TestRingLive(t *testing.T) {
	gone := int64(0)
	for seed := uint64(100); seed < 100+seedsOf(ringSeeds); seed++ {
		w := newRingWriter(seed, 40)
		r := &tearingRing{w: w, rate: []int{3, 30, 300}[seed%3]}
		for range 60000 + w.rnd.IntN(20000) {
			w.step()
		}
		for range 10 {
			overwritten := w.overwritten
			before := map[int64]bool{}
			for _, s := range w.truth {
				if begin, end := w.readable(s); begin {
					before[s.start] = end
				}
			}
			tr, err := trace.Open(r, w.size)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			var last int64
			err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
				if err := w.check(e, tr.Name(e.Name)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				end, was := before[e.Start+1000]
				slow := w.overwritten-overwritten > int64(w.ring/4) // see addresses.go
				if e.Start < last || was && end && e.Open && !slow {
					s := w.truth[e.Start+1000]
					t.Fatalf("seed %d: %+v after one at %d, ended before %v\n%+v\n%+v\n%+v\n%+v, %d %d %d %+v", seed, e, last, end, s, s.chunk, s.apart, s.carriedIn, w.overwritten, overwritten, w.now, tr.Overwritten())
				}
				last = e.Start
				delete(before, e.Start+1000)
				return true
			})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for start := range before {
				if s := w.truth[start]; !s.chunk.gone && (!s.markedApart || s.ended && !s.apart.gone) {
					t.Fatalf("seed %d: not delivered, and was there all the time: %+v", seed, s)
				}
			}
			for _, p := range tr.Problems() {
				if p.Damage() {
					t.Fatalf("seed %d: %+v", seed, p)
				}
			}
			o := tr.Overwritten()
			gone += o.Chunks
			if o.Records > w.records || o.Until > w.until-1000 {
				t.Fatalf("seed %d: %+v overwritten, in truth %d, %d", seed, o, w.records, w.until)
			}
		}
	}
	if gone == 0 {
		t.Error("no chunk was ever overwritten as it was read")
	}
}
