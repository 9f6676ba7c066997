package perf

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

const (
	settle = 2 * time.Millisecond // after this time a switch is in its ring

	slowest = 100 * time.Millisecond // time between two reads
	fastest = 5 * time.Millisecond

	flushEvery = time.Second // interval of writing switches
	restEvery  = 10          // threads without switches are written every restEvery-th time

	patience = 200 * time.Millisecond // how long Stop tries to write if there is no room
)

// Switches records when threads get CPUs and leave them. The zero value can be started once.
type Switches struct {
	rec      collect.Recording
	mu       sync.Mutex // held while the rings are read
	events   Events
	rings    []*ring // one for each of the events' CPUs
	all      threads
	got      []record // by time, too new to be final
	next     time.Time
	round    int          // number of flushes
	believed int64        // records are final up to here, ns of the monotonic clock
	paused   int64        // begin of the pause, likewise; 0: not paused
	without  int64        // ns paused so far
	began    int64        // ns of the monotonic clock
	records  atomic.Int64 // number of records
	quit     chan struct{}
	done     chan struct{}
}

// ring is the ring of one CPU.
type ring struct {
	stream
	raw []byte
}

// Start begins to record, which takes some milliseconds. The error is a sentence with the reason
// why it is not possible; then Stop need not be called. Either way Start records FactSwitches.
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

// switching configures the events: switches, and by the same event major page faults, which the
// kernel reports when the page is there.
var switching = sys.Watching{
	Switches: true, Tasks: true,
	Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ, Every: 1, User: true, Address: true,
}

// open opens the events and rings, and adds the existing threads.
func (s *Switches) open() error {
	var err error
	if s.events, err = ownEvents(); err != nil {
		return err
	}
	tids, err := s.events.openAll(switching, nil)
	if err != nil {
		return Refused(err)
	}
	for range s.events.CPUs {
		s.rings = append(s.rings, &ring{stream: stream{pid: uint32(os.Getpid()), from: map[uint32]uint64{}}})
	}
	now := sys.Monotonic()
	s.began = now
	s.clockFact(factClockBegin, now)
	s.all = threads{
		m:     map[uint32]*thread{},
		out:   queue{write: func(p []byte) bool { return s.rec.Block(format.BlockSwitch, p) }},
		clock: func(tid uint32) (int64, bool) { return sys.CPUOf(int(tid)) },
	}
	self := uint32(unix.Gettid())
	for _, tid := range tids {
		s.all.exists(uint32(tid), now)
	}
	if t := s.all.m[self]; t != nil && uint32(unix.Gettid()) == self {
		t.known, t.on, t.now = true, true, true
	}
	// Earlier records are of no use: not all threads had their events.
	for i, r := range s.rings {
		s.got = r.parse(s.got, s.events.Read(i, nil))
	}
	s.got = slices.DeleteFunc(s.got, func(r record) bool { return r.time < now })
	return nil
}

// drain reads the rings until Stop, more often the fuller they are.
func (s *Switches) drain() {
	defer close(s.done)
	atRate(s.quit, func() (full float64) {
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
		return full
	})
}

// atRate calls read until quit is closed, more often the fuller the rings are; read returns how
// full the fullest ring was.
func atRate(quit <-chan struct{}, read func() (full float64)) {
	every := fastest
	t := time.NewTimer(every)
	defer t.Stop()
	for {
		select {
		case <-quit:
			return
		case <-t.C:
		}
		switch full := read(); {
		case full > 0.25:
			every = max(every/2, fastest)
		case full < 0.0625:
			every = min(every*2, slowest)
		}
		t.Reset(every)
	}
}

// read reads the rings, and processes the records up to until. It returns how full the fullest
// ring was.
func (s *Switches) read(until int64) (full float64) {
	old := len(s.got)
	for i, r := range s.rings {
		r.raw = s.events.Read(i, r.raw[:0])
		now := sys.Monotonic()
		part, lost := s.events.Full(i, len(r.raw))
		full = max(full, part)
		s.got = r.parse(s.got, r.raw)
		if lost {
			s.got = append(s.got, record{time: r.last, what: gapFrom}, record{time: now, what: gapTo})
		}
	}
	s.records.Add(int64(len(s.got) - old))
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

// forget removes threads that have ended from all rings: only the ring of the CPU on which a
// thread ended has that record, and thread ids are reused.
func (s *Switches) forget(list []record) {
	for i := range list {
		if list[i].what == died {
			for _, r := range s.rings {
				delete(r.from, list[i].tid)
			}
		}
	}
}

// perRecord is the program's cost of one record, in ns: between two threads that hand each other a
// byte a switch took 1.7 µs more for each of its two records, in a virtual machine.
const perRecord = 1700

// Spent returns the approximate cost of the kernel's records to the program so far, in ns. It may
// be called at any time.
func (s *Switches) Spent() int64 { return perRecord * s.records.Load() }

// Pause stops or continues the kernel's records. What threads do during a pause is unknown. It
// costs a system call for each thread on each CPU.
func (s *Switches) Pause(pause bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit == nil || pause == (s.paused != 0) {
		return
	}
	if pause {
		if s.without == 0 {
			s.rec.Fact(FactPaused, "now and then")
		}
		s.paused = sys.Monotonic()
		s.got = append(s.got, record{time: s.paused, what: gapFrom})
		s.events.Look(false)
		return
	}
	s.events.Look(true)
	s.resumed()
}

// Paused reports whether recording is paused.
func (s *Switches) Paused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused != 0
}

// resumed ends the gap that Pause began.
func (s *Switches) resumed() {
	now := sys.Monotonic()
	s.got = append(s.got, record{time: now, what: gapTo})
	s.without += now - s.paused
	s.paused = 0
}

func (s *Switches) flush(all bool) { s.all.flush(s.believed, all) }

// Snapshot writes all records up to now.
func (s *Switches) Snapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit != nil {
		s.read(sys.Monotonic() - int64(settle))
		s.flush(true)
	}
}

// Stop ends the recording, writes the rest, and releases everything.
func (s *Switches) Stop() {
	if s.quit == nil {
		return
	}
	close(s.quit)
	<-s.done
	if s.paused != 0 {
		s.resumed()
	}
	now := sys.Monotonic()
	if s.without > 0 {
		s.rec.Fact(FactPaused, fmt.Sprintf("%.0f%% of the time", 100*float64(s.without)/float64(now-s.began)))
	}
	s.clockFact(factClockEnd, now)
	time.Sleep(settle)
	s.read(now)
	s.flush(true)
	for end := time.Now().Add(patience); !s.all.out.retry() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	lost, known := s.events.Lost()
	for _, r := range s.rings {
		if !known {
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

// close releases what open opened.
func (s *Switches) close() {
	s.events.Close()
	s.rings, s.got = nil, nil
}
