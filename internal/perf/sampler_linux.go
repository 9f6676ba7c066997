package perf

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/unwind"
)

// Sampler samples the stacks of threads each time that one of their counters has reached its
// interval. The zero value can be started once.
type Sampler struct {
	rec      collect.Recording
	mu       sync.Mutex // held while the rings are read
	names    *OwnNamer
	counters []*Watched
	last     map[string]string // facts, as recorded last
	facts    int               // number of facts recorded so far
	own      map[uint64]uint32 // by the event's id: the thread that it was opened for
	owners   map[series]uint32 // for each thread and counter, the thread whose events count
	exited   [2][]uint32       // threads that have ended in the last two rounds
	raw      []byte
	pcs      []uint64
	cache    unwind.Cache
	got      []sample // too new to be final
	out      map[series]*format.Samples
	until    int64 // up to here samples are written, or in out
	next     time.Time
	quit     chan struct{}
	done     chan struct{}
}

// sample is a sample that is not yet in a block.
type sample struct {
	series
	format.CodeSample
}

// series identifies the samples of a block.
type series struct {
	thread  uint32 // 0: unknown
	counter *Watched
}

// mostFacts limits how often the state of counters is recorded: in a ring facts are never
// overwritten.
const mostFacts = 200

// Start begins to sample, which takes some milliseconds. It records for each counter whether it
// is available, see factCounter. It returns false if none is; then Stop must not be called.
func (s *Sampler) Start(rec collect.Recording, names *OwnNamer, counters []Counter) bool {
	s.rec, s.names = rec, names
	s.last, s.own, s.owners, s.out = map[string]string{}, map[uint64]uint32{}, map[series]uint32{}, map[series]*format.Samples{}
	s.until = sys.Monotonic()
	for _, c := range counters {
		w := &Watched{Counter: c}
		if err := s.add(w); err != nil {
			rec.Fact(factCounter+c.Name, "off: "+err.Error())
			continue
		}
		s.counters = append(s.counters, w)
	}
	if len(s.counters) == 0 {
		return false
	}
	s.recordFacts()
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.drain()
	return true
}

// add opens the events of a counter: for each thread on each CPU.
func (s *Sampler) add(w *Watched) error {
	var err error
	if w.Events, err = ownEvents(); err != nil {
		return err
	}
	return w.Watch(sys.Watching{Tasks: len(s.counters) == 0, Stack: ownStack}, func(ask sys.Watching) error {
		_, err := w.openAll(ask, func(tid int, id uint64) {
			s.own[id] = uint32(tid)
			s.owners[series{uint32(tid), w}] = uint32(tid)
		})
		return err
	})
}

// recordFacts records changes in the facts about counters.
func (s *Sampler) recordFacts() {
	for _, w := range s.counters {
		if key, value := w.Fact(); s.last[key] != value && s.facts < mostFacts {
			s.last[key] = value
			s.facts++
			s.rec.Fact(key, value)
		}
	}
}

// drain reads the rings until Stop, more often the fuller they are.
func (s *Sampler) drain() {
	defer close(s.done)
	atRate(s.quit, func() (full float64) {
		s.rec.Work(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			full = s.read(sys.Monotonic() - int64(settle))
			if now := time.Now(); now.After(s.next) {
				s.next = now.Add(flushEvery)
				s.flush()
			}
		})
		return full
	})
}

// read reads the rings, and puts the samples up to until into blocks, sorted by time, because a
// thread's samples may be in the rings of several CPUs. It returns how full the fullest ring was.
func (s *Sampler) read(until int64) (full float64) {
	for _, w := range s.counters {
		for i := range w.CPUs {
			s.raw = w.Read(i, s.raw[:0])
			part, _ := w.Full(i, len(s.raw))
			full = max(full, part)
			Parse(s.raw, func(e *Event) { s.take(w, e) })
		}
	}
	s.forget()
	slices.SortStableFunc(s.got, func(a, b sample) int { return cmp.Compare(a.Time, b.Time) })
	n := 0
	for n < len(s.got) && s.got[n].Time <= until {
		x := &s.got[n]
		b := s.block(x.series)
		x.Time = max(x.Time, b.Base, b.Until)
		b.Until = x.Time
		if b.List = append(b.List, x.CodeSample); len(b.List) >= format.FullSamples {
			s.write(x.series, b.Until)
		}
		n++
	}
	s.got = append(s.got[:0], s.got[n:]...)
	s.until = max(s.until, until)
	return full
}

