//go:build !scope_off

package gotrace_test

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	record "github.com/scopeview/scopeview/scope/gotrace"
)

// recorded records f.
func recorded(t *testing.T, f func()) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, record.With(record.WithoutSwitches()))
	f()
	end()
	return tracetest.OpenFile(t, path)
}

// story holds everything that was read of a trace.
type story struct {
	info    *gotrace.Info
	of      map[uint64][]gotrace.Transition
	samples []gotrace.Sample
	ranges  []gotrace.Range
}

// read reads a trace, and checks what must hold of every one.
func read(t *testing.T, tr *trace.Trace) *story {
	t.Helper()
	s := &story{of: map[uint64][]gotrace.Transition{}}
	var err error
	s.info, err = gotrace.Read(tr, gotrace.Handler{
		Transition: func(x *gotrace.Transition) { s.of[x.Goid] = append(s.of[x.Goid], *x) },
		Sample:     func(x *gotrace.Sample) { s.samples = append(s.samples, *x) },
		Range:      func(x *gotrace.Range) { s.ranges = append(s.ranges, *x) },
	})
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for id, all := range s.of {
		n += int64(len(all))
		for i, x := range all {
			if i > 0 && (x.From != all[i-1].To || x.Time < all[i-1].Time) {
				t.Errorf("goroutine %d: after %+v comes %+v", id, all[i-1], x)
			}
			if x.From == x.To || x.Time < s.info.From || x.Time > s.info.To {
				t.Errorf("goroutine %d: %+v in a trace of %d to %d", id, x, s.info.From, s.info.To)
			}
			if (x.To == gotrace.Running || x.From == gotrace.Running) && x.To != gotrace.Unknown && (x.Thread == 0 || x.Proc < 0) {
				t.Errorf("goroutine %d: %+v is without its thread", id, x)
			}
		}
		if last := all[len(all)-1]; last.To != gotrace.NotExist && last.To != gotrace.Unknown {
			t.Errorf("goroutine %d: the last change is %+v", id, last)
		}
	}
	if s.info.Rough != 0 {
		t.Errorf("the times of %d generations are rough", s.info.Rough)
	}
	if n != s.info.Transitions || int64(len(s.samples)) != s.info.Samples || int64(len(s.ranges)) != s.info.Ranges {
		t.Errorf("read: %d, %d, %d; counted: %+v", n, len(s.samples), len(s.ranges), s.info)
	}
	return s
}

// has reports whether a stack has a function whose name ends with function.
func (s *story) has(stack uint32, function string) bool {
	for _, f := range s.info.Stack(stack) {
		if strings.HasSuffix(f.Func, function) {
			return true
		}
	}
	return false
}

// waitReader blocks until a byte comes.
func waitReader(ch chan int) { <-ch }

func wakeSender(ch chan int) { ch <- 1 }

func wakeCloser(ch chan int) { close(ch) }

func waitLocker(mu *sync.Mutex) { mu.Lock() }

func wakeUnlocker(mu *sync.Mutex) { mu.Unlock() }

// long is the time that goroutines wait, so that they do on a busy machine too.
const long = 50 * time.Millisecond

