package perf

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// taken is a recording that keeps samples and their names.
type taken struct {
	mu     sync.Mutex
	full   bool
	facts  map[string]string
	blocks []format.Samples
	frames map[uint32]string
	stacks map[uint32][]uint32
	codes  map[uint32]int
	only   uint32 // the thread that total counts; 0: all
}

func newTaken() *taken {
	return &taken{facts: map[string]string{}, frames: map[uint32]string{}, stacks: map[uint32][]uint32{}, codes: map[uint32]int{}}
}

func (k *taken) Block(typ format.BlockType, p []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full {
		return false
	}
	switch typ {
	case format.BlockSamples:
		var r format.SamplesReader
		s, err := r.Decode(p)
		if err != nil || len(p) > 60_000 {
			panic(err)
		}
		k.blocks = append(k.blocks, s)
	case format.BlockFrame:
		f, _ := format.DecodeFrame(p)
		k.frames[f.ID] = f.Function
	case format.BlockStack:
		s, _ := format.DecodeStack(p)
		k.stacks[s.ID] = s.Frames
	case format.BlockCode:
		c, _ := format.DecodeCode(p)
		k.codes[c.Stack] = len(c.PCs)
	}
	return true
}

func (k *taken) Fact(key, value string) { k.facts[key] = value }
func (k *taken) Work(f func())          { f() }
func (k *taken) Ring() int64            { return 0 }

// total returns a counter's sums: all, in the kernel, with a function on the stack, and the number
// of lost samples. Blocks of a thread must follow each other.
func (k *taken) total(t *testing.T, counter, function string) (all, kernel, in, lost int64) {
	t.Helper()
	until := map[uint32]int64{}
	for _, b := range k.blocks {
		if b.Counter != counter || k.only > 0 && b.Thread != k.only {
			continue
		}
		if b.Base < until[b.Thread] {
			t.Errorf("samples of thread %d from %d on, after some up to %d", b.Thread, b.Base, until[b.Thread])
		}
		until[b.Thread] = b.Until
		lost += b.Lost
		for _, x := range b.List {
			all += x.Weight
			if x.Kernel {
				kernel += x.Weight
			}
			for _, f := range k.stacks[x.Stack] {
				if strings.HasSuffix(k.frames[f], "."+function) {
					in += x.Weight
					break
				}
			}
			if x.Stack != format.OtherStacks && k.codes[x.Stack] == 0 {
				t.Errorf("stack %d has no addresses", x.Stack)
			}
		}
	}
	return all, kernel, in, lost
}

// sampled runs f on a thread of its own while counters sample it.
func sampled(t *testing.T, f func(), counters ...Counter) *taken {
	t.Helper()
	k, s := newTaken(), new(Sampler)
	if !s.Start(k, NewOwnNamer(k), counters) {
		t.Skipf("no counter is there: %v", k.facts)
	}
	for _, c := range counters {
		if how := k.facts[factCounter+c.Name]; how != "on" {
			s.Stop()
			t.Skipf("%s: %s", c.Name, how)
		}
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		f()
		close(done)
	}()
	<-done
	s.Stop()
	return k
}

func threadCPU() time.Duration {
	n, _ := sys.CPUOf(unix.Gettid())
	return time.Duration(n)
}

var sink int

//go:noinline
func hotLoop(cpu time.Duration) {
	n := 0
	for until := threadCPU() + cpu; threadCPU() < until; {
		for i := range 1_000_000 {
			n += n*7 + i
		}
	}
	sink = n
}

// TestTaskClock: a hot function has the samples, and they add up to its CPU time.
func TestTaskClock(t *testing.T) {
	var cpu time.Duration
	var thread uint32
	k := sampled(t, func() {
		thread = uint32(unix.Gettid())
		from := threadCPU()
		hotLoop(500 * time.Millisecond)
		cpu = threadCPU() - from
	}, Counter{taskClock, 1e6})
	k.only = thread
	all, kernel, in, lost := k.total(t, taskClock, "hotLoop")
	t.Logf("%v of CPU time: %v in the samples, %v in the kernel, %v in hotLoop, %d lost", cpu, time.Duration(all), time.Duration(kernel), time.Duration(in), lost)
	if in < all*9/10 {
		t.Errorf("%v of %v are in hotLoop", time.Duration(in), time.Duration(all))
	}
	// Time that a hypervisor took is in the thread's clock and not in the timer's.
	if off := in - int64(cpu); off > int64(cpu)/10 || off < -int64(cpu)/10 {
		t.Errorf("hotLoop had %v, by its samples %v", cpu, time.Duration(in))
	}
}

// populate has the kernel create a thousand pages. Nearly all of its time is the kernel's, also
// with the race detector, which would check the buffers of Read and Write.
//
//go:noinline
func populate(t *testing.T) {
	b, err := unix.Mmap(-1, 0, 1000*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		t.Error(err)
		return
	}
	_ = unix.Munmap(b)
}

