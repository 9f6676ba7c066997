//go:build linux

package victim

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Worker is a goroutine of the victim.
type Worker struct {
	Me int
	Config
	l     *ledger
	begin time.Time
	kept  uint64
	done  uint64 // number of kept scopes that have ended
}

// Work is the function of a worker, which returns when Stopped returns true.
type Work func(w *Worker)

// Stopped reports whether the worker must end.
func (w *Worker) Stopped() bool { return w.l.load(wordStop) != 0 }

// Begun, Kept and Ended count scope n for the test, in the order of n: Begun before the
// begin, Kept after the begin has returned, with whether the recorder accepted the scope,
// Ended after the end has returned.
func (w *Worker) Begun(n uint64) { w.l.store(of(w.Me, workBegun), n+1) }

// Kept is documented at Begun.
func (w *Worker) Kept(kept bool) {
	if kept {
		w.kept++
		w.l.store(of(w.Me, workKept), w.kept)
	}
}

// Ended is documented at Begun.
func (w *Worker) Ended(n uint64, kept bool) {
	if kept {
		w.done++
		w.l.store(of(w.Me, workKeptEnded), w.done)
		w.l.store(of(w.Me, workLast), n+1)
	}
	w.l.store(of(w.Me, workEnded), n+1)
}

// Also adds n issued records that are not scopes of Begun.
func (w *Worker) Also(n uint64) {
	i := of(w.Me, workAlso)
	w.l.store(i, w.l.load(i)+n)
}

func (w *Worker) took(histogram int, d time.Duration) {
	ns := uint64(max(0, d))
	i := of(w.Me, histogram+bucket(ns))
	w.l.store(i, w.l.load(i)+1)
	if i = of(w.Me, workWorst); histogram == workHistogram && ns > w.l.load(i) {
		w.l.store(i, ns)
	}
}

// SetUser sets one of the 32 words of the work.
func (w *Worker) SetUser(i int, v uint64) { w.l.store(wordUser+i, v) }

// Numbers is the default work: scopes with their number as argument.
func Numbers(w *Worker) {
	for n := uint64(0); !w.Stopped() && (w.Scopes == 0 || n < w.Scopes); n++ {
		w.Begun(n)
		var kept bool
		if w.Timed {
			kept = w.timed(n)
		} else {
			s := scope.Begin(Name, w.Me, int(n))
			kept = s != (scope.Span{})
			w.Kept(kept)
			s.End()
		}
		w.Ended(n, kept)
		if w.Pause > 0 && n%uint64(w.Burst) == uint64(w.Burst)-1 {
			time.Sleep(w.Pause)
		}
	}
}

// timed measures begin and end of a scope together and, for comparison on a loaded machine,
// the same without a scope.
func (w *Worker) timed(n uint64) bool {
	t0 := time.Since(w.begin)
	s := scope.Begin(Name, w.Me, int(n))
	s.End()
	t1 := time.Since(w.begin)
	t2 := time.Since(w.begin)
	w.took(workHistogram, t1-t0)
	w.took(workFloor, t2-t1)
	kept := s != (scope.Span{})
	w.Kept(kept)
	return kept
}

// collect runs the garbage collector repeatedly, and stores its longest pause and its
// longest run.
func collect(l *ledger) {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	var before []uint64
	for l.load(wordStop) == 0 {
		begin := time.Now()
		runtime.GC()
		if d := uint64(time.Since(begin)); d > l.load(wordCollection) {
			l.store(wordCollection, d)
		}
		metrics.Read(sample)
		h := sample[0].Value.Float64Histogram()
		longest := uint64(0)
		for i, n := range h.Counts {
			if before != nil && n > before[i] {
				longest = uint64(min(h.Buckets[i+1], 1e6) * 1e9)
			}
		}
		before = append(before[:0], h.Counts...)
		if longest > l.load(wordPause) {
			l.store(wordPause, longest)
		}
		l.store(wordCollect, l.load(wordCollect)+1)
		time.Sleep(5 * time.Millisecond)
	}
}

// beat sleeps for 1 ms repeatedly, and stores the longest excess.
func beat(l *ledger) {
	for last := time.Now(); l.load(wordStop) == 0; {
		time.Sleep(time.Millisecond)
		now := time.Now()
		if d := uint64(now.Sub(last)); d > l.load(wordStall) {
			l.store(wordStall, d)
		}
		last = now
	}
}

// poll stores the recorder's counts.
func poll(l *ledger) {
	for l.load(wordDone) == 0 {
		report(l)
		time.Sleep(2 * time.Millisecond)
	}
}

func report(l *ledger) {
	s := scope.Stats()
	l.store(wordRecorded, uint64(s.Recorded))
	l.store(wordOverwritten, uint64(s.Overwritten))
	for i, n := range reasons(&s.Lost) {
		l.store(wordLost+i, uint64(*n))
	}
	l.store(wordPolls, l.load(wordPolls)+1)
}

// reasons returns the fields of l in order.
func reasons(l *scope.Lost) []*int64 {
	return []*int64{&l.Window, &l.Limit, &l.Space, &l.IO, &l.Busy, &l.Stop, &l.Ends, &l.Stacks, &l.Opens, &l.Buffer}
}
