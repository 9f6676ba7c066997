package perf

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

func started(t *testing.T) (*Switches, *kept) {
	t.Helper()
	k := newKept(t)
	s := New()
	if err := s.Start(k); err != nil {
		t.Skip(err)
	}
	return s, k
}

// burn computes until the thread has had so much CPU time.
func burn(tid int, d time.Duration) {
	begin, _ := sys.CPUOf(tid)
	for now := begin; now < begin+int64(d); now, _ = sys.CPUOf(tid) {
	}
}

// What the switches say of a thread agrees with its CPU clock: of one that was there, of
// one that was made later, and of one that has ended.
func TestThreadsClocks(t *testing.T) {
	s, k := started(t)
	type span struct {
		tid      int
		from, to int64
		cpu      int64
	}
	spans := make(chan span)
	work := func(end bool) {
		runtime.LockOSThread()
		if !end {
			defer runtime.UnlockOSThread()
		}
		x := span{tid: unix.Gettid(), from: sys.Monotonic()}
		x.cpu, _ = sys.CPUOf(x.tid)
		for range 20 {
			burn(x.tid, 2*time.Millisecond)
			time.Sleep(time.Millisecond)
		}
		after, _ := sys.CPUOf(x.tid)
		x.to, x.cpu = sys.Monotonic(), after-x.cpu
		spans <- x
	}
	for range 4 {
		go work(true)
	}
	go work(false)
	var all []span
	for range 5 {
		all = append(all, <-spans)
	}
	s.Stop()
	for _, x := range all {
		on, unknown := k.onCPU(uint32(x.tid), x.from, x.to)
		t.Logf("thread %d: %d us by its clock, %d us by its switches, %d us unknown", x.tid, x.cpu/1000, on/1000, unknown/1000)
		if unknown > 0 {
			t.Errorf("thread %d: %d ns are not known", x.tid, unknown)
		}
		if off := on - x.cpu; off > x.cpu/20 || off < -x.cpu/20 {
			t.Errorf("thread %d was on a CPU for %d ns by its clock, and %d by its switches", x.tid, x.cpu, on)
		}
	}
	for _, key := range []string{FactSwitches, FactClockBegin, FactClockEnd} {
		t.Logf("%s: %s", key, k.facts[key])
	}
}

// Nothing is left open.
func TestStopLeavesNothing(t *testing.T) {
	open := func() (fds, maps int) {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		b, _ := os.ReadFile("/proc/self/maps")
		return len(list), strings.Count(string(b), "perf_event")
	}
	s, _ := started(t)
	s.Stop()
	fds, _ := open()
	goroutines := runtime.NumGoroutine()
	for range 3 {
		s, _ := started(t)
		s.Stop()
	}
	after, maps := open()
	if after > fds || maps > 0 || runtime.NumGoroutine() > goroutines {
		t.Errorf("%d descriptors, %d mappings, %d goroutines; before %d, 0, %d", after, maps, runtime.NumGoroutine(), fds, goroutines)
	}
}
