//go:build !scope_off

package record_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	. "github.com/scopeview/scopeview/scope"
)

// sumsOf returns the sums of locks in the last trace, by name.
func sumsOf(t *testing.T) map[string]format.LockSums {
	t.Helper()
	tr := tracetest.OpenFile(t, Path())
	all := map[string]format.LockSums{}
	err := tr.EachLockSums(func(l *format.LockSums) bool {
		name := tr.Name(l.Name)
		s, ok := all[name]
		if !ok {
			s = format.LockSums{Addr: l.Addr, Kind: l.Kind}
		}
		if s.Acquired += l.Acquired; l.Acquired < 0 {
			s.Acquired = -1
		}
		s.Contended += l.Contended
		s.Short += l.Short
		s.ShortWait += l.ShortWait
		all[name] = s
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// waiters returns the number of goroutines that wait for a lock.
func waiters(l *record.LockState) int { return l.Waiters() }

// goid returns the caller's id, as the reader shows it.
func goid() uint64 { return record.Current.Load().Goids().Get() & format.MaxGoid }

// wantedHolder returns the holder that a wait should record.
func wantedHolder(goid uint64) uint64 {
	if !record.Current.Load().Goids().Fast() {
		return 0
	}
	return goid
}

func addr(l *record.LockState) uint64 { return uint64(fmtAddr(fmt.Sprintf("%p", l))) }

func fmtAddr(s string) (v uintptr) {
	fmt.Sscanf(s, "0x%x", &v)
	return v
}

// lockLine holds the recorded facts of a wait or a hold.
type lockLine struct {
	kind   format.Kind
	name   string
	open   bool
	addr   uint64
	holder uint64
	what   uint64
}

func (r *recorded) locks() (lines []lockLine) {
	for i := range r.events {
		if e := &r.events[i]; e.Kind == format.KindWait || e.Kind == format.KindHold {
			lines = append(lines, lockLine{e.Kind, e.name, e.Open, e.Args[0].Value, e.Args[1].Value, e.Args[2].Value})
		}
	}
	return lines
}

// TestWhoHadIt: a goroutine waits for a lock with a known holder.
func TestWhoHadIt(t *testing.T) {
	for _, c := range []struct {
		name       string
		take, free func(m *Mutex, rw *RWMutex) // for the holder
		lock       func(m *Mutex, rw *RWMutex) // for the waiter
		state      func(m *Mutex, rw *RWMutex) *record.LockState
		holder     bool // whether the holder is known
		what       uint64
		held       bool // whether a hold is recorded
	}{
		{"mutex", func(m *Mutex, _ *RWMutex) { m.Lock() }, func(m *Mutex, _ *RWMutex) { m.Unlock() },
			func(m *Mutex, _ *RWMutex) { m.Lock(); m.Unlock() },
			func(m *Mutex, _ *RWMutex) *record.LockState { return stateOf(m) }, true, 0x100, true},
		{"writer waits for writer", func(_ *Mutex, rw *RWMutex) { rw.Lock() }, func(_ *Mutex, rw *RWMutex) { rw.Unlock() },
			func(_ *Mutex, rw *RWMutex) { rw.Lock(); rw.Unlock() },
			func(_ *Mutex, rw *RWMutex) *record.LockState { return stateOf(rw) }, true, 0x200, true},
		{"reader waits for writer", func(_ *Mutex, rw *RWMutex) { rw.Lock() }, func(_ *Mutex, rw *RWMutex) { rw.Unlock() },
			func(_ *Mutex, rw *RWMutex) { rw.RLock(); rw.RUnlock() },
			func(_ *Mutex, rw *RWMutex) *record.LockState { return stateOf(rw) }, true, 0x201, false},
		{"reader by its locker", func(_ *Mutex, rw *RWMutex) { rw.Lock() }, func(_ *Mutex, rw *RWMutex) { rw.Unlock() },
			func(_ *Mutex, rw *RWMutex) { rw.RLocker().Lock(); rw.RLocker().Unlock() },
			func(_ *Mutex, rw *RWMutex) *record.LockState { return stateOf(rw) }, true, 0x201, false},
		{"writer waits for reader", func(_ *Mutex, rw *RWMutex) { rw.RLock() }, func(_ *Mutex, rw *RWMutex) { rw.RUnlock() },
			func(_ *Mutex, rw *RWMutex) { rw.Lock(); rw.Unlock() },
			func(_ *Mutex, rw *RWMutex) *record.LockState { return stateOf(rw) }, false, 0x200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing)
				m, rw := &Mutex{Name: "l"}, &RWMutex{Name: "l"}
				c.take(m, rw)
				me := goid()
				var waiter uint64
				var requested, granted int64
				var wg sync.WaitGroup
				wg.Go(func() {
					waiter, requested = goid(), record.Current.Load().Clock().Now()
					c.lock(m, rw)
					granted = record.Current.Load().Clock().Now()
				})
				until(t, "the other one to wait", func() bool { return waiters(c.state(m, rw)) == 1 })
				freed := record.Current.Load().Clock().Now()
				c.free(m, rw)
				wg.Wait()
				var holder uint64
				if c.holder {
					holder = wantedHolder(me)
				}
				r := stop(t)
				want := []lockLine{{format.KindWait, "l", false, addr(c.state(m, rw)), holder, c.what}}
				if c.held {
					want = append(want, lockLine{format.KindHold, "l", false, addr(c.state(m, rw)), 0, c.what})
				}
				if got := r.locks(); !slices.Equal(got, want) {
					t.Fatalf("recorded %+v, want %+v", got, want)
				}
				wait := &r.events[0]
				if wait.Goid != waiter {
					t.Errorf("goroutine %d waited, want %d", wait.Goid, waiter)
				}
				if from, to := r.Nanos(requested), r.Nanos(granted); wait.Start < from || wait.Start+wait.Dur > to || wait.Start+wait.Dur < r.Nanos(freed) {
					t.Errorf("it waited from %d to %d, want from %d to between %d and %d", wait.Start, wait.Start+wait.Dur, from, r.Nanos(freed), to)
				}
				if c.held && r.events[1].Start < wait.Start+wait.Dur {
					t.Errorf("it was held from %d on, and waited for until %d", r.events[1].Start, wait.Start+wait.Dur)
				}
				sums := sumsOf(t)["l"]
				acquired := int64(2)
				if c.what>>8 == uint64(format.LockRWMutex) {
					acquired = -1
				}
				if want := (format.LockSums{Addr: addr(c.state(m, rw)), Kind: format.LockKind(c.what >> 8), Acquired: acquired, Contended: 1}); sums != want {
					t.Errorf("its sums are %+v, want %+v", sums, want)
				}
			})
		})
	}
}

