//go:build linux

package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// The names of a writer's scopes and rows.
const (
	nameStep   = "soak step"
	nameInner  = "soak inner"
	nameMixed  = "soak mixed"
	nameHanded = "soak handed over"
	nameBatch  = "soak batch"
	nameLong   = "soak, all of it"
	nameSlow   = "soak slow"

	rowWorker = "soak worker"
	rowEnder  = "soak ender"
	rowBatch  = "soak batches"
	rowMain   = "soak main"
	rowSlow   = "soak slow"
)

// writer is the recording process. Its ledger is descriptor 3.
type writer struct {
	path    string
	ring    int64
	rate    int    // scopes per second; 0: as fast as it can
	trigger string // directory for snapshots of what is slow; "": none
	*ledger
	clock  monotonic
	issues atomic.Int64
	named  sync.WaitGroup // until all rows have their names
}

// record records until stopped by the parent, or killed.
func (w *writer) record() (err error) {
	if w.ledger, err = mapLedger(os.NewFile(3, "ledger")); err != nil {
		return err
	}
	w.clock = newMonotonic()
	opts := []scope.Option{scope.WithRing(w.ring)}
	if w.trigger != "" {
		opts = append(opts, scope.WithTrigger(nameSlow, slow/2, w.trigger))
	}
	if err := scope.Start(w.path, opts...); err != nil {
		return err
	}
	scope.Track(rowMain)
	scope.Begin(nameLong, "an argument", scope.KV("key", 7)) // open as long as we live
	w.issues.Add(2)

	var done sync.WaitGroup
	w.named.Add(2*workers + 1)
	if w.trigger != "" {
		w.named.Add(1)
		done.Go(w.slow)
	}
	for i := range workers {
		done.Go(func() { w.work(i) })
	}
	done.Go(w.batch)
	done.Go(w.poll)
	// Not before: a name that comes while everybody writes as fast as they can may
	// be lost like any record.
	w.named.Wait()
	w.recording.Store(true)
	done.Wait()
	if err := scope.Stop(); err != nil {
		return err
	}
	s := scope.Stats()
	w.issued.Store(w.issues.Load())
	w.recorded.Store(s.Recorded)
	w.overwritten.Store(s.Overwritten)
	w.lost.Store(s.Lost.Total())
	w.lostWindow.Store(s.Lost.Window)
	w.lostEnds.Store(s.Lost.Ends)
	w.snapshots.Store(s.Snapshots)
	return s.LastError
}

// name sets the name of the caller's row.
func (w *writer) name(row string) {
	scope.Track(row)
	w.named.Done()
}

// work is one worker: steps, each with scopes inside.
func (w *writer) work(me int) {
	w.name(fmt.Sprint(rowWorker, " ", me))
	issued := int64(1)
	defer func() { w.issues.Add(issued) }()

	spans, back := make(chan scope.Span), make(chan bool)
	defer close(spans)
	scope.Go(fmt.Sprint(rowEnder, " ", me), func() {
		w.named.Done()
		w.end(spans, back)
	})
	issued++
	w.named.Wait()

	a := &w.workers[me]
	p := pace{perMS: float64(w.rate) / 1000 / workers, begin: time.Now()}
	for n := uint64(0); !w.stop.Load(); n++ {
		timed := n%a.every == 0
		var t0, t1, t2, t3 int64
		a.begun.Store(n + 1)
		if timed {
			t0 = w.clock.now()
		}
		s := scope.Begin(nameStep, me, int(n))
		if timed {
			t1 = w.clock.now()
		}
		scope.Task(nameInner)()
		issued += 2
		if n%mixedEach == 0 {
			scope.Task(nameMixed, n, "a text", scope.KV("worker", me))()
			issued++
		}
		if timed {
			t2 = w.clock.now()
		}
		unsure := false
		if n%foreignEach == foreignEach-1 {
			spans <- s
			unsure = <-back
			issued++
		} else {
			s.End()
		}
		if timed {
			t3 = w.clock.now()
			a.times[n/a.every%timesKept].store(n, t0, t1, t2, t3)
		}
		fate := n << 2
		if s != (scope.Span{}) {
			fate |= keptBit
		}
		if unsure {
			fate |= unsureBit
		}
		a.fate[n%remembered].Store(fate)
		a.ended.Store(n + 1)
		if w.rate > 0 {
			w.behind.Add(p.wait(issued))
		}
	}
}

// end ends a worker's spans on another goroutine.
func (w *writer) end(spans <-chan scope.Span, back chan<- bool) {
	for s := range spans {
		unsure := end(s)
		scope.Task(nameHanded)()
		back <- unsure
	}
}

// end ends a span whose end is a record of its own, and reports whether that may be
// lost: lost ends are only counted.
func end(s scope.Span) (unsure bool) {
	before := scope.Stats().Lost.Ends
	s.End()
	return scope.Stats().Lost.Ends != before
}

// batch makes scopes that outlive the chunk in which they began: their ends can't
// complete them in place.
func (w *writer) batch() {
	w.name(rowBatch)
	issued := int64(1)
	defer func() { w.issues.Add(issued) }()
	inRing := w.ring / 32 // records, if all are plain
	for n := uint64(0); !w.stop.Load(); n++ {
		was := scope.Stats().Overwritten
		t0 := w.clock.now()
		s := scope.Begin(nameBatch, int(n))
		t1 := w.clock.now()
		issued++
		for scope.Stats().Overwritten < was+2*inRing && !w.stop.Load() {
			time.Sleep(time.Millisecond)
		}
		gone := !w.stop.Load()
		t2 := w.clock.now()
		unsure := end(s)
		t3 := w.clock.now()
		if b := &w.batches[n%batchesKept]; gone {
			b.n.Store(0)
			b.kept, b.unsure = s != (scope.Span{}), unsure
			b.store(n, t0, t1, t2, t3)
		}
		w.batched.Store(n + 1)
	}
}

// slow is the duration of a scope that triggers a snapshot.
const slow = 20 * time.Millisecond

// slow creates such a scope from time to time.
func (w *writer) slow() {
	w.name(rowSlow)
	w.issues.Add(1)
	for !w.stop.Load() {
		s := scope.Begin(nameSlow)
		time.Sleep(slow)
		s.End()
		w.issues.Add(1)
		time.Sleep(50 * slow)
	}
}

// poll stores the number of ends that found no place. It counts all steps that had ended
// when it was called.
func (w *writer) poll() {
	for !w.stop.Load() {
		var ended [workers]uint64
		for i := range ended {
			ended[i] = w.workers[i].ended.Load()
		}
		w.lostEnds.Store(scope.Stats().Lost.Ends)
		for i := range ended {
			w.polled[i].Store(ended[i])
		}
		time.Sleep(2 * time.Millisecond)
	}
}
