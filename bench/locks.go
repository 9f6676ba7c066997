package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// The locks of the rows. In a recording, locks that were once contended cost more than
// others.
var (
	syncMutex    sync.Mutex
	scopeMutex   = scope.Mutex{Name: "free"}
	knownMutex   = scope.Mutex{Name: "once contended"}
	syncRWMutex  sync.RWMutex
	scopeRWMutex = scope.RWMutex{Name: "free"}
)

//go:noinline
func lockSync() { syncMutex.Lock(); syncMutex.Unlock() }

//go:noinline
func lockScope() { scopeMutex.Lock(); scopeMutex.Unlock() }

//go:noinline
func lockKnown() { knownMutex.Lock(); knownMutex.Unlock() }

//go:noinline
func readSync() { syncRWMutex.RLock(); syncRWMutex.RUnlock() }

//go:noinline
func readScope() { scopeRWMutex.RLock(); scopeRWMutex.RUnlock() }

//go:noinline
func retryNone() {
	r := scope.Retry("free")
	r.Done()
}

// lockRows measures uncontended locks, and one contended by two goroutines.
func lockRows(b *bench) []row {
	each := func(f func()) hot.Loop { return hot.Timed(func(n int) { hot.Each(n, f) }) }
	loops := []hot.Loop{
		each(hot.Empty[0]), each(lockSync), each(lockScope), each(lockKnown),
		each(readSync), each(readScope), each(retryNone),
	}
	stopped := b.measure(idlePlan, loops...)
	var ts times
	t, err := b.recording(job{
		warm: func() {
			waitOnce(&knownMutex)
			b.warm(idlePlan, loops...)
		},
		run: func() { ts = b.measure(idlePlan, loops...) },
	})
	if err != nil {
		return []row{broken("locks", err)}
	}
	fault := ""
	if t.recorded != 0 || t.lost != 0 {
		fault = fmt.Sprintf("%d records and %d losses of uncontended locks", t.recorded, t.lost)
	}
	more := func(name string, ts times, loop, than int, of string, goal, must float64) row {
		r := over(name, ts.ns(loop), 0, ts.over(loop, than), goal, must)
		r.note, r.fault = fmt.Sprintf("%s takes %.1f ns; %s", of, ts.ns(than), ts.note()), fault
		return r
	}
	rows := []row{
		more("scope.Mutex, nobody waits", ts, 2, 1, "sync.Mutex", 3, 5),
		more("the same, somebody once waited", ts, 3, 1, "sync.Mutex", 4, 5),
		more("the same, not recording", stopped, 2, 1, "sync.Mutex", 3, 5),
		more("scope.RWMutex, a reader, nobody waits", ts, 5, 4, "sync.RWMutex", 3, 5),
		more("scope.Retry, the first try succeeds", ts, 6, 0, "an empty call", 2, 4),
	}
	return append(rows, b.contendedRows()...)
}

// waitOnce makes a goroutine wait for m.
func waitOnce(m *scope.Mutex) {
	m.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		m.Lock()
		m.Unlock()
	})
	time.Sleep(10 * time.Millisecond)
	m.Unlock()
	wg.Wait()
}

// The work of two goroutines with a lock: some under it, and as much without it.
const (
	underLock    = 150 // steps, of about a ns
	fightRounds  = 20_000
	fightsApart  = 20 * time.Millisecond
	fighters     = 2
	fightsAtOnce = 20
)

//go:noinline
func work(n int) (x uint64) {
	for i := range n {
		x = x*3 + uint64(i)
	}
	return x
}

// fight makes two goroutines use l, and returns the time of a round.
func fight(l sync.Locker, counter *int) float64 {
	var wg sync.WaitGroup
	begin := time.Now()
	for range fighters {
		wg.Go(func() {
			for range fightRounds {
				l.Lock()
				*counter++
				work(underLock)
				l.Unlock()
				work(underLock)
			}
		})
	}
	wg.Wait()
	return float64(time.Since(begin)) / (fighters * fightRounds)
}

// contendedRows measures the contention for sync's lock and for ours, in turn.
func (b *bench) contendedRows() []row {
	const name = "two goroutines at one scope.Mutex, a round"
	if runtime.GOMAXPROCS(0) < 2 {
		return []row{broken(name, errors.New("there is one CPU"))}
	}
	bare, watched := new(sync.Mutex), &scope.Mutex{Name: "fought for"}
	var bareNS, ns, ratios []float64
	var counted [2]int
	var sums format.LockSums
	waits := int64(0)
	t, err := b.recording(job{
		warm: func() {
			fight(bare, new(int))
		},
		run: func() {
			for range b.rounds * fightsAtOnce {
				a := fight(bare, &counted[0])
				c := fight(watched, &counted[1])
				bareNS, ns, ratios = append(bareNS, a), append(ns, c), append(ratios, c/a)
				time.Sleep(fightsApart) // the window is prepared again
			}
		},
		read: func(t tally) (err error) {
			sums, waits, err = readLockSums(t.path)
			return err
		},
	})
	if err != nil {
		return []row{broken(name, err)}
	}
	r := row{name: name, value: quantity{median(ns), "ns"}, judge: quantity{median(ratios), "×"}, goal: 1.2, must: 1.5}
	r.note = fmt.Sprintf("sync.Mutex: %.1f ns; %.1f %% contended, %d waits recorded", median(bareNS), 100*float64(sums.Contended)/float64(sums.Acquired), waits)
	n := len(ns) * fighters * fightRounds
	switch {
	case counted != [2]int{n, n}:
		r.fault = fmt.Sprintf("counted to %d and %d under the locks, want %d", counted[0], counted[1], n)
	case t.lost != 0:
		r.fault = fmt.Sprintf("%d records were lost", t.lost)
	case sums.Acquired != int64(n) || sums.Contended != sums.Short+waits:
		r.fault = fmt.Sprintf("the trace has %d acquisitions, %d contended, %d briefly, %d waits; want %d", sums.Acquired, sums.Contended, sums.Short, waits, n)
	}
	return []row{r}
}

// readLockSums returns the lock sums in a trace.
func readLockSums(path string) (sums format.LockSums, waits int64, err error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return sums, 0, err
	}
	defer t.Close()
	err = t.EachLockSums(func(l *format.LockSums) bool {
		if t.Name(l.Name) != "fought for" {
			return true
		}
		sums.Acquired += l.Acquired
		sums.Contended += l.Contended
		sums.Short += l.Short
		return true
	})
	if err != nil {
		return sums, 0, err
	}
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindWait && e.Dur > 0 {
			waits++
		}
		return true
	})
	return sums, waits, err
}