// TestKnownWaits: goroutines that wait once each, in known ways, have that wait, with the
// goroutine that woke them.
func TestKnownWaits(t *testing.T) {
	var wg sync.WaitGroup
	var begun chan struct{}             // closed when the previous goroutine is about to wait
	in := func(name string, f func()) { // runs f in a scope on a goroutine of its own
		now := make(chan struct{})
		begun = now
		wg.Go(func() {
			end := scope.Task(name)
			close(now)
			f()
			end()
		})
	}
	// after runs f when the previous goroutine has had time to wait.
	after := func(f func()) func() {
		before := begun
		return func() { <-before; time.Sleep(long); f() }
	}
	tr := recorded(t, func() {
		ch, mu, group := make(chan int), sync.Mutex{}, sync.WaitGroup{}
		cond := sync.NewCond(&sync.Mutex{})
		full, quit, never := make(chan int), make(chan int), make(chan int)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		in("sleep", func() { time.Sleep(long) })
		in("receive", func() { waitReader(ch) })
		in("receive.waker", after(func() { wakeSender(ch) }))
		mu.Lock()
		in("mutex", func() { waitLocker(&mu) })
		in("mutex.waker", after(func() { wakeUnlocker(&mu) }))
		group.Add(1)
		in("group", func() { group.Wait() })
		in("group.waker", after(func() { group.Done() }))
		in("cond", func() { cond.L.Lock(); cond.Wait(); cond.L.Unlock() })
		in("cond.waker", after(func() { cond.L.Lock(); cond.Signal(); cond.L.Unlock() }))
		in("send", func() { full <- 1 })
		in("send.waker", after(func() { <-full }))
		in("select", func() {
			select {
			case <-quit:
			case <-never:
			}
		})
		in("select.waker", after(func() { wakeCloser(quit) }))
		in("network", func() { r.Read(make([]byte, 1)) })
		in("network.waker", after(func() { w.Write([]byte{1}); w.Close() }))
		in("gosched", func() {
			for range 10 {
				runtime.Gosched()
			}
		})
		wg.Wait()
	})
	s := read(t, tr)
	if len(s.info.Problems) > 0 || s.info.Missing || s.info.Checked < 20 || s.info.Right != s.info.Checked {
		t.Errorf("%+v", s.info)
	}
	who, when := map[string]uint64{}, map[string]trace.Event{}
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask {
			who[tr.Name(e.Name)], when[tr.Name(e.Name)] = e.Goid, *e
		}
	}
	for _, c := range []struct {
		name, reason, at, wakes string
		noWaker                 bool
	}{
		{name: "sleep", reason: "sleep", at: "time.Sleep", noWaker: true},
		{name: "receive", reason: "chan receive", at: ".waitReader", wakes: ".wakeSender"},
		{name: "mutex", reason: "sync", at: ".waitLocker", wakes: ".wakeUnlocker"},
		{name: "group", reason: "sync", at: "sync.(*WaitGroup).Wait", wakes: "sync.(*WaitGroup).Done"},
		{name: "cond", reason: "sync.(*Cond).Wait", at: "sync.(*Cond).Wait", wakes: "sync.(*Cond).Signal"},
		{name: "send", reason: "chan send", at: "runtime.chansend1", wakes: "runtime.chanrecv1"},
		{name: "select", reason: "select", at: "runtime.selectgo", wakes: ".wakeCloser"},
		{name: "network", reason: "network", at: "os.(*File).Read", noWaker: true},
	} {
		if c.name == "network" && runtime.GOOS == "windows" {
			continue // there pipes are read in system calls
		}
		e, waits := when[c.name], 0
		all := s.of[who[c.name]]
		for i, x := range all {
			if x.To != gotrace.Waiting || x.Reason != c.reason || !s.has(x.Stack, c.at) || i+2 >= len(all) {
				continue
			}
			waits++
			woken, runs := all[i+1], all[i+2]
			if woken.To != gotrace.Runnable || runs.To != gotrace.Running {
				t.Errorf("%s: it waits, and then: %+v %+v", c.name, woken, runs)
			}
			if woken.Time-x.Time < int64(time.Millisecond) || x.Time < e.Start || runs.Time > e.Start+e.Dur {
				t.Errorf("%s: waits from %d to %d, in a scope from %d to %d", c.name, x.Time, woken.Time, e.Start, e.Start+e.Dur)
			}
			if !c.noWaker && (woken.By != who[c.name+".waker"] || !s.has(woken.ByStack, c.wakes)) {
				t.Errorf("%s: woken by %d at %v, want %d", c.name, woken.By, s.info.Stack(woken.ByStack), who[c.name+".waker"])
			}
		}
		if waits != 1 {
			t.Errorf("%s: %d waits, want one: %+v", c.name, waits, all)
		}
		// The creator, its stack, and the first function.
		if made := all[0]; made.From != gotrace.NotExist || made.To != gotrace.Runnable || !s.has(made.ByStack, "sync.(*WaitGroup).Go") || !s.has(made.Stack, "sync.(*WaitGroup).Go.func1") {
			t.Errorf("%s: made: %+v", c.name, made)
		}
		if last := all[len(all)-1]; last.To != gotrace.NotExist {
			t.Errorf("%s: ended: %+v", c.name, last)
		}
	}
	yields := 0
	for _, x := range s.of[who["gosched"]] {
		if x.To == gotrace.Runnable && x.Reason == "runtime.Gosched" {
			yields++
		}
	}
	if yields != 10 {
		t.Errorf("%d yields, want 10", yields)
	}
}

