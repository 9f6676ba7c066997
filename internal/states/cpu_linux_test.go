package states

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

func threadCPU() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

// burn computes for about d of CPU time, without calls: the scheduler's work on the
// thread, after a system call during which it lost its processor, is not the
// goroutine's.
func burn(d time.Duration) {
	const least = 1_000_000
	for n := int64(least); perSecond == 0; n *= 2 {
		begin := threadCPU()
		compute(n)
		if took := threadCPU() - begin; took > 5e6 {
			perSecond = n * 1e9 / took
		}
	}
	compute(perSecond * int64(d) / 1e9)
}

var perSecond int64 // rounds of compute

//go:noinline
func compute(n int64) {
	x := n
	for i := range n {
		x += i ^ x
	}
	sink.Store(x)
}

// TestLongScopes: long scopes have the CPU time of their thread's clock, whether
// others compete for its CPU, they wait, or are nested. On a very busy machine the
// thread also works for the scheduler, which is not the goroutine's: one good
// recording of several is enough.
func TestLongScopes(t *testing.T) {
	burn(0)
	begin, before := time.Now(), stolen(t)
	for try := 1; ; try++ {
		wrong := longScopes(t)
		if len(wrong) == 0 {
			return
		}
		t.Log(strings.Join(wrong, "\n"))
		if try == 5 {
			failUnlessStolen(t, begin, before, "%d recordings have CPU times that are wrong", try)
		}
	}
}

// longScopes records scopes, and returns those whose CPU time is wrong.
func longScopes(t *testing.T) (wrong []string) {
	var truth []int64
	scoped := func(name string, f func()) {
		at := len(truth)
		truth = append(truth, 0)
		done := scope.Task(name)
		begin := threadCPU()
		f()
		cpu := threadCPU() - begin
		done()
		truth[at] = cpu
	}
	tr := recorded(t, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var over atomic.Bool
		defer over.Store(true)
		go func() {
			for !over.Load() {
			}
		}()
		for range 5 {
			scoped("20ms", func() { burn(20 * time.Millisecond) })
		}
		scoped("100ms", func() { burn(100 * time.Millisecond) })
		scoped("outer", func() {
			burn(20 * time.Millisecond)
			scoped("waits", func() {
				time.Sleep(30 * time.Millisecond)
				burn(20 * time.Millisecond)
			})
		})
	})
	if !tr.HasSwitches() {
		t.Skip(whyNot(tr))
	}
	before := cpuTimes(t, tr, trace.Options{AsRecorded: true})
	Attach(tr)
	after := cpuTimes(t, tr, trace.Options{})
	if len(after) != len(truth) {
		t.Fatalf("%d scopes, want %d", len(after), len(truth))
	}
	for i, e := range after {
		want := truth[i]
		// The kernel's clock and its records of switches differ by some microseconds,
		// so a thread that is preempted again and again has more by the records; its
		// quality then is not exact.
		switches := switchesIn(t, tr, e.Thread, e.Start, e.Start+e.Dur)
		quality, allowed := format.Exact, want/100+aSwitch/2*switches
		if e.Quality == format.Likely && (switches+1)*aSwitch*100 > e.CPU {
			quality, allowed = format.Likely, want/100+2*aSwitch*switches
		}
		t.Logf("%s: %v, as recorded %d (%v); now %v (%v); the thread's clock says %v", tr.Name(e.Name), time.Duration(e.Dur),
			before[i].CPU, before[i].Quality, time.Duration(e.CPU), e.Quality, time.Duration(want))
		if off := e.CPU - want; e.Quality != quality || off > allowed || off < -allowed {
			wrong = append(wrong, fmt.Sprintf("%s has %v of CPU time (%v), and its thread's clock says %v, give or take %v",
				tr.Name(e.Name), time.Duration(e.CPU), e.Quality, time.Duration(want), time.Duration(allowed)))
		}
	}
	return wrong
}

func cpuTimes(t *testing.T, tr *trace.Trace, o trace.Options) (all []trace.Event) {
	t.Helper()
	for e := range tracetest.Events(t, tr, o) {
		if e.Kind == format.KindTask {
			all = append(all, *e)
		}
	}
	return all
}

// switchesIn counts how often a thread left its CPU.
func switchesIn(t *testing.T, tr *trace.Trace, thread uint32, from, to int64) (n int64) {
	t.Helper()
	mono := tr.Header().StartMono
	err := tr.EachSwitches(func(s *format.Switches) bool {
		for _, w := range s.List {
			if at := w.Time - mono; s.Thread == thread && w.How != format.SwitchIn && at >= from && at <= to {
				n++
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
