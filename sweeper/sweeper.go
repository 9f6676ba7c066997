package sweeper

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// Config configures a Sweeper.
type Config struct {
	Every time.Duration // the time between two rounds, which report what is new

	// Frame, Stack and Counts receive what is new, on the sweeper's goroutine: each frame
	// and each stack once, before anything that refers to it. They report whether there
	// was room for it; if not, they receive it again in the next round.
	Frame  func(f *Frame) bool
	Stack  func(s *Stack) bool
	Counts func(cs []Count) bool

	// Round runs f, a part of the work, and may measure its cost. It may be nil.
	Round func(f func())
	// Inner is the function that calls Put for its caller. Its frames are left out.
	Inner string
	// Wake has a buffer of one; Put sends on it when there is much to count. It may be
	// nil.
	Wake chan struct{}
}

// Frame is a line of code with a call: its id, function, file and line, the function's first
// line (Start; 0: unknown), and whether the function was inlined into that of the next frame.
type Frame = format.Frame

// Stack is the frames of a call, the innermost first, by their ids. Its own id is never 0. It
// is Cut if there were more callers than are recorded.
type Stack = format.Stack

// Count is the number of records of a name with a stack since the previous report, and
// the sum of their weights. Stack 0 stands for all stacks beyond the limits.
type Count = format.Count

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

	quit       chan struct{}
	done       sync.WaitGroup
	counted    atomic.Int64 // for Counted
	others     atomic.Int64
	pos        [stripeCount]int // in the first chunk of each stripe's queue
	unreported int64
}

// New returns a sweeper that accepts records. They are counted after Start. New may be
// called in a bubble of testing/synctest if Wake is set; Start may not.
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

// Put stores a record for the sweeper: a name, a weight, and the return addresses of the
// callers, the innermost first. pcs must be on the caller's stack: an array of the
// caller's that runtime.Callers has filled. Put returns ErrFull or ErrStopped if the
// record is lost. It never waits, and may be called from any goroutine.
func (s *Sweeper) Put(name uint16, weight int64, pcs []uintptr) error {
	return s.pool.put(name, weight, pcs)
}

// Counted returns the number of records counted, and how many of them were counted for
// their name alone, because there were too many stacks.
func (s *Sweeper) Counted() (all, others int64) { return s.counted.Load(), s.others.Load() }

// Stop, after Start, counts and reports the remaining records. It returns how many
// records could not be reported; Counted does not include them any more. Later calls of
// Put return ErrStopped.
func (s *Sweeper) Stop() (lost int64) {
	close(s.quit)
	s.done.Wait()
	return s.unreported
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
				s.report()
				s.pool.trim()
			})
		}
	}
}

// finish counts the records of all calls of Put before shut. It waits up to a second for
// goroutines that have reserved words and not stored their record; after that only a
// goroutine that the system does not run can be missing.
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
		if s.report() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s.unreported = s.rest()
	s.counted.Add(-s.unreported)
}

// empty reports whether all reserved records were counted.
func (s *Sweeper) empty() bool {
	for i := range s.pool.stripes {
		if len(s.pool.stripes[i].queue) > 0 {
			return false
		}
	}
	return true
}

// sweep counts the records that are ready.
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

// sweepChunk counts the records of c that are ready, from pos on, and clears them.
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
