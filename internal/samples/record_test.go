package samples

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

var sink atomic.Int64 // keeps the result of computations

// hotSpot uses this much CPU time, on a busy machine too.
//
//go:noinline
func hotSpot(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	had := func() time.Duration {
		if cpu, _, ok := sys.ThreadCPU(); ok {
			return time.Duration(cpu)
		}
		return time.Since(start)
	}
	var n int64
	for until := had() + d; had() < until; {
		for range 100_000 {
			n += n*7 + 1
		}
	}
	sink.Store(n)
}

// program has known results: hotSpot has nearly all of the CPU time, in goroutines that
// spawn starts; request usually waits for a lock, and every tenth time for a channel.
func program() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	spawn(&wg, 300*time.Millisecond)
	wg.Wait()
	for i := range 40 {
		request(i, &mu)
	}
}

//go:noinline
func spawn(wg *sync.WaitGroup, each time.Duration) {
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			hotSpot(each)
		}()
	}
}

//go:noinline
func request(i int, mu *sync.Mutex) {
	defer scope.Task("request")()
	if i%10 == 9 {
		slow := make(chan int)
		go func() {
			time.Sleep(100 * time.Millisecond)
			slow <- 1
		}()
		<-slow
		return
	}
	mu.Lock()
	held := make(chan bool)
	go func() {
		held <- true
		time.Sleep(200 * time.Microsecond)
		mu.Unlock()
	}()
	<-held
	mu.Lock()
	defer mu.Unlock()
}

func recorded(t *testing.T) *scopetrace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	program()
	end()
	return tracetest.OpenFile(t, path)
}

// on returns the value of a metric of the stacks that contain a function.
func on(p *Profile, metric, function string) (v int64) {
	for _, s := range p.Stacks {
		for _, f := range s.Frames {
			if strings.HasSuffix(f.Func, function) {
				v += p.Value(s.Values, p.Metric(metric))
				break
			}
		}
	}
	return v
}

func all(p *Profile, metric string) int64 { return p.Value(p.Total(), p.Metric(metric)) }

// TestRecordedCounters: a hot function has the samples of task-clock, whose goroutines are
// known by the Go execution trace; a note reports counters that are not available.
func TestRecordedCounters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	err := scope.Start(path, gotrace.With(gotrace.WithoutProfile(), gotrace.WithCounter("task-clock", 5e6), gotrace.WithCounter("task-clock", 1e6),
		gotrace.WithCounter("nothing", 1)))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	spawn(&wg, 500*time.Millisecond)
	wg.Wait()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.OpenFile(t, path)
	if how := tr.Lookup("counter_nothing"); !strings.HasPrefix(how, "off: unknown counter") {
		t.Errorf("a counter that nobody has is %q", how)
	}
	if how := tr.Lookup("counter_task-clock"); !strings.HasPrefix(how, "on") {
		t.Skipf("task-clock is %s", how)
	}
	sel := anything()
	sel.Imputed = true
	sel.Split.Goroutine = true
	p, err := OfTrace(context.Background(), tr, sel)
	if err != nil {
		t.Fatal(err)
	}
	var known, every int64
	err = tr.EachSample(func(s *scopetrace.Sample) bool {
		if every = s.Weight; s.Weight != 1e6 {
			t.Errorf("a sample is of %d ns", s.Weight)
		}
		return s.Weight == 1e6
	})
	for _, s := range p.Stacks {
		if s.Labels.Goid != 0 { // the others are the runtime's own threads
			known += p.Value(s.Values, p.Metric("task-clock"))
		}
	}
	cpu, hot := all(p, "task-clock"), on(p, "task-clock", ".hotSpot")
	t.Logf("%v of CPU time, %v of it in hotSpot, of known goroutines %v, spawned %v", time.Duration(cpu), time.Duration(hot), time.Duration(known), time.Duration(on(p, "task-clock", ".spawn")))
	if err != nil || every == 0 || p.Preset != "task-clock" || 10*hot < 9*known || 10*known < 9*hot || hot > cpu || hot < 9e8 || hot > 11e8 || 10*on(p, "task-clock", ".spawn") < 9*hot {
		t.Errorf("%v; first is %s", err, p.Preset)
	}
}