// TestSystemCalls: the samples of a thread that makes only system calls are in the kernel.
func TestSystemCalls(t *testing.T) {
	k := sampled(t, func() {
		for until := threadCPU() + 200*time.Millisecond; threadCPU() < until; {
			populate(t)
		}
	}, Counter{taskClock, 1e6})
	all, kernel, in, _ := k.total(t, taskClock, "populate")
	if kernel < all/2 || in < kernel/2 {
		t.Errorf("%v, of it %v in the kernel, %v in populate", time.Duration(all), time.Duration(kernel), time.Duration(in))
	}
}

//go:noinline
func touch(t *testing.T, pages int) {
	size := pages * os.Getpagesize()
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Error(err)
		return
	}
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	for i := 0; i < size; i += os.Getpagesize() {
		b[i] = 1
	}
	_ = unix.Munmap(b)
}

// TestPageFaults: each fresh page is a fault.
func TestPageFaults(t *testing.T) {
	const pages = 500
	k := sampled(t, func() { touch(t, pages) }, Counter{"page-faults", 1}, Counter{"minor-faults", 1})
	for _, name := range []string{"page-faults", "minor-faults"} {
		all, _, in, lost := k.total(t, name, "touch")
		t.Logf("%s: %d, %d in touch, %d lost", name, all, in, lost)
		if sys.Race {
			lost = 0 // the detector's own pages, on its other threads, fault faster than can be recorded
		}
		if in < pages || in > pages+20 || lost > 0 {
			t.Errorf("%s: %d pages were touched: %d faults there, %d lost", name, pages, in, lost)
		}
	}
}

// TestThreadsComeAndGo: threads that begin after the counters, and end, are all sampled.
func TestThreadsComeAndGo(t *testing.T) {
	const threads, pages = 20, 50
	k := sampled(t, func() {
		for range threads {
			done := make(chan bool)
			go func() {
				defer close(done)
				runtime.LockOSThread() // and never unlocked: the thread ends
				touch(t, pages)
			}()
			<-done
		}
	}, Counter{"page-faults", 1}, Counter{"context-switches", 1})
	// A ring has room for these, but not for the race detector's thousands for each thread.
	all, _, in, lost := k.total(t, "page-faults", "touch")
	if in+lost < threads*pages || in > threads*(pages+10) || lost > 0 && !sys.Race {
		t.Errorf("%d pages were touched, %d of %d faults there, %d lost", threads*pages, in, all, lost)
	}
	if all, kernel, _, _ := k.total(t, "context-switches", "touch"); all < threads || kernel != all {
		t.Errorf("%d threads came and went: %d context switches, %d in the kernel", threads, all, kernel)
	}
}

// TestNoSuchCounter: a counter that is unavailable is reported, and the others work nevertheless.
func TestNoSuchCounter(t *testing.T) {
	k, s := newTaken(), new(Sampler)
	on := s.Start(k, NewOwnNamer(k), []Counter{{"nothing", 1}, {"cycles", 1e6}, {"page-faults", 1}, {taskClock, 1}})
	if on {
		s.Stop()
	}
	if k.facts["counter_nothing"] == "" || !strings.HasPrefix(k.facts["counter_nothing"], "off: unknown counter") || !strings.HasPrefix(k.facts["counter_task-clock"], "off: an interval of 1 ns") {
		t.Errorf("%q", k.facts)
	}
	if devices, _ := filepath.Glob("/sys/bus/event_source/devices/cpu*"); len(devices) == 0 && on {
		if want := "off: this machine has no such counter; task-clock, page-faults, context-switches and cpu-migrations are there"; k.facts["counter_cycles"] != want {
			t.Errorf("cycles are %s", k.facts["counter_cycles"])
		}
	}
	if on != strings.HasPrefix(k.facts["counter_page-faults"], "on") && !strings.HasPrefix(k.facts["counter_cycles"], "on") {
		t.Errorf("%v, and %q", on, k.facts)
	}
	if s := new(Sampler); s.Start(k, NewOwnNamer(k), []Counter{{"nothing", 1}}) {
		t.Error("it started with nothing to count")
	}
}

// TestLostAtTheEnd: samples for which there is no room are counted, also at the very end, when no
// later record reports them.
func TestLostAtTheEnd(t *testing.T) {
	faults := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return u.Minflt + u.Majflt
	}
	before := faults()
	k, s := newTaken(), new(Sampler)
	if !s.Start(k, NewOwnNamer(k), []Counter{{"page-faults", 1}}) {
		t.Skipf("%v", k.facts)
	}
	if k.facts["counter_page-faults"] != "on" {
		s.Stop()
		t.Skip(k.facts["counter_page-faults"])
	}
	s.mu.Lock() // stops the reading
	from := faults()
	touch(t, 6000)
	least := faults() - from
	s.mu.Unlock()
	s.Stop()
	most := faults() - before
	if all, _, _, lost := k.total(t, "page-faults", "touch"); lost == 0 || all+lost < least || all+lost > most {
		t.Errorf("there were %d to %d page faults: %d samples, %d lost", least, most, all, lost)
	}
}

