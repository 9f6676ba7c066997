package perf

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

const (
	settle = 2 * time.Millisecond // after so long a switch is in its ring

	slowest = 100 * time.Millisecond // between two readings
	fastest = 5 * time.Millisecond

	flushEvery = time.Second // what threads did is written
	restEvery  = 10          // times as seldom: that threads do nothing

	patience = 200 * time.Millisecond // that Stop has where there is no room
)

// Switches records when threads come onto CPUs and leave them. The zero value can be
// started once.
type Switches struct {
	rec      collect.Recording
	mu       sync.Mutex // held while the rings are read
	fds      []int
	rings    []*ring
	all      threads
	got      []record // by time, too new to be believed
	next     time.Time
	round    int   // of flushing
	believed int64 // up to then, ns of the monotonic clock
	quit     chan struct{}
	done     chan struct{}
}

// ring is one CPU's.
type ring struct {
	*sys.SwitchRing
	stream
	raw []byte
}

// Start begins to record, and costs some milliseconds. The error is a sentence that says
// why it is not possible; then there is nothing to stop. Either way the trace is told,
// see FactSwitches.
func (s *Switches) Start(rec collect.Recording) error {
	s.rec = rec
	err := s.open()
	if err != nil {
		s.close()
		rec.Fact(FactSwitches, "off: "+err.Error())
		return err
	}
	rec.Fact(FactSwitches, "on")
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.drain()
	return nil
}

// open opens the events and rings, and takes in the threads that there are.
func (s *Switches) open() error {
	if sys.Filtered() {
		return errors.New("a seccomp filter is active, and may end the program for trying (perf_event_open)")
	}
	cpus, err := online()
	if err != nil {
		return fmt.Errorf("which CPUs there are is not known: %w", err)
	}
	s.rings = make([]*ring, len(cpus))
	known := map[int]bool{}
	for { // until no thread is new: a thread without events may have made others
		tids, err := tasks()
		if err != nil {
			return fmt.Errorf("the threads are not known: %w", err)
		}
		before := len(known)
		for _, tid := range tids {
			if known[tid] {
				continue
			}
			known[tid] = true
			if err := s.watch(tid, cpus); err != nil {
				return err
			}
		}
		if len(known) == before {
			break
		}
	}
	now := sys.Monotonic()
	s.clockFact(factClockBegin, now)
	s.all = threads{
		m:     map[uint32]*thread{},
		out:   queue{write: func(p []byte) bool { return s.rec.Block(format.BlockSwitch, p) }},
		clock: func(tid uint32) (int64, bool) { return sys.CPUOf(int(tid)) },
	}
	self := uint32(unix.Gettid())
	for tid := range known {
		s.all.exists(uint32(tid), now)
	}
	if t := s.all.m[self]; t != nil && uint32(unix.Gettid()) == self {
		t.known, t.on, t.now = true, true, true
	}
	// What came before is of no use: not all threads had their events.
	for _, r := range s.rings {
		if r != nil {
			s.got = r.parse(s.got, r.Read(nil))
		}
	}
	s.got = slices.DeleteFunc(s.got, func(r record) bool { return r.time < now })
	return nil
}

// most is how many descriptors are opened at most, of those that the process may have.
func most() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 256
	}
	return int(min(limit.Cur/4, 1<<16))
}

// watch gives a thread its events.
func (s *Switches) watch(tid int, cpus []int) error {
	if len(s.fds)+len(cpus) > most() {
		return fmt.Errorf("that would take a descriptor for each thread on each of %d CPUs, more than a quarter of what ulimit -n allows", len(cpus))
	}
	for i, cpu := range cpus {
		fd, err := sys.WatchSwitches(tid, cpu)
		switch {
		case err == unix.ESRCH: // it has ended
			return nil
		case err == unix.ENODEV: // the CPU was switched off
			continue
		case err != nil:
			return refused(err)
		}
		s.fds = append(s.fds, fd)
		if s.rings[i] == nil {
			made, err := newRing(fd, len(cpus))
			if err != nil {
				return err
			}
			s.rings[i] = &ring{SwitchRing: made, stream: stream{pid: uint32(os.Getpid()), from: map[uint32]uint64{}}}
			continue
		}
		if err := s.rings[i].Take(fd); err != nil {
			return fmt.Errorf("%w", err)
		}
	}
	return nil
}

// newRing makes the ring of fd's CPU, as large as is allowed.
func newRing(fd, cpus int) (*sys.SwitchRing, error) {
	pages := 64
	for pages > 8 && pages*cpus > 1024 {
		pages /= 2
	}
	for ; ; pages /= 2 {
		r, err := sys.NewSwitchRing(fd, pages)
		if err == nil {
			return r, nil
		}
		if err != unix.EPERM || pages == 1 {
			return nil, fmt.Errorf("no memory for the kernel to write them (perf_event_mlock_kb, ulimit -l): %w", err)
		}
	}
}