func TestRecording(t *testing.T) {
	tr := recorded(t)
	sel := anything()
	sel.Imputed = true
	p, err := OfTrace(context.Background(), tr, sel)
	if err != nil {
		t.Fatal(err)
	}
	cpu := all(p, "cpu")
	if cpu < int64(100*time.Millisecond) || 10*on(p, "cpu", ".hotSpot") < 9*cpu || on(p, "cpu", ".spawn") < on(p, "cpu", ".hotSpot") {
		t.Errorf("of %v of CPU time %v are in hotSpot, and %v belong to spawn", cpu, on(p, "cpu", ".hotSpot"), on(p, "cpu", ".spawn"))
	}
	// Waits are exact: they equal the states' times.
	f, err := states.Read(tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []states.State{states.Lock, states.Channel, states.Join, states.Sleep, states.Select, states.Network, states.Runnable} {
		if got := all(p, s.String()); got != f.Totals[s] {
			t.Errorf("%v: %d ns, and by the states %d", s, got, f.Totals[s])
		}
	}
	sel.Imputed = false
	if p, err = OfTrace(context.Background(), tr, sel); err != nil || on(p, "cpu", ".spawn") != 0 {
		t.Errorf("%v; not imputed, spawn has %v", err, on(p, "cpu", ".spawn"))
	}
}

// TestHadCPUs: the CPU time noted beside the samples is that of goroutines on CPUs, without
// the time that the collector's workers waited for work between its cycles.
func TestHadCPUs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	before := processCPU(t)
	for range 5 {
		runtime.GC()
		time.Sleep(100 * time.Millisecond)
	}
	hotSpot(200 * time.Millisecond)
	end()
	took := processCPU(t) - before
	p, err := OfTrace(context.Background(), tracetest.OpenFile(t, path), anything())
	if err != nil {
		t.Fatal(err)
	}
	_, said, ok := strings.Cut(strings.Join(p.Notes, "; "), "where goroutines had CPUs for ")
	if !ok {
		t.Skipf("there are no switches of threads: %q", p.Notes)
	}
	said, _, _ = strings.Cut(said, " by the threads' switches")
	had, err := time.ParseDuration(said)
	if err != nil || had < 200*time.Millisecond || had > took+took/10 {
		t.Errorf("%v; goroutines had CPUs for %v, as is said, and the process for %v", err, had, took)
	}
}

// TestBegunByScope: CPU time, waits and counts of a goroutine of scope.Go belong to one call
// path, and not to several that differ by how the goroutine began.
func TestBegunByScope(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	done := make(chan bool)
	scope.Go("worker", func() {
		hotSpot(300 * time.Millisecond)
		scope.Stack("here", 1)
		time.Sleep(10 * time.Millisecond)
		close(done)
	})
	<-done
	end()
	p, err := OfTrace(context.Background(), tracetest.OpenFile(t, path), anything())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range p.Stacks {
		for _, metric := range []string{"cpu", "sleep", "calls"} {
			outer := s.Frames[len(s.Frames)-1].Func
			if strings.Contains(outer, "TestBegunByScope") && p.Value(s.Values, p.Metric(metric)) > 0 {
				seen[metric+" in "+outer] = true
			}
		}
	}
	if body := "github.com/scopeview/scopeview/internal/samples.TestBegunByScope.func1"; len(seen) != 3 || !seen["cpu in "+body] || !seen["sleep in "+body] || !seen["calls in "+body] {
		t.Errorf("the outermost functions are %v", seen)
	}
}

// processCPU returns this process's CPU time, user and system.
func processCPU(t *testing.T) time.Duration {
	t.Helper()
	user, system := sys.ProcessCPU()
	if user < 0 {
		t.Skip("the CPU time of the process is not known here")
	}
	return time.Duration(user + system)
}

