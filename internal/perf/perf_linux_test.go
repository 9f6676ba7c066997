package perf

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

func started(t *testing.T) (*Switches, *kept) {
	t.Helper()
	k := newKept(t)
	s := new(Switches)
	if err := s.Start(k); err != nil {
		t.Skip(err)
	}
	return s, k
}

// moment is a thread's state according to the kernel.
type moment struct {
	mono, cpu  int64
	waited     int64 // waiting for a CPU
	slept, put int64 // how often it left a CPU to wait, and for others
}

// looks returns a function that reads the state of the calling thread at a moment when it leaves no
// CPU.
func looks(t *testing.T, tid int) func() moment {
	f, err := os.Open("/proc/thread-self/schedstat")
	if err != nil {
		t.Error(err)
		return func() (m moment) { return m }
	}
	t.Cleanup(func() { f.Close() })
	left := func() (m moment) {
		var u unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)
		m.slept, m.put = u.Nvcsw, u.Nivcsw
		return m
	}
	b := make([]byte, 100)
	return func() moment {
		for {
			m := left()
			before := m
			n, _ := f.ReadAt(b, 0)
			if words := strings.Fields(string(b[:n])); len(words) == 3 {
				m.waited, _ = strconv.ParseInt(words[1], 10, 64)
			}
			m.cpu, _ = sys.CPUOf(tid)
			m.mono = sys.Monotonic()
			if left() == before {
				return m
			}
		}
	}
}

// TestThreadsClocks: the switches of a thread agree with the kernel, in number and in time on a
// CPU. That time is the elapsed time without the thread's waits, because its CPU clock stands still
// while the hypervisor gives the CPU to others, or an interrupt has it. The threads existed before,
// were created later, or have ended.
func TestThreadsClocks(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/schedstat"); err != nil {
		t.Skip(err) // a kernel without CONFIG_SCHED_INFO
	}
	s, k := started(t)
	type span struct {
		tid      int
		from, to moment
		busy     [][2]moment // without sleep
	}
	const want = 20
	spans := make(chan span)
	work := func(end bool) {
		runtime.LockOSThread()
		if !end {
			defer runtime.UnlockOSThread()
		}
		x := span{tid: unix.Gettid()}
		look := looks(t, x.tid)
		x.from = look()
		for deadline := time.Now().Add(10 * time.Second); len(x.busy) < want && time.Now().Before(deadline); {
			begin, now := look(), moment{}
			for now = begin; now.cpu < begin.cpu+int64(2*time.Millisecond) && !t.Failed(); {
				now = look()
			}
			if now.slept == begin.slept { // otherwise Go's scheduler was in between
				x.busy = append(x.busy, [2]moment{begin, now})
			}
			time.Sleep(time.Millisecond)
		}
		x.to = look()
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
		_, unknown, left := k.onCPU(uint32(x.tid), x.from.mono, x.to.mono)
		if unknown > 0 {
			t.Errorf("thread %d: %d ns are not known", x.tid, unknown)
		}
		if n := x.to.slept + x.to.put - x.from.slept - x.from.put; left != n {
			t.Errorf("thread %d left a CPU %d times, and by its switches %d times", x.tid, n, left)
		}
		if len(x.busy) < want {
			t.Errorf("thread %d computed %d times without sleep, want %d", x.tid, len(x.busy), want)
		}
		var on, should, cpu int64
		for _, b := range x.busy {
			part, _, _ := k.onCPU(uint32(x.tid), b[0].mono, b[1].mono)
			on += part
			should += b[1].mono - b[0].mono - (b[1].waited - b[0].waited)
			cpu += b[1].cpu - b[0].cpu
		}
		t.Logf("thread %d: %d switches, on a CPU for %d us by its switches, %d us by what it waited, %d us by its clock", x.tid, left, on/1000, should/1000, cpu/1000)
		if off := on - should; off > should/20 || off < -should/20 {
			t.Errorf("thread %d was on a CPU for %d ns, and by its switches for %d", x.tid, should, on)
		}
		if on < cpu-cpu/20 {
			t.Errorf("thread %d was on a CPU for %d ns by its clock, and by its switches for %d", x.tid, cpu, on)
		}
	}
	for _, key := range []string{FactSwitches, factClockBegin, factClockEnd} {
		t.Logf("%s: %s", key, k.facts[key])
	}
}

// TestStopLeavesNothing: after Stop nothing is left open.
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

// TestPause: during a pause it is unknown what threads do, also threads created meanwhile; before
// and after the pause it is known, and the cost is counted.
func TestPause(t *testing.T) {
	s, k := started(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	naps := func() (tid int, from, to int64) {
		from = sys.Monotonic()
		for range 20 {
			unix.Nanosleep(&unix.Timespec{Nsec: 200_000}, nil)
		}
		return unix.Gettid(), from, sys.Monotonic()
	}
	type span struct {
		tid      int
		from, to int64
	}
	tid, from, to := naps()
	before := s.Spent()
	s.Pause(true)
	s.Pause(true)
	cost := s.Spent()
	_, off, on := naps()
	made, next := make(chan span), make(chan bool)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		for range 2 {
			tid, from, to := naps()
			made <- span{tid, from, to}
			<-next
		}
	}()
	unseen := <-made
	s.Pause(false)
	next <- true
	seen := <-made
	_, again, end := naps()
	s.Stop()
	close(next)
	if before == 0 && cost == 0 && s.Spent() == 0 {
		t.Error("nothing was spent")
	}
	for _, c := range []struct {
		what     string
		tid      int
		from, to int64
		known    bool
	}{
		{"before", tid, from, to, true}, {"paused", tid, off, on, false}, {"made while paused", unseen.tid, unseen.from, unseen.to, false},
		{"made while paused, and then", seen.tid, seen.from, seen.to, true}, {"after", tid, again, end, true},
	} {
		_, unknown, left := k.onCPU(uint32(c.tid), c.from, c.to)
		if all := c.to - c.from; c.known && (unknown > all/2 || left < 15) || !c.known && (unknown < all*9/10 || left > 0) {
			t.Errorf("%s: %d of %d ns are unknown, and it left a CPU %d times", c.what, unknown, all, left)
		}
	}
	if got := k.facts[FactPaused]; !strings.HasSuffix(got, "% of the time") {
		t.Errorf("paused: %q", got)
	}
}