// TestFact: the fact names what a counter lacks.
func TestFact(t *testing.T) {
	for _, c := range []struct {
		w    Watched
		want string
	}{
		{Watched{}, "on"},
		{Watched{user: true}, "on, except in the kernel, which this user may not monitor (kernel.perf_event_paranoid)"},
		{Watched{Missing: "no room"}, "on, but not to the end: no room"},
	} {
		c.w.Counter = Counter{taskClock, 1e6}
		if key, value := c.w.Fact(); key != "counter_task-clock" || value != c.want {
			t.Errorf("%s is %s, want %s", key, value, c.want)
		}
	}
	w := Watched{Counter: Counter{taskClock, 1e6}}
	lost := int64(0)
	Parse(slices.Concat(words(KindThrottle, 0, 1, 2, 3, 4, 5, 6, 7), words(KindThrottle, 0, 1, 2, 3, 4, 5, 6, 7), words(KindLost, 0, 2, 9, 4, 5, 6, 7)), func(e *Event) {
		lost += w.Take(e)
	})
	want := "on, but the kernel paused it 2 times, because samples came too fast (kernel.perf_event_max_sample_rate)"
	if _, value := w.Fact(); value != want || lost != 9 {
		t.Errorf("%s, %d lost", value, lost)
	}
}

// TestUnsampled: CPU time that the counter has not counted is reported if it is more than a
// hundredth, and for no other counter.
func TestUnsampled(t *testing.T) {
	events, err := ownEvents()
	if err != nil {
		t.Skip(err)
	}
	w := &Watched{Counter: Counter{taskClock, 1e9}, Events: events}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.Watch(sys.Watching{}, func(ask sys.Watching) error { return w.Open(unix.Gettid(), ask, nil) }); err != nil {
		t.Skip(err)
	}
	defer w.Close()
	before, known := w.Counted()
	for after := before; known && after == before; after, known = w.Counted() {
	}
	counted, _ := w.Counted()
	has := time.Duration(counted)
	if !known || counted <= before {
		t.Fatalf("it has counted %d, and then %d; known %v", before, counted, known)
	}
	if got := w.Unsampled(has); got != 0 || w.rest != "" {
		t.Errorf("of what it has counted %v are missing: %q", got, w.rest)
	}
	const second = time.Second
	if got := w.Unsampled(has + second); got > second || got < second-second/100 {
		t.Errorf("of a second more %v are missing", got)
	}
	if _, value := w.Fact(); !strings.Contains(value, "on, except while threads were switched, which can't be sampled: ") {
		t.Error(value)
	}
	w.Name = "page-faults"
	if got := w.Unsampled(has + second); got != 0 {
		t.Errorf("of the CPU time %v are no page faults", got)
	}
}

// TestNoRoomForSamples: samples for which there was no room are counted as lost.
func TestNoRoomForSamples(t *testing.T) {
	k, s := newTaken(), new(Sampler)
	k.full = true
	if !s.Start(k, NewOwnNamer(k), []Counter{{"page-faults", 1}}) {
		t.Skipf("%v", k.facts)
	}
	touch(t, 3*format.FullSamples)
	s.Snapshot()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); { // the newest samples are not final at once
		s.Snapshot()
		s.mu.Lock()
		waiting := len(s.got)
		s.mu.Unlock()
		if waiting == 0 {
			break
		}
	}
	k.mu.Lock()
	k.full = false
	k.mu.Unlock()
	s.Stop()
	all, _, _, lost := k.total(t, "page-faults", "touch")
	if lost < format.FullSamples || all+lost < 3*format.FullSamples {
		t.Errorf("%d pages were touched: %d samples, %d lost", 3*format.FullSamples, all, lost)
	}
}

// TestSamplerStopLeavesNothing: after Stop nothing is left open.
func TestSamplerStopLeavesNothing(t *testing.T) {
	open := func() (fds, maps int) {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		b, _ := os.ReadFile("/proc/self/maps")
		return len(list), strings.Count(string(b), "perf_event")
	}
	list := []Counter{{taskClock, 1e6}, {"cycles", 1e6}, {"page-faults", 1}}
	run := func() {
		k, s := newTaken(), new(Sampler)
		if !s.Start(k, NewOwnNamer(k), list) {
			t.Skipf("%v", k.facts)
		}
		s.Snapshot()
		s.Stop()
		s.Snapshot()
	}
	run()
	fds, _ := open()
	goroutines := runtime.NumGoroutine()
	for range 3 {
		run()
	}
	if after, maps := open(); after > fds || maps > 0 || runtime.NumGoroutine() > goroutines {
		t.Errorf("%d descriptors, %d mappings, %d goroutines; before %d, 0, %d", after, maps, runtime.NumGoroutine(), fds, goroutines)
	}
}
