package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/internal/heartbeat"
	"github.com/scopeview/scopeview/scope"
)

// aroundRows measures the cost of recording besides the scopes themselves.
func aroundRows(b *bench) []row {
	return append([]row{b.faultsRow(), b.switchRow()}, b.heartbeatRows()...)
}

// faultsRow counts page faults of a thread that records a million scopes: the flusher must
// have prefaulted all pages.
func (b *bench) faultsRow() row {
	const name = "page faults of a worker over 10⁶ scopes, warm"
	const n = 1_000_000
	var faults []float64
	var failed error
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t, err := b.recording(job{
		warm: func() { paced(2*n, gentle) },
		run: func() {
			for range b.rounds {
				before, err := threadFaults()
				for range 10 { // not faster than the window is prepared: another row measures losses
					hot.Tasks(n / 10)
					time.Sleep(5 * time.Millisecond)
				}
				after, errAfter := threadFaults()
				failed = errors.Join(failed, err, errAfter)
				faults = append(faults, float64(after-before))
				time.Sleep(100 * time.Millisecond) // the window is to be what it was
			}
		},
	})
	if err := errors.Join(err, failed); err != nil {
		return broken(name, err)
	}
	q := quantity{median(faults), "faults"}
	return row{name: name, value: q, judge: q, fault: t.kept(int64(b.rounds * n))}
}

// switchRow measures the overhead of the witness of thread switches per switch: two threads
// that alternate on one CPU, recorded against not recorded.
func (b *bench) switchRow() row {
	return b.addedToSwitch("a thread switch, for its witness", func() { scope.Task("f1")() }, job{})
}

// addedToSwitch measures the overhead of a recording, in which each turn runs turn, per
// switch between two threads that alternate on one CPU.
func (b *bench) addedToSwitch(name string, turn func(), recorded job) row {
	var off, on []float64
	for range b.rounds {
		ns, err := switchTime(func() {})
		if err != nil {
			return broken(name, err)
		}
		off = append(off, ns)
		recorded.run = func() { ns, err = switchTime(turn) }
		if _, errRec := b.recording(recorded); errRec != nil || err != nil {
			return broken(name, errors.Join(errRec, err))
		}
		on = append(on, ns)
	}
	return row{
		name: name, value: quantity{median(on) - median(off), "ns"},
		note: fmt.Sprintf("added to %.0f ns", median(off)),
	}
}

// heartbeatRows measures a beat amid 100 threads and 10,000 goroutines.
func (b *bench) heartbeatRows() []row {
	const name = "a heartbeat at 100 threads and 10,000 goroutines"
	defer crowd(100, 10_000)()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var spent []float64
	for range 10 * b.rounds {
		s := heartbeat.New() // its first beat always reads the threads
		before, err := threadTime()
		if err != nil {
			return []row{broken(name, err)}
		}
		s.Sample(nil, nil)
		after, err := threadTime()
		if err != nil {
			return []row{broken(name, err)}
		}
		spent = append(spent, float64(after-before)/1e3)
	}
	us := median(spent)
	sample := row{
		name: name, value: quantity{us, "µs"}, note: "judged as a share of one CPU at a beat a second",
		judge: quantity{us / 1e6 * 100, "%"}, goal: 0.1, must: 0.2,
	}
	return []row{sample, b.idleRow()}
}

// idleRow measures the whole cost of a recording for an idle program.
func (b *bench) idleRow() row {
	const name = "  all that an idle recording costs there"
	const span = 4 * time.Second
	spend := func() float64 {
		before := processTime()
		time.Sleep(span)
		return 100 * float64(processTime()-before) / float64(span)
	}
	var off, on []float64
	for range b.rounds {
		off = append(off, spend())
		if _, err := b.recording(job{run: func() { on = append(on, spend()) }}); err != nil {
			return broken(name, err)
		}
	}
	return row{
		name: name, value: quantity{median(on) - median(off), "%"},
		note: fmt.Sprintf("of a CPU; without it the program takes %.2f %%", median(off)),
	}
}

// crowd starts goroutines that wait, some on threads of their own, until the
// returned function is called.
func crowd(threads, goroutines int) (leave func()) {
	end := make(chan struct{})
	var ready, gone sync.WaitGroup
	wait := func(lock bool) {
		ready.Add(1)
		gone.Go(func() {
			if lock {
				runtime.LockOSThread()
			}
			ready.Done()
			<-end
		})
	}
	for range threads {
		wait(true)
	}
	for range goroutines {
		wait(false)
	}
	ready.Wait()
	return func() { close(end); gone.Wait() }
}