// TestLockThreshold: what is recorded, and what is only counted, by threshold.
func TestLockThreshold(t *testing.T) {
	for _, c := range []struct {
		name      string
		threshold LockThreshold
		fact      string
		waits     int // that lasted
		off       int // cancelled
		holds     int // of 12
		short     int64
	}{
		{"off", LocksOff, "", 0, 0, 0, -1},
		{"all", LocksAll, "all", 1, 0, 12, 0},
		{"calibrated", LocksCalibrated, "calibrated", 1, 0, 1, 0},
		{"a short time", LockThreshold(time.Microsecond), "duration", 1, 0, 1, 0},
		{"a long time", LockThreshold(time.Hour), "duration", 0, 1, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing, WithLockThreshold(c.threshold))
				m := &Mutex{Name: "l"}
				for range 10 {
					m.Lock()
					m.Unlock()
				}
				m.Lock()
				var wg sync.WaitGroup
				var begun atomic.Bool
				wg.Go(func() {
					begun.Store(true)
					m.Lock()
					m.Unlock()
				})
				if c.threshold == LocksOff {
					until(t, "the other one to begin", begun.Load)
				} else {
					until(t, "the other one to wait", func() bool { return waiters(stateOf(m)) == 1 })
					time.Sleep(10 * time.Microsecond) // longer than the short time
				}
				m.Unlock()
				wg.Wait()
				r := stop(t)
				waits, off, holds := 0, 0, 0
				for _, e := range r.events {
					switch {
					case e.Kind == format.KindHold:
						holds++
					case e.Dur > 0:
						waits++
					default:
						off++
					}
				}
				if waits != c.waits || off != c.off || holds != c.holds {
					t.Errorf("%d waits, %d called off, %d holds; want %d, %d, %d", waits, off, holds, c.waits, c.off, c.holds)
				}
				if got := r.Lookup("lock_threshold"); got != c.fact {
					t.Errorf("the threshold is said to be %q, want %q", got, c.fact)
				}
				sums, counted := sumsOf(t)["l"]
				if counted != (c.short >= 0) {
					t.Fatalf("sums: %+v", sums)
				}
				if counted && (sums.Acquired != 12 || sums.Contended != 1 || sums.Short != c.short || (sums.ShortWait > 0) != (c.short > 0)) {
					t.Errorf("its sums are %+v, want 12 acquired, 1 contended, %d short", sums, c.short)
				}
			})
		})
	}
}

