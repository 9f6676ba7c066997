package states

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

func threadCPU() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

// burn computes until its thread has had so much CPU time.
func burn(d time.Duration) {
	for end := threadCPU() + int64(d); threadCPU() < end; {
		for i := range 1000 {
			sink += i
		}
	}
}

// Long scopes have the CPU time that their thread's clock says, be there others that
// want its CPU, waits inside, or nested ones.
func TestLongScopes(t *testing.T) {
	var truth []int64
	scoped := func(name string, f func()) {
		done := scope.Task(name)
		begin := threadCPU()
		f()
		cpu := threadCPU() - begin
		done()
		truth = append(truth, cpu)
	}
	tr := recorded(t, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		stop := make(chan struct{})
		defer close(stop)
		for range 3 {
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
		}
		for range 5 {
			scoped("20ms", func() { burn(20 * time.Millisecond) })
		}
		scoped("100ms", func() { burn(100 * time.Millisecond) })
		scoped("waits", func() {
			burn(20 * time.Millisecond)
			time.Sleep(30 * time.Millisecond)
			burn(20 * time.Millisecond)
		})
	})
	if !tr.HasSwitches() {
		t.Skip(whyNot(tr))
	}
	before := cpuTimes(t, tr, trace.Options{AsRecorded: true})
	if err := Attach(tr); err != nil {
		t.Fatal(err)
	}
	after := cpuTimes(t, tr, trace.Options{})
	if len(after) != len(truth) {
		t.Fatalf("%d scopes, want %d", len(after), len(truth))
	}
	for i, e := range after {
		want := truth[i]
		// The kernel's clock and its records of switches tell times some microseconds
		// apart, so a thread that others push off its CPU again and again has more.
		allowed := want/100 + 5000*switchesIn(t, tr, e.Thread, e.Start, e.Start+e.Dur)
		t.Logf("%s: %v as recorded %d (%v); now %v (%v); the thread's clock says %v", tr.Name(e.Name), time.Duration(e.Dur),
			before[i].CPU, before[i].Quality, time.Duration(e.CPU), e.Quality, time.Duration(want))
		if off := e.CPU - want; e.Quality != format.Exact || off > allowed || off < -allowed {
			t.Errorf("%s has %v of CPU time (%v), and its thread's clock says %v, give or take %v",
				tr.Name(e.Name), time.Duration(e.CPU), e.Quality, time.Duration(want), time.Duration(allowed))
		}
	}
}

func cpuTimes(t *testing.T, tr *trace.Trace, o trace.Options) (all []trace.Event) {
	t.Helper()
	err := tr.Events(o, func(e *trace.Event) bool {
		if e.Kind == format.KindTask {
			all = append(all, *e)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
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
