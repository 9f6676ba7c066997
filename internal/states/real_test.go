package states

import (
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// recorded runs f while a trace is recorded, and opens that.
func recorded(t *testing.T, f func()) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path, gotrace.With(), scope.WithHeartbeat(50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	f()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// named tells of a goroutine by what it does first.
func tally(t *testing.T, tr *trace.Trace) (*Facts, map[string]*[Count]int64) {
	t.Helper()
	sums := map[uint64]*[Count]int64{}
	f, err := Read(tr, func(v *Interval) {
		if sums[v.Goid] == nil {
			sums[v.Goid] = new([Count]int64)
		}
		sums[v.Goid][v.State] += v.To - v.From
	})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*[Count]int64{}
	for id, s := range sums {
		g := f.Goroutines[id]
		name := ""
		if fr := f.Stack(g.Start); len(fr) > 0 {
			name = fr[len(fr)-1].Func
		}
		if by[name] == nil {
			by[name] = new([Count]int64)
		}
		for i := range s {
			by[name][i] += s[i]
		}
	}
	return f, by
}

var sink int

//go:noinline
func waitsForMutex(mu *sync.Mutex) { mu.Lock(); sink++; mu.Unlock() }

func TestReal(t *testing.T) {
	tr := recorded(t, func() {
		var all, wg sync.WaitGroup
		var mu sync.Mutex
		run := func(f func()) { all.Add(1); go func() { defer all.Done(); f() }() }
		wg.Add(1)
		ch := make(chan int)
		mu.Lock()
		run(func() { waitsForMutex(&mu) })
		run(func() { wg.Wait() })
		run(func() { <-ch })
		run(func() { time.Sleep(50 * time.Millisecond) })
		l, _ := net.Listen("tcp", "127.0.0.1:0")
		run(func() { c, _ := l.Accept(); c.Close() })
		run(func() {
			begin := time.Now()
			for time.Since(begin) < 60*time.Millisecond {
			}
		})
		time.Sleep(50 * time.Millisecond)
		mu.Unlock()
		wg.Done()
		ch <- 1
		net.Dial("tcp", l.Addr().String())
		all.Wait()
		runtime.GC()
	})
	f, by := tally(t, tr)
	for name, s := range by {
		t.Log(name)
		for i, d := range s {
			if d > 0 {
				t.Logf("    %s %v", State(i), time.Duration(d))
			}
		}
	}
	for _, c := range f.Checks.List() {
		t.Logf("%v %v", c.OK, c.Text)
	}
	t.Log(f.Problems, f.SwitchesWhy, len(f.Goroutines))
}
