//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	rtrace "runtime/trace"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// The marks in the Go trace.
const (
	outerBegin = "outer begin" // just before a scope begins
	innerBegin = "inner begin" // just after
	innerEnd   = "inner end"   // just before it ends
	outerEnd   = "outer end"   // just after
	burnBegin  = "burn begin"  // around a stretch of computing
	burnEnd    = "burn end"
)

func mark(what string) { rtrace.Log(context.Background(), what, "") }

// checkedName is the name of every scope whose CPU time is checked.
const checkedName = "checked"

// worker is a goroutine whose scopes are checked.
type worker struct {
	goid   uint64
	burns  []int64  // thread CPU time of each stretch of computing, in order
	scopes []inside // by begin
}

// inside has the readings in a scope, just after its begin and just before its end.
type inside struct{ first, last threadClock }

// threadClock is a reading of a thread's CPU clock.
type threadClock struct {
	at  int64 // the monotonic clock
	cpu int64
	tid int
}

func now() threadClock {
	cpu, tid, ok := sys.ThreadCPU()
	if !ok {
		tid = 0
	}
	return threadClock{sys.Mono(), cpu, tid}
}

// run is a run that is recorded by scope and runtime/trace at once.
type run struct {
	t       *testing.T
	dir     string
	mu      sync.Mutex
	workers []*worker
	wg      sync.WaitGroup
}

var goids = sys.NewGoids()

// worker returns the checked side of the calling goroutine.
func (r *run) worker() *worker {
	w := &worker{goid: goids.Get()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = append(r.workers, w)
	return w
}

// goWorker starts a goroutine that the run waits for.
func (r *run) goWorker(f func(w *worker)) {
	r.wg.Go(func() { f(r.worker()) })
}

// scope runs work in a scope that is checked.
func (w *worker) scope(work func()) {
	mark(outerBegin)
	w.task(work)
	mark(outerEnd)
}

func (w *worker) task(work func()) {
	defer scope.Task(checkedName)()
	w.inner(work)
}

// hold runs work with the lock held, which is a scope too.
func (w *worker) hold(mu *sync.Mutex, work func()) {
	mark(outerBegin)
	w.locked(mu, work)
	mark(outerEnd)
}

func (w *worker) locked(mu *sync.Mutex, work func()) {
	defer scope.Lock(mu, checkedName)()
	w.inner(work)
}

func (w *worker) inner(work func()) {
	mark(innerBegin)
	i := len(w.scopes) // scopes may nest
	w.scopes = append(w.scopes, inside{first: now()})
	work()
	w.scopes[i].last = now()
	mark(innerEnd)
}

// burn computes for d and remembers the thread's CPU time meanwhile.
func (w *worker) burn(d time.Duration) {
	mark(burnBegin)
	c0, _, _ := sys.ThreadCPU()
	spin(d)
	c1, _, _ := sys.ThreadCPU()
	mark(burnEnd)
	w.burns = append(w.burns, c1-c0)
}

// spin computes for d without a system call and without allocating.
func spin(d time.Duration) {
	for t0 := time.Now(); time.Since(t0) < d; {
		x := uint64(1)
		for range 100 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		sink.Store(x)
	}
}

// record runs body with procs Ps, waits for its workers, and returns the scopes
// with what is known of them.
func record(t *testing.T, procs int, body func(r *run)) []checked {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	r := &run{t: t, dir: t.TempDir()}
	goTrace, err := os.Create(filepath.Join(r.dir, "go.trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer goTrace.Close()
	if err := rtrace.Start(goTrace); err != nil {
		t.Skipf("the Go trace is taken already: %v", err)
	}
	path := filepath.Join(r.dir, "run.scope")
	if err := scope.Start(path); err != nil {
		rtrace.Stop()
		t.Fatal(err)
	}
	body(r)
	r.wg.Wait()
	err = scope.Stop()
	rtrace.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if n := scope.Stats().Lost.Total(); n != 0 {
		t.Fatalf("%d records lost", n)
	}
	return r.join(readGoTrace(t, goTrace.Name()), readScopes(t, path))
}

// recorded has the recorder's values of the checked scopes.
type recorded struct {
	scopes  map[uint64][]trace.Event // by goroutine, in the order of their begins
	anchors map[int][]threadClock    // by thread: its CPU clock as the recorder read it
}

// readScopes reads a trace. It skips the test where the recorder can't measure
// CPU time, with the reason that the trace names.
func readScopes(t *testing.T, path string) *recorded {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	if tr.Header().Witness&format.WitnessSwitch == 0 {
		t.Skipf("the recorder can't measure CPU time here: %s", tr.Lookup("path_reason")+tr.Lookup("witness_reason"))
	}
	start := tr.Header().StartMono
	r := &recorded{map[uint64][]trace.Event{}, map[int][]threadClock{}}
	for e := range tracetest.Events(t, tr, trace.Options{Anchors: true}) {
		switch {
		case e.Kind == format.KindAnchor && e.CPU >= 0:
			tid := int(e.Thread)
			r.anchors[tid] = append(r.anchors[tid], threadClock{start + e.Start, e.CPU, tid})
		case (e.Kind == format.KindTask || e.Kind == format.KindHold) && tr.Name(e.Name) == checkedName:
			x := *e
			x.Args, x.EndArgs = nil, nil
			x.Start += start
			r.scopes[e.Goid] = append(r.scopes[e.Goid], x)
		}
	}
	return r
}

// drift returns the lag of the thread's CPU clock, by the reading c, behind the recorder's
// extrapolation at the begin of the scope e. The recorder extrapolates from its last
// reading, the anchor, but the clock excludes stolen time if the host reports it to the
// kernel. The scope in which the recorder reads the clock again gets the difference:
// stolen time counts for no scope, and time stolen before a scope may be subtracted
// from it. ok is false if the scope
// began on another thread.
func (r *recorded) drift(e *trace.Event, c threadClock) (ns int64, ok bool) {
	if c.tid == 0 || int(e.Thread) != c.tid {
		return 0, false
	}
	as := r.anchors[c.tid]
	i := sort.Search(len(as), func(i int) bool { return as[i].at > e.Start })
	if i == 0 {
		return 0, false
	}
	a := as[i-1]
	return max(a.cpu+c.at-a.at-c.cpu, 0), true
}