// forget removes threads whose ends were read in the previous round: until now other rings may
// have had samples of them.
func (s *Sampler) forget() {
	for _, tid := range s.exited[0] {
		for _, w := range s.counters {
			delete(s.owners, series{tid, w})
		}
	}
	s.exited[0], s.exited[1] = s.exited[1], s.exited[0][:0]
}

// take processes a record of a counter.
func (s *Sampler) take(w *Watched, e *Event) {
	switch {
	case e.Kind == KindSample:
		if int(e.PID) != os.Getpid() || s.twice(w, e) {
			return
		}
		s.pcs = e.PCs(s.pcs[:0], ownText{}, &s.cache)
		s.got = append(s.got, sample{series{e.TID, w}, format.CodeSample{Time: e.Time, Kernel: e.Kernel(), CPU: e.CPU, Weight: e.Period, Stack: s.names.Stack(s.pcs)}})
	case e.Kind == kindExit && int(e.PID) == os.Getpid():
		s.exited[1] = append(s.exited[1], e.TID)
	default:
		s.lost(w, w.Take(e))
	}
}

// twice reports whether a sample is of an event that does not count. A thread created while
// events were opened has them twice, inherited and its own, and so have threads that it creates.
// Event.fault explains ids of foreign events.
func (s *Sampler) twice(w *Watched, e *Event) bool {
	owner, ours := s.own[e.ID]
	k := series{e.TID, w}
	first, known := s.owners[k]
	if ours && !known {
		s.owners[k] = owner
	}
	return ours && known && first != owner
}

// lost counts samples for which a ring had no room. The kernel does not report their threads.
func (s *Sampler) lost(w *Watched, n int64) {
	if n > 0 {
		s.block(series{0, w}).Lost += n
	}
}

// block returns the unwritten block of a thread and a counter.
func (s *Sampler) block(k series) *format.Samples {
	b := s.out[k]
	if b == nil {
		b = &format.Samples{Thread: k.thread, Base: s.until, Until: s.until, Counter: k.counter.Name, Unit: k.counter.Unit()}
		s.out[k] = b
	}
	return b
}

// write writes a block up to until. If there is no room it is kept for another attempt, and a
// full block is counted as lost.
func (s *Sampler) write(k series, until int64) bool {
	b := s.out[k]
	b.Until = max(b.Until, until)
	ok := s.rec.Block(format.BlockSamples, format.AppendSamples(nil, b))
	switch {
	case ok:
		b.Lost = 0
	case len(b.List) >= format.FullSamples:
		b.Lost += int64(len(b.List))
	default:
		return false
	}
	b.Base, b.List = b.Until, b.List[:0]
	return ok
}

// flush writes all blocks, and reports whether there was room.
func (s *Sampler) flush() bool {
	all := true
	for k, b := range s.out {
		if len(b.List) == 0 && b.Lost == 0 || s.write(k, s.until) {
			delete(s.out, k)
		} else {
			all = false
		}
	}
	return all
}

// Snapshot writes all samples up to now.
func (s *Sampler) Snapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit != nil {
		s.read(sys.Monotonic() - int64(settle))
		s.flush()
		s.recordFacts()
	}
}

// Stop ends the sampling, writes the rest, and releases everything.
func (s *Sampler) Stop() {
	close(s.quit)
	<-s.done
	now := sys.Monotonic()
	time.Sleep(settle)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read(now)
	for _, w := range s.counters {
		s.lost(w, w.LostLast())
	}
	s.recordFacts()
	for end := time.Now().Add(patience); !s.flush() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	for _, w := range s.counters {
		w.Close()
	}
	s.counters, s.got, s.out, s.quit = nil, nil, nil, nil
}
