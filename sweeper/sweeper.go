package sweeper

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Config tells a Sweeper what to do and when.
type Config struct {
	Every time.Duration // between two rounds, at which what is new is told

	// Frame, Stack and Counts are told what is new, on the sweeper's goroutine: each line
	// of code and each stack once, before what refers to it. They report whether there
	// was room for it; what there was none for they are told again, in the next round.
	Frame  func(f *Frame) bool
	Stack  func(s *Stack) bool
	Counts func(cs []Count) bool

	// Round runs a part of the work, and adds up what that costs. May be nil.
	Round func(f func())
	// Inner is the function that calls Put for its caller: frames of it are
	// not the caller's.
	Inner string
	// Wake has room for one; Put sends when there is much to count. May be nil.
	Wake chan struct{}
}

// Frame is a line of code that calls.
type Frame struct {
	ID       uint32
	Function string
	File     string
	Line     uint32
	Start    uint32 // the function's first line; 0: not known
	Inlined  bool   // the function was inlined into that of the next frame
}

// Stack is the frames that a call came through, the innermost first.
type Stack struct {
	ID     uint32 // never 0
	Cut    bool   // there were more callers than are recorded
	Frames []uint32
}

// Count is how often a name was put with a stack since it was told last, and the sum of
// the weights. Stack 0 is all those that came when there were too many.
type Count struct {
	Name   uint16
	Stack  uint32
	Calls  int64
	Weight int64
}

// Errors of Put.
var (
	ErrFull    = errors.New("records come faster than they are counted")
	ErrStopped = errors.New("the sweeper has stopped")
)

// Sweeper counts the stacks of one recording.
type Sweeper struct {
	Config
	pool  *pool
	table table
	namer namer

	quit    chan struct{}
	done    sync.WaitGroup
	counted atomic.Int64 // for Counted
	others  atomic.Int64
	pos     [stripeCount]int // in the first chunk of each stripe's queue
	untold  int64
}

// New returns a sweeper that takes records. Start has to be called to count them. It may
// be called in a bubble of testing/synctest where Wake is given, Start may not.
func New(c Config) *Sweeper {
	if c.Round == nil {
		c.Round = func(f func()) { f() }
	}
	if c.Wake == nil {
		c.Wake = make(chan struct{}, 1)
	}
	return &Sweeper{Config: c, pool: newPool(c.Wake)}
}

// Start begins to sweep.
func (s *Sweeper) Start() {
	s.quit = make(chan struct{})
	s.done.Add(1)
	go s.run()
}

// Put leaves a record for the sweeper: a name, a weight, and the addresses that
// its callers return to, the innermost first, which must be on the caller's
// stack: an array of the caller's that runtime.Callers has filled. A record that is lost
// is ErrFull or ErrStopped. Put never waits, and may be called from any goroutine.
func (s *Sweeper) Put(name uint16, weight int64, pcs []uintptr) error {
	return s.pool.put(name, weight, pcs)
}

// Counted is how many records were counted, and how many of them for their name
// alone, because there were too many stacks.
func (s *Sweeper) Counted() (all, others int64) { return s.counted.Load(), s.others.Load() }

// Stop, after Start, counts what is left, tells the trace, and returns how many records
// could not be told: then they are not among Counted any more. Put may still be called;
// it is too late.
func (s *Sweeper) Stop() (lost int64) {
	close(s.quit)
	s.done.Wait()
	return s.untold
}

func (s *Sweeper) run() {
	defer s.done.Done()
	t := time.NewTicker(s.Every)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			s.Round(s.finish)
			return
		case <-s.pool.wake:
			s.Round(s.sweep)
		case <-t.C:
			s.Round(func() {
				s.sweep()
				s.tell()
				s.pool.trim()
			})
		}
	}
}

// finish takes what is there after the last Put. A goroutine that has reserved
// its place and not stored its record gets a second; then only one that the
// system does not run can be missing.
func (s *Sweeper) finish() {
	s.pool.shut()
	deadline := time.Now().Add(time.Second)
	for {
		s.sweep()
		if s.empty() || !time.Now().Before(deadline) {
			break
		}
		runtime.Gosched()
	}
	// The window may have to be extended first.
	for range 100 {
		if s.tell() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s.untold = s.rest()
	s.counted.Add(-s.untold)
}

// empty reports whether all that was reserved was counted.
func (s *Sweeper) empty() bool {
	for i := range s.pool.stripes {
		if len(s.pool.stripes[i].queue) > 0 {
			return false
		}
	}
	return true
}

// sweep counts what is ready.
func (s *Sweeper) sweep() {
	n := int64(0)
	for i := range s.pool.stripes {
		n += s.sweepStripe(&s.pool.stripes[i], &s.pos[i])
	}
	s.counted.Add(n)
	s.others.Store(s.table.others)
}

func (s *Sweeper) sweepStripe(st *stripe, pos *int) (n int64) {
	for {
		st.mu.Lock()
		var c *chunk
		if len(st.queue) > 0 {
			c = st.queue[0]
		}
		st.mu.Unlock()
		if c == nil {
			return n
		}
		n += s.sweepChunk(c, pos)
		if sealed := c.sealed.Load(); sealed == notSealed || *pos < int(sealed) {
			return n
		}
		st.mu.Lock()
		st.queue = st.queue[1:]
		if len(st.queue) == 0 {
			st.queue = nil
		}
		st.mu.Unlock()
		*pos = 0
		s.pool.give(c)
	}
}

// sweepChunk counts what is ready in c from pos on, and clears it.
func (s *Sweeper) sweepChunk(c *chunk, pos *int) (n int64) {
	for *pos < chunkWords {
		head := atomic.LoadUint64(&c.words[*pos])
		if head == 0 {
			break
		}
		w := c.words[*pos : *pos+headWords+int(head>>16&0xffff)]
		s.table.add(head&^readyBit, int64(w[1]), w[headWords:])
		clear(w)
		*pos += len(w)
		n++
	}
	return n
}