// TestRecordingByScope: slow executions of request wait for a channel, others for a lock;
// each sample has its scope.
func TestRecordingByScope(t *testing.T) {
	tr := recorded(t)
	sel := anything()
	names, err := glob.Parse("request")
	if err != nil {
		t.Fatal(err)
	}
	sel.Scopes, sel.Slowest = &names, 0.1
	p, err := OfTrace(context.Background(), tr, sel)
	if err != nil {
		t.Fatal(err)
	}
	if p.Executions.Slow != 4 || p.Executions.Rest != 36 || strings.Contains(strings.Join(p.Notes, "; "), "matches") {
		t.Fatalf("%+v: %q", p.Executions, p.Notes)
	}
	// A note reports a name that no scope, or no row, has.
	nobody, err := glob.Parse("nobody")
	if err != nil {
		t.Fatal(err)
	}
	none := anything()
	none.Scopes, none.Tracks = &nobody, nobody
	if p, err := OfTrace(context.Background(), tr, none); err != nil || len(p.Stacks) != 0 || len(p.Notes) < 2 ||
		p.Notes[0] != `no scope that "nobody" matches was executed here by a known goroutine` || p.Notes[1] != `no row of a known goroutine has a name that "nobody" matches` {
		t.Errorf("%v; of nobody it says %q", err, p.Notes)
	}
	part := func(metric string, slow bool) (v int64) {
		for _, s := range p.Stacks {
			if s.Labels.Slow == slow {
				v += p.Value(s.Values, p.Metric(metric))
			}
		}
		return v
	}
	if c, l := part("channel", true), part("lock", true); c < int64(100*time.Millisecond) || l > c/10 {
		t.Errorf("slow ones waited %d ns for the channel and %d for the lock", c, l)
	}
	if l := part("lock", false); l < 36*int64(200*time.Microsecond)*9/10 {
		t.Errorf("the others waited %d ns for the lock", l)
	}
	// The same by the scope of each sample.
	found := map[string]int64{}
	sel = anything()
	sel.Split.Scope = true
	last := int64(0)
	sel.Each = func(s *Sample) {
		if int(s.Metric) == p.Metric("lock") {
			found[s.Labels.Scope] += s.Value
		}
		if s.Time < last {
			t.Errorf("a sample at %d comes behind one at %d", s.Time, last)
		}
		last = s.Time
	}
	if _, err := OfTrace(context.Background(), tr, sel); err != nil || found["request"] != part("lock", false)+part("lock", true) {
		t.Errorf("%v; waits for the lock by scope: %v", err, found)
	}
}

// TestGoTrace: a plain Go execution trace with a CPU profile gives the same, without scopes.
func TestGoTrace(t *testing.T) {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	program()
	trace.Stop()
	pprof.StopCPUProfile()
	sel := anything()
	sel.Imputed = true
	p, err := OfGoTrace(context.Background(), bytes.NewReader(b.Bytes()), sel)
	if err != nil {
		t.Fatal(err)
	}
	if cpu := all(p, "cpu"); cpu < int64(100*time.Millisecond) || 10*on(p, "cpu", ".hotSpot") < 9*cpu || on(p, "cpu", ".spawn") < on(p, "cpu", ".hotSpot") {
		t.Errorf("of %v of CPU time %v are in hotSpot, and %v belong to spawn", cpu, on(p, "cpu", ".hotSpot"), on(p, "cpu", ".spawn"))
	}
	if l := on(p, "lock", ".request"); l < 36*int64(200*time.Microsecond)*9/10 {
		t.Errorf("request waited %d ns for the lock", l)
	}
	half, err := OfGoTrace(context.Background(), bytes.NewReader(b.Bytes()[:b.Len()/2]), sel)
	if err != nil || len(half.Notes) == 0 {
		t.Errorf("half a trace: %v, %+v", err, half)
	}
	sel.Scopes = &glob.Filter{}
	if _, err := OfGoTrace(context.Background(), bytes.NewReader(b.Bytes()), sel); err == nil {
		t.Error("a plain trace has scopes")
	}
}