// TestLocksAddUp: goroutines contend for locks of both kinds, and the counts must
// equal what they did. It is also a test for the race detector: counts are written
// while a lock is used.
func TestLocksAddUp(t *testing.T) {
	const workers, rounds = 4, 500
	slack := int64(0)
	if faultfs.Emulated() {
		slack = 1_100 // its counter has steps of 1 µs, and two threads may be one step apart
	}
	for _, threshold := range []LockThreshold{LocksAll, LocksCalibrated, LockThreshold(20 * time.Microsecond)} {
		t.Run(time.Duration(threshold).String(), func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing, WithLockThreshold(threshold), WithHeartbeat(10*time.Millisecond))
				m, rw := &Mutex{Name: "m"}, &RWMutex{Name: "rw"}
				n, both := 0, 0
				m.Lock() // until all want it
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						for i := range rounds {
							m.Lock()
							n++
							m.Unlock()
							switch {
							case i%4 == 0:
								rw.Lock()
								both++
								rw.Unlock()
							case i%16 == 1 && m.TryLock():
								n++
								m.Unlock()
								m.Lock() // twice, so that the sum is known
								n--
								m.Unlock()
							default:
								rw.RLock()
								_ = both
								rw.RUnlock()
							}
						}
					})
				}
				until(t, "all to want it", func() bool { return waiters(stateOf(m)) == workers })
				m.Unlock()
				wg.Wait()
				acquired := int64(stateOf(m).Count() & (1<<record.CountBits - 1))
				r := stop(t)
				if n != workers*rounds || both != workers*rounds/4 {
					t.Errorf("counted to %d and %d under the locks", n, both)
				}
				for name, sums := range sumsOf(t) {
					var waits, off, holds int64
					var waited, held int64
					last := map[uint64]int64{}
					for _, e := range r.named(name) {
						switch {
						case e.Open:
							t.Errorf("%v is open", e.Kind)
						case e.Kind == format.KindHold:
							holds++
							held += e.Dur
							if e.Args[2].Value&1 == 0 && e.Start < last[0]-slack {
								t.Errorf("held from %d on, and until %d by another", e.Start, last[0])
							}
							last[0] = e.Start + e.Dur
						case e.Dur == 0:
							off++
						default:
							waits++
							waited += e.Dur
						}
					}
					if lost := Stats().Lost.Total(); sums.Contended != waits+sums.Short || lost != 0 {
						t.Errorf("%s: %d contended, %d waits and %d short ones; %d records were lost", name, sums.Contended, waits, sums.Short, lost)
					}
					if sums.Short < off || threshold == LocksAll && sums.Short != 0 {
						t.Errorf("%s: %d short waits, of which %d were called off", name, sums.Short, off)
					}
					if name == "m" && (sums.Acquired != acquired || sums.Contended < workers || sums.Contended > acquired) {
						t.Errorf("acquired %d times, %d of them not at once; want %d, at least %d", sums.Acquired, sums.Contended, acquired, workers)
					}
					if threshold == LocksAll && name == "m" && holds != acquired {
						t.Errorf("%d holds, want %d", holds, acquired)
					}
				}
			})
		})
	}
}

// TestLocksNobodyWaitsFor: uncontended locks leave nothing in the trace.
func TestLocksNobodyWaitsFor(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var m Mutex
		var rw RWMutex
		for range 1000 {
			m.Lock()
			m.Unlock()
			rw.RLock()
			rw.RUnlock()
			rw.Lock()
			rw.Unlock()
			for r := Retry("r"); ; {
				r.Done()
				break
			}
		}
		if r := stop(t); len(r.events) != 0 || r.Lookup("lock_threshold") != "" || len(sumsOf(t)) != 0 {
			t.Errorf("recorded %q", r.lines())
		}
	})
}

// contend makes another goroutine wait for l while the caller holds it.
func contend(t *testing.T, state *record.LockState, l sync.Locker) {
	t.Helper()
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		l.Lock()
		l.Unlock()
	})
	until(t, "the other one to wait", func() bool { return waiters(state) == 1 })
	l.Unlock()
	wg.Wait()
}

// TestLocksAcrossStop holds and waits while a recording ends and another begins.
func TestLocksAcrossStop(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		m := &Mutex{Name: "l"}
		contend(t, stateOf(m), m)
		m.Lock()
		var wg sync.WaitGroup
		wg.Go(func() {
			m.Lock()
			m.Unlock()
		})
		until(t, "the other one to wait", func() bool { return waiters(stateOf(m)) == 1 })
		me := wantedHolder(goid())
		r := stop(t)
		first := r.locks()
		if want := (lockLine{format.KindWait, "l", true, addr(stateOf(m)), me, 0x100}); len(first) != 3 || first[2] != want {
			t.Errorf("recorded %+v, the last should be %+v", first, want)
		}
		if s := sumsOf(t)["l"]; s.Acquired != 3 || s.Contended != 1 {
			t.Errorf("its sums are %+v, want 3 acquired, 1 contended", s)
		}
		start(t, backing)
		m.Unlock()
		wg.Wait()
		contend(t, stateOf(m), m)
		r = stop(t)
		if got := r.locks(); len(got) < 2 || got[0].open || got[1].open {
			t.Errorf("recorded %+v", got)
		}
		// A goroutine that has waited since the previous recording gets the lock in
		// this one, and the time of its request is unknown.
		if s := sumsOf(t)["l"]; s.Acquired != 3 || s.Contended != 1 {
			t.Errorf("its sums are %+v, want 3 acquired, 1 contended", s)
		}
	})
}