// TestBusy waits, computes and calls at once, on more threads than there are processors.
// The times of all of it must be known (read checks that), and scopes must begin and end
// while their goroutine runs.
func TestBusy(t *testing.T) {
	tr := recorded(t, func() {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if i%2 == 0 {
					runtime.LockOSThread()
				}
				for range 50 {
					end := scope.Task("busy")
					next, stop := iter.Pull(func(yield func(int) bool) {
						for yield(1) {
						}
					})
					for range 10 {
						next()
					}
					stop()
					if _, err := os.ReadDir("."); err != nil {
						t.Error(err)
					}
					ch := make(chan []byte)
					go func() { ch <- make([]byte, 100_000) }()
					<-ch
					end()
				}
				if i == 0 {
					runtime.GC()
				}
			})
		}
		wg.Wait()
	})
	s := read(t, tr)
	if len(s.info.Problems) > 0 || s.info.Checked < 500 || s.info.Right < s.info.Checked-1 {
		t.Errorf("%+v", s.info)
	}
}

// TestKnownRanges runs the garbage collector and stops the world.
func TestKnownRanges(t *testing.T) {
	tr := recorded(t, func() {
		for range 3 {
			end := scope.Task("gc")
			runtime.GC()
			end()
		}
	})
	s := read(t, tr)
	marks, stops := 0, 0
	for _, r := range s.ranges {
		if r.To < r.From {
			t.Errorf("%+v", r)
		}
		switch {
		case r.Name == "GC concurrent mark phase":
			marks++
		case strings.HasPrefix(r.Name, "stop-the-world (GC"):
			stops++
		case r.Goid == 0 && !strings.HasPrefix(r.Name, "stop-the-world"):
			t.Errorf("%+v is the whole program's", r)
		}
	}
	if marks < 3 || stops < 6 {
		t.Errorf("%d mark phases, %d stops: %+v", marks, stops, s.ranges)
	}
}

// TestClocks measures how far the two clocks are apart: there is an instant before a
// goroutine sleeps, and one after. The least of many distances counts.
func TestClocks(t *testing.T) {
	const times = 200
	tr := recorded(t, func() {
		for range times {
			scope.Event("before")
			time.Sleep(10 * time.Microsecond)
			scope.Event("after")
		}
	})
	if tr.Lookup("os") != "linux" {
		t.Skip("only wall clocks can be compared on this system")
	}
	s := read(t, tr)
	least := map[string]int64{}
	n := 0
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind != format.KindEvent {
			continue
		}
		name := tr.Name(e.Name)
		// The sleep next to it, before or after; not one whose distance is impossible.
		for _, x := range s.of[e.Goid] {
			d := x.Time - e.Start
			if name == "after" {
				d = -d
			}
			matches := name == "before" && x.Reason == "sleep" || name == "after" && x.To == gotrace.Running
			if old, ok := least[name]; matches && d > -int64(time.Microsecond) && (!ok || d < old) {
				least[name] = d
			}
		}
		n++
	}
	t.Logf("a sleep begins %d ns after the instant before it, and ends %d ns before the one after it", least["before"], least["after"])
	if n != 2*times {
		t.Fatalf("%d instants", n)
	}
	most := 5 * time.Microsecond
	if tr.Header().Path == format.PathPure { // getting the goroutine's id takes longer
		most = 50 * time.Microsecond
	}
	for name, d := range least {
		if d < -200 || d > int64(most) {
			t.Errorf("%s: %d ns, want 0 to %v: the clocks do not align", name, d, most)
		}
	}
}
