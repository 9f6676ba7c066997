package perf

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Sampler samples where threads are each time that a counter of theirs has counted so much.
// The zero value can be started once.
type Sampler struct {
	rec   collect.Recording
	mu    sync.Mutex // held while the rings are read
	names namer
	hits  hits
	fds   []int
	rings []*sys.SwitchRing // of each counter on each CPU: what does not fit is one counter's
	is    map[uint64]event  // by the event's id
	own   map[uint32]bool   // threads that have events of their own, not inherited
	raw   []byte
	got   []sample // too new to be believed
	out   map[series]*format.Samples
	told  int64 // up to then samples are written, or in out
	next  time.Time
	quit  chan struct{}
	done  chan struct{}
}

// event is an event that we opened.
type event struct {
	counter *Counter
	tid     uint32
}

// sample is one that is not yet in a block.
type sample struct {
	series
	format.CodeSample
}

// series is whose samples a block has.
type series struct {
	thread  uint32 // 0: not known
	counter *Counter
}

// fullBlock is how many samples are written at once: a block has to fit a chunk.
const fullBlock = 2000

// Start begins to sample, and costs some milliseconds. The trace is told of each counter
// whether it is there, see FactCounter. It returns false where none is; then there is nothing
// to stop.
func (s *Sampler) Start(rec collect.Recording, counters []Counter) bool {
	s.rec, s.names = rec, newNamer(rec)
	s.is, s.own, s.out = map[uint64]event{}, map[uint32]bool{}, map[series]*format.Samples{}
	s.hits = hits{hit: s.hit, lost: s.lost, died: func(pid, tid uint32) {
		if int(pid) == os.Getpid() {
			delete(s.own, tid)
		}
	}}
	s.told = sys.Monotonic()
	cpus, err := online()
	for i := range counters {
		c := &counters[i]
		how, why := "", err
		if why == nil {
			how, why = s.add(c, cpus)
		}
		if why != nil {
			how = "off: " + why.Error()
		}
		rec.Fact(FactCounter+c.Name, how)
	}
	if len(s.fds) == 0 {
		s.close()
		return false
	}
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.drain()
	return true
}

// add opens the events of a counter: for each thread on each CPU. It returns how much of it
// is there.
func (s *Sampler) add(c *Counter, cpus []int) (how string, err error) {
	k, err := c.find()
	if err != nil {
		return "", err
	}
	if sys.Filtered() {
		return "", errors.New("a seccomp filter is active, and may end the program for trying (perf_event_open)")
	}
	ask := sys.Counting{Type: unix.PERF_TYPE_SOFTWARE, Config: k.config, Every: c.Every, Tasks: len(s.fds) == 0}
	if k.hardware {
		ask.Type = unix.PERF_TYPE_HARDWARE
	}
	fds, rings, how := len(s.fds), len(s.rings), "on"
	err = s.watchAll(c, ask, cpus)
	if ask.User = err == unix.EACCES || err == unix.EPERM; ask.User && !k.inKernel {
		s.drop(fds, rings)
		how = "on, but for what it counts in the kernel, which is not for everybody to see (kernel.perf_event_paranoid)"
		err = s.watchAll(c, ask, cpus)
	}
	if err == nil {
		return how, nil
	}
	s.drop(fds, rings)
	if k.hardware && (err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV || err == unix.EINVAL) {
		return "", errors.New("this machine has no such counter; task-clock, page-faults, context-switches and cpu-migrations are there")
	}
	if errno, ok := err.(unix.Errno); ok {
		return "", refused(errno)
	}
	return "", err
}

// watchAll gives the counter to all threads, and takes in the threads that they make meanwhile.
func (s *Sampler) watchAll(c *Counter, ask sys.Counting, cpus []int) error {
	known := map[int]bool{}
	rings := make([]*sys.SwitchRing, len(cpus))
	for {
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
			if err := s.watch(tid, c, ask, cpus, rings); err != nil {
				return err
			}
		}
		if len(known) == before {
			return nil
		}
	}
}

// watch gives a thread the events of a counter.
func (s *Sampler) watch(tid int, c *Counter, ask sys.Counting, cpus []int, rings []*sys.SwitchRing) error {
	if len(s.fds)+len(cpus) > most() {
		return fmt.Errorf("that would take a descriptor for each thread and counter on each of %d CPUs, more than a quarter of what ulimit -n allows", len(cpus))
	}
	for i, cpu := range cpus {
		fd, id, err := sys.WatchCounter(tid, cpu, ask)
		switch {
		case err == unix.ESRCH: // it has ended
			return nil
		case err == unix.ENODEV && !(ask.Type == unix.PERF_TYPE_HARDWARE): // the CPU was switched off
			continue
		case err != nil:
			return err
		}
		s.fds = append(s.fds, fd)
		s.is[id] = event{c, uint32(tid)}
		s.own[uint32(tid)] = true
		if rings[i] != nil {
			err = rings[i].Take(fd)
		} else if rings[i], err = newRing(fd, len(cpus)); err == nil {
			s.rings = append(s.rings, rings[i])
		}
		if err != nil {
			return fmt.Errorf("a ring for the samples: %w", err)
		}
	}
	return nil
}