// TestLockedByItself: a goroutine that locks a lock that it holds waits for itself,
// and the trace shows that.
func TestLockedByItself(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		m := &Mutex{Name: "l"}
		var self uint64
		var wg sync.WaitGroup
		wg.Go(func() {
			self = goid()
			m.Lock()
			m.Lock()
			m.Unlock()
		})
		until(t, "him to wait", func() bool { return waiters(stateOf(m)) == 1 })
		want := []lockLine{{format.KindWait, "l", true, addr(stateOf(m)), wantedHolder(self), 0x100}}
		r := stop(t)
		m.Unlock() // any goroutine may
		wg.Wait()
		if got := r.locks(); !slices.Equal(got, want) || r.events[0].Goid != self {
			t.Errorf("recorded %+v, want %+v", got, want)
		}
	})
}

// TestHolderEnds: a goroutine that ends while it holds a lock leaves an open hold.
func TestHolderEnds(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLockThreshold(LocksAll))
		m := &Mutex{Name: "l"}
		var wg sync.WaitGroup
		wg.Go(m.Lock)
		wg.Wait()
		if got, want := stop(t).lines(), []string{`hold "l" open | addr goid:0 uint:256`}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
		m.Unlock()
	})
}

// TestCollectedLocks: the sums of a garbage-collected lock are written, and then it
// is dropped.
func TestCollectedLocks(t *testing.T) {
	start(t, WithHeartbeat(time.Hour))
	const n = 10
	before := record.LockTable.Load()
	for range n {
		m := &Mutex{Name: "gone"}
		contend(t, stateOf(m), m)
	}
	r := record.Current.Load()
	forgotten := func() bool {
		runtime.GC()
		r.LockSums(record.CollectTick)
		return record.LockTable.Load() <= before
	}
	until(t, "the locks to be forgotten", forgotten)
	stop(t)
	if s := sumsOf(t)["gone"]; s.Acquired != 2*n || s.Contended != n {
		t.Errorf("the sums are %+v, want %d acquired, %d contended", s, 2*n, n)
	}
}

// TestManyLocks: locks beyond maxLocks are counted together.
func TestManyLocks(t *testing.T) {
	start(t)
	was := record.LockTable.Swap(record.MaxLocks)
	defer func() { record.LockTable.Store(was) }()
	m := &Mutex{Name: "late"}
	contend(t, stateOf(m), m)
	r := stop(t)
	if got := len(r.named("late")); got != 2 {
		t.Errorf("%d records, want 2", got)
	}
	want := format.LockSums{Acquired: -1, Contended: 1}
	if got := sumsOf(t)["(other locks)"]; got != want {
		t.Errorf("the sums of the others are %+v, want %+v", got, want)
	}
}

// TestLockOfOurs: scope.Lock records a Mutex's waits and holds once, and under the
// name passed to it.
func TestLockOfOurs(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var m Mutex
		var rw RWMutex
		m.Lock()
		me := wantedHolder(goid())
		var wg sync.WaitGroup
		wg.Go(func() { Lock(&m, "l")() })
		until(t, "the other one to wait", func() bool {
			all := make([]byte, 1<<20)
			return bytes.Contains(all[:runtime.Stack(all, true)], []byte(" [sync.Mutex.Lock]:"))
		})
		m.Unlock()
		wg.Wait()
		Lock(&rw, "rw")()
		Lock(rw.RLocker(), "rw")()
		r := stop(t)
		var got []lockLine
		for _, l := range r.locks() {
			l.addr = 0
			got = append(got, l)
		}
		want := []lockLine{
			{format.KindWait, "l", false, 0, me, 0x102}, {format.KindHold, "l", false, 0, 0, 0x102},
			{format.KindHold, "rw", false, 0, 0, 0x202}, {format.KindHold, "rw", false, 0, 0, 0x203},
		}
		if !slices.Equal(got, want) {
			t.Errorf("recorded %+v, want %+v", got, want)
		}
		if !m.TryLock() || !rw.TryLock() {
			t.Error("a lock is still held")
		}
	})
}