// refused says why the kernel does not watch.
func refused(err error) error {
	if err != unix.EACCES && err != unix.EPERM {
		return fmt.Errorf("perf_event_open: %w", err)
	}
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if text := strings.TrimSpace(string(level)); text != "" {
		return fmt.Errorf("perf_event_open is not allowed (kernel.perf_event_paranoid is %s; up to 2 will do): %w", text, err)
	}
	return fmt.Errorf("perf_event_open is not allowed: %w", err)
}

// tasks lists the process's threads.
func tasks() ([]int, error) {
	d, err := os.Open("/proc/self/task")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	var tids []int
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, err
}

// online lists the CPUs.
func online() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return cpuList(strings.TrimSpace(string(b)))
}

// cpuList reads a list such as 0-3,8.
func cpuList(text string) (cpus []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err := errors.Join(err1, err2); err != nil || b < a {
			return nil, fmt.Errorf("%q is no list of CPUs", text)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, int(a))
		}
	}
	return cpus, nil
}

// drain reads the rings until Stop, the more often the fuller they are found.
func (s *Switches) drain() {
	defer close(s.done)
	every := fastest
	t := time.NewTimer(every)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-t.C:
		}
		var full float64
		s.rec.Work(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			full = s.read(sys.Monotonic() - int64(settle))
			s.all.out.retry()
			if now := time.Now(); now.After(s.next) {
				s.next = now.Add(flushEvery)
				s.round++
				s.flush(s.round%restEvery == 0)
			}
		})
		switch {
		case full > 0.25:
			every = max(every/2, fastest)
		case full < 0.0625:
			every = min(every*2, slowest)
		}
		t.Reset(every)
	}
}

// read takes in what the rings have, of which what is older than until is believed. It
// tells how full the fullest was.
func (s *Switches) read(until int64) (full float64) {
	old := len(s.got)
	for _, r := range s.rings {
		if r == nil {
			continue
		}
		r.raw = r.Read(r.raw[:0])
		now := sys.Monotonic()
		full = max(full, float64(len(r.raw))/float64(r.Size()))
		s.got = r.parse(s.got, r.raw)
		if len(r.raw) > r.Size()-mostBytes {
			s.got = append(s.got, record{time: r.last, what: gapFrom}, record{time: now, what: gapTo})
		}
	}
	s.forget(s.got[old:])
	slices.SortStableFunc(s.got, func(a, b record) int { return cmp.Compare(a.time, b.time) })
	n := 0
	for n < len(s.got) && s.got[n].time <= until {
		s.all.add(&s.got[n])
		n++
	}
	s.got = append(s.got[:0], s.got[n:]...)
	s.believed = until
	return full
}

// forget tells the other rings of threads that have ended: each is told of by the CPU
// on which it did, and their numbers are used again.
func (s *Switches) forget(list []record) {
	for i := range list {
		if list[i].what == died {
			for _, r := range s.rings {
				if r != nil {
					delete(r.from, list[i].tid)
				}
			}
		}
	}
}

func (s *Switches) flush(all bool) { s.all.flush(s.believed, all) }

// Snapshot writes what is known up to now.
func (s *Switches) Snapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit != nil {
		s.read(sys.Monotonic() - int64(settle))
		s.flush(true)
	}
}

// Stop ends the recording, writes the rest, and gives everything back.
func (s *Switches) Stop() {
	if s.quit == nil {
		return
	}
	close(s.quit)
	<-s.done
	now := sys.Monotonic()
	s.clockFact(factClockEnd, now)
	time.Sleep(settle)
	s.read(now)
	s.flush(true)
	for end := time.Now().Add(patience); !s.all.out.retry() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	var lost int64
	for _, r := range s.rings {
		if r != nil {
			lost += r.lost
		}
	}
	if lost > 0 {
		s.rec.Fact(factLost, strconv.FormatInt(lost, 10))
	}
	s.close()
	s.quit = nil
}

func (s *Switches) clockFact(key string, now int64) {
	if cpu, ok := sys.ProcessClock(); ok {
		s.rec.Fact(key, fmt.Sprintf("%d %d", now, cpu))
	}
}

// close gives back what open took.
func (s *Switches) close() {
	for _, r := range s.rings {
		if r != nil {
			r.Close()
		}
	}
	for _, fd := range s.fds {
		sys.CloseDescriptor(fd)
	}
	s.rings, s.fds, s.got = nil, nil, nil
}