// drop gives back all descriptors and rings but the first ones.
func (s *Sampler) drop(fds, rings int) {
	for _, r := range s.rings[rings:] {
		r.Close()
	}
	for _, fd := range s.fds[fds:] {
		sys.CloseDescriptor(fd)
	}
	s.fds, s.rings = s.fds[:fds], s.rings[:rings]
}

// drain reads the rings until Stop, the more often the fuller they are found.
func (s *Sampler) drain() {
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
			if now := time.Now(); now.After(s.next) {
				s.next = now.Add(flushEvery)
				s.flush()
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

// read takes in what the rings have, of which what is older than until gets into blocks: it
// comes by CPU, and a thread has been on several. It tells how full the fullest was.
func (s *Sampler) read(until int64) (full float64) {
	for _, r := range s.rings {
		s.raw = r.Read(s.raw[:0])
		full = max(full, float64(len(s.raw))/float64(r.Size()))
		s.hits.parse(s.raw)
	}
	slices.SortStableFunc(s.got, func(a, b sample) int { return cmp.Compare(a.Time, b.Time) })
	n := 0
	for n < len(s.got) && s.got[n].Time <= until {
		x := &s.got[n]
		b := s.block(x.series)
		x.Time = max(x.Time, b.Base, b.Until)
		b.Until = x.Time
		if b.List = append(b.List, x.CodeSample); len(b.List) >= fullBlock {
			s.write(x.series, b.Until)
		}
		n++
	}
	s.got = append(s.got[:0], s.got[n:]...)
	s.told = max(s.told, until)
	return full
}

// hit takes in a sample.
func (s *Sampler) hit(x *hit) {
	e, ok := s.is[x.id]
	if !ok || int(x.pid) != os.Getpid() || e.tid != x.tid && s.own[x.tid] {
		return // of another process; or the thread has the events twice, inherited and its own
	}
	s.got = append(s.got, sample{series{x.tid, e.counter}, format.CodeSample{Time: x.time, Kernel: x.kernel, CPU: x.cpu, Weight: x.period, Stack: s.names.stack(x.pcs)}})
}

// lost takes in that the kernel had no room in a ring. Of which thread it does not say.
func (s *Sampler) lost(id uint64, n int64) {
	if e, ok := s.is[id]; ok {
		s.block(series{0, e.counter}).Lost += n
	}
}

// block returns what is not yet written of a thread and a counter.
func (s *Sampler) block(k series) *format.Samples {
	b := s.out[k]
	if b == nil {
		b = &format.Samples{Thread: k.thread, Base: s.told, Until: s.told, Counter: k.counter.Name, Unit: k.counter.unit()}
		s.out[k] = b
	}
	return b
}

// write writes a block up to until. What there is no room for is tried again, and lost if
// there is too much of it.
func (s *Sampler) write(k series, until int64) bool {
	b := s.out[k]
	b.Until = max(b.Until, until)
	ok := s.rec.Block(format.BlockSamples, format.AppendSamples(nil, b))
	switch {
	case ok:
		b.Lost = 0
	case len(b.List) >= fullBlock:
		b.Lost += int64(len(b.List))
	default:
		return false
	}
	b.Base, b.List = b.Until, b.List[:0]
	return ok
}

// flush writes all that is known, and reports whether there was room.
func (s *Sampler) flush() bool {
	all := true
	for k, b := range s.out {
		if len(b.List) == 0 && b.Lost == 0 || s.write(k, s.told) {
			delete(s.out, k)
		} else {
			all = false
		}
	}
	return all
}

// Snapshot writes what is known up to now.
func (s *Sampler) Snapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit != nil {
		s.read(sys.Monotonic() - int64(settle))
		s.flush()
	}
}

// Stop ends the sampling, writes the rest, and gives everything back.
func (s *Sampler) Stop() {
	close(s.quit)
	<-s.done
	now := sys.Monotonic()
	time.Sleep(settle)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read(now)
	for end := time.Now().Add(patience); !s.flush() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	s.close()
	s.quit = nil
}

func (s *Sampler) close() {
	s.drop(0, 0)
	s.rings, s.fds, s.got, s.out = nil, nil, nil, nil
}
