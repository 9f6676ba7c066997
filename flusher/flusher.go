// Package flusher writes memory out behind a program's back. It keeps the window of a pool
// of chunks ahead of those who take them. It writes sealed chunks to the pool's file, and
// drops their memory. Nobody else does any of that. See package mmpool for such a pool.
//
// Two goroutines share the work, so that a slow disk does not keep the window
// from growing: one prepares what comes, the other writes out what was. A chunk
// leaves in two steps. In the first it is marked, so that ends go apart from
// then on, and its write-back starts. In the second its pages, clean by then, are
// dropped.
//
// Where an Overwriting is given, the goroutine that prepares does not wait for the one that
// writes: when the window can't be made whole because the disk is late, the oldest chunks
// that are full are dropped unwritten. A chunk is dropped by one of the two: under mu it is
// taken off leaving, into writing by the one, or by the other for good.
package flusher

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// Pool is what a Flusher serves. A chunk is known by its number; its state is a number that
// only grows.
type Pool interface {
	// Wake is signalled when much was taken, or nothing was left. Short reports whether
	// takers find nothing for want of what Extend prepares.
	// Alert has it signalled when the next chunk is taken, until Extend is called.
	Wake() <-chan struct{}
	Short() bool
	Alert()
	// Extend makes the window whole: what lies ready for those who take chunks.
	Extend() error
	// Fresh appends the chunks that were taken since it was last called; chunk 0, which
	// is never taken, is not among them.
	Fresh(dst []int64) []int64

	// State returns a chunk's state, one of those below; Advance moves it on and reports
	// whether it did.
	State(idx int64) uint32
	Advance(idx int64, to uint32) bool

	// Rearm makes the window and the open chunks writable without a page fault.
	Rearm(open []int64) error
	// InTheWay returns those of the open chunks for which Extend waits. Holds reports
	// whether an open chunk is to be left by its owner for the sake of others.
	InTheWay(open []int64) []int64
	Holds(idx int64) bool

	// Copies reports whether the file is a copy of the chunks, and not their memory.
	Copies() bool
	// Save begins to write the chunks [from, to) out, or brings the file up to date with
	// them where it is a copy. final says that they will not change any more.
	Save(from, to int64, final bool) error
	// Drop waits for what Save began, or writes a copy, and drops the chunks' memory.
	Drop(from, to int64) error
	// Retire says that a chunk is gone: its place may be used again.
	Retire(idx int64)
}

// States of a chunk.
const (
	Free    = pool.Free    // not taken, or taken and not begun
	Open    = pool.Open    // its owner writes into it
	Sealed  = pool.Sealed  // its owner writes into it no more; who was about to complete something may
	Leaving = pool.Leaving // being written out: nobody stores into it from here on
	Gone    = pool.Gone    // in the file, and its memory dropped
)

// Config tells a Flusher what to do and when.
type Config struct {
	Pool  Pool
	Every time.Duration // between two rounds; it wakes sooner when much is written

	// Expire makes a chunk's owner take another one at its next record. It is
	// called for chunks that have been open for ten seconds, or that hold a file: so
	// what an idle owner wrote gets to disk. May be nil.
	Expire func(idx int64)
	// Reclaim takes chunks that are open away from their owners, who may be idle. It is
	// called when so many are open that a ring can't go on, at most ten times in a second.
	// May be nil.
	Reclaim func(chunks []int64)
	// Whole reports whether nobody is about to write into a sealed chunk any
	// more; nil: sealed chunks are whole.
	Whole func(idx int64) bool
	// Leave is called for a chunk that nobody writes into any more, before it is written
	// for the last time; again where that failed. May be nil.
	Leave func(idx int64)
	// Overwriting is how the oldest chunks are dropped that are not in the file, if they may
	// be; else nil.
	Overwriting *Overwriting
	// Round is called at the end of each round, on the flusher's goroutine. May be nil.
	Round func(now time.Time)
}

// Overwriting is for a pool whose file is a copy, and that may drop what is not in there.
type Overwriting struct {
	// Lacking returns how many chunks Extend could not prepare because others are not written.
	Lacking func() int64
	// Kept reports whether a chunk must not be dropped.
	Kept func(idx int64) bool
	// Evict drops chunks, of which Leave has been called.
	Evict func(chunks []int64)
	// AtOnce is how many chunks are written at once, which can't be evicted meanwhile.
	AtOnce int64

	evict func(*Flusher)
}

// Overwrite returns what Config takes. What drops chunks is reached by way of it alone, so that
// programs without a ring don't contain it.
func Overwrite(o Overwriting) *Overwriting {
	o.evict = (*Flusher).evict
	return &o
}

// Flusher runs the rounds of one recording.
type Flusher struct {
	Config
	Cost Cost

	stop  chan struct{}
	write chan struct{}
	short chan struct{} // signalled when there may be room again for who found none
	done  sync.WaitGroup
	alone sync.Mutex
	err   atomic.Pointer[error]

	copyDue   atomic.Bool // there was a round since the file was brought up to date
	ticker    *time.Ticker
	resting   atomic.Bool
	woken     chan struct{} // signalled when a rest is over
	reclaimed time.Time     // when reclaim did something last

	mu      sync.Mutex
	chunks  []int64 // handed out and not gone
	leaving []int64 // marked when leave was called last
	writing []int64 // taken off these, to be dropped
	since   map[int64]time.Time
}

// retry is how soon the window is tried again when records are lost for want of one: who
// loses them asks for it once.
const retry = 20 * time.Millisecond

// old is how long a chunk may stay open.
const old = 10 * time.Second

// New returns a Flusher that does nothing before Start but what it is asked for.
func New(c Config) *Flusher {
	return &Flusher{
		Config: c,
		stop:   make(chan struct{}),
		write:  make(chan struct{}, 1),
		short:  make(chan struct{}, 1),
		woken:  make(chan struct{}, 1),
		since:  map[int64]time.Time{},
	}
}

// Start begins the rounds.
func (f *Flusher) Start() {
	f.done.Add(2)
	f.ticker = time.NewTicker(f.Every)
	go f.prepare()
	go f.writeOut()
}

// Stop, after Start, ends both goroutines and returns when they have. The chunks are as they
// are: Save writes those that are not in a file yet which is a copy.
func (f *Flusher) Stop() {
	close(f.stop)
	f.done.Wait()
}

// Err is the last error, nil if there was none.
func (f *Flusher) Err() error {
	if p := f.err.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *Flusher) note(err error) {
	if err != nil {
		f.err.Store(&err)
	}
}

// prepare keeps the window ahead, and runs the rounds.
func (f *Flusher) prepare() {
	defer f.done.Done()
	defer f.ticker.Stop()
	for {
		due := false
		var now time.Time
		var again <-chan time.Time
		if f.Pool.Short() {
			again = time.After(retry)
		}
		select {
		case <-f.stop:
			return
		case <-f.Pool.Wake():
			f.wake()
		case <-f.short:
			f.wake()
		case <-again:
			f.wake()
		case now = <-f.ticker.C:
			due = true
		}
		f.Alone(func() {
			f.note(f.Pool.Extend())
			if f.resting.Load() {
				f.Pool.Alert() // which Extend has ended
			}
			if f.Overwriting != nil {
				f.Overwriting.evict(f)
			}
			f.reclaim(time.Now())
			if due {
				f.age(now)
				if f.Round != nil {
					f.Round(now)
				}
				f.copyDue.Store(true)
			}
		})
		select {
		case f.write <- struct{}{}:
		default:
		}
	}
}

// wake ends a rest.
func (f *Flusher) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// Rest waits without a timer until a chunk is taken again, the garbage collector has run, or until
// is closed. ready is called with the open chunks first: it has their owners take others at their
// next record, and reports whether nothing was written before. The collector is for what is
// not noticed otherwise: Go runs it every two minutes in a program that can go on.
func (f *Flusher) Rest(until <-chan struct{}, ready func(open []int64) bool) {
	f.Alone(func() { // Extend is not running
		select {
		case <-f.woken: // before
		default:
		}
		f.resting.Store(true)
		f.Pool.Alert()
	})
	defer f.resting.Store(false)
	if !ready(f.open()) {
		return
	}
	runtime.SetFinalizer(&rest{f}, func(r *rest) { r.of.wake() })
	select {
	case <-until:
	case <-f.woken:
	}
}

// rest is garbage while one lasts.
type rest struct{ of *Flusher }

// Pause has no round become due until Resume is called.
func (f *Flusher) Pause() { f.ticker.Stop() }

// Resume ends what Pause began.
func (f *Flusher) Resume() { f.ticker.Reset(f.Every) }

// Alone runs f, and nothing else meanwhile that is run by it, as the window is prepared:
// so of what works in memory one goroutine at a time is in a system call. Each that is
// there can cost the program a thread, of which a container may have none to spare.
func (f *Flusher) Alone(work func()) {
	f.alone.Lock()
	defer f.alone.Unlock()
	f.Cost.Round(work)
}

// reclaim takes open chunks away where they hold the ring up.
func (f *Flusher) reclaim(now time.Time) {
	if f.Reclaim == nil || now.Sub(f.reclaimed) < 100*time.Millisecond {
		return
	}
	if open := f.Pool.InTheWay(f.open()); len(open) > 0 {
		f.reclaimed = now
		f.Reclaim(open)
	}
}

// open returns the chunks that their owners have.
func (f *Flusher) open() []int64 {
	return without(f.present(), func(idx int64) bool { return f.Pool.State(idx) != Open })
}

// age re-arms the open chunks and the window, and lets chunks expire that have
// been open for long.
func (f *Flusher) age(now time.Time) {
	open, since := f.open(), map[int64]time.Time{} // what is not open any more is not in it
	for _, idx := range open {
		t, ok := f.since[idx]
		if !ok {
			t = now
		}
		since[idx] = t
		if f.Expire != nil && (now.Sub(t) > old || f.Pool.Holds(idx)) {
			f.Expire(idx)
		}
	}
	f.since = since
	f.note(f.Pool.Rearm(open))
}

// present is the chunks that were handed out and are not gone.
func (f *Flusher) present() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks = f.Pool.Fresh(f.chunks)
	return slices.Clone(f.chunks)
}

// evict drops as many of the oldest chunks as the window lacks, without writing them, and
// makes the window whole.
func (f *Flusher) evict() {
	o := f.Overwriting
	// The places of what was written since the window was extended are older than what is
	// in memory still.
	for o.Lacking() > 0 && f.forget() {
		f.note(f.Pool.Extend())
	}
	n := o.Lacking()
	if n <= 0 {
		return
	}
	old := f.oldest(n)
	if len(old) == 0 {
		return
	}
	for _, idx := range old {
		if f.Leave != nil {
			f.Leave(idx)
		}
		f.Pool.Advance(idx, Gone) // before it is overwritten: who ends a scope in there may ask which it is
	}
	o.Evict(old)
	f.note(f.Pool.Extend())
}

// oldest takes up to n full chunks, those first that were handed out first. They are leaving,
// and nobody else drops them.
func (f *Flusher) oldest(n int64) (old []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks = f.Pool.Fresh(f.chunks)
	for _, idx := range f.chunks {
		if int64(len(old)) == n {
			break
		}
		if f.Overwriting.Kept(idx) || slices.Contains(f.writing, idx) {
			continue
		}
		if f.full(idx) {
			f.Pool.Advance(idx, Leaving)
		} else if f.Pool.State(idx) != Leaving {
			continue
		}
		old = append(old, idx)
	}
	taken := func(idx int64) bool { return slices.Contains(old, idx) }
	f.leaving = without(f.leaving, taken)
	f.chunks = without(f.chunks, taken)
	return old
}

// full reports whether a chunk is sealed, and nobody is about to write into it.
func (f *Flusher) full(idx int64) bool {
	return f.Pool.State(idx) == Sealed && (f.Whole == nil || f.Whole(idx))
}

// forget says that chunks are gone, and reports whether some are.
func (f *Flusher) forget() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.chunks)
	f.chunks = without(f.chunks, func(idx int64) bool {
		gone := f.Pool.State(idx) == Gone
		if gone {
			f.Pool.Retire(idx)
		}
		return gone
	})
	return len(f.chunks) < before
}

func (f *Flusher) writeOut() {
	defer f.done.Done()
	for {
		select {
		case <-f.stop:
			return
		case <-f.write:
			f.Cost.Round(f.leave)
		}
	}
}

// leave drops what it marked when it was called last, and marks what was sealed since.
func (f *Flusher) leave() {
	if f.copyDue.Swap(false) && f.Pool.Copies() {
		f.copyOpen()
	}
	testpoint.Here("flush.round")
	dropped := false
	for run := f.take(); run.from < run.to; run = f.take() {
		if !f.drop(run) {
			return // not written: keep it, and try again
		}
		dropped = true
	}
	if dropped {
		f.forget()
	}
	marked := f.mark()
	if !f.Pool.Copies() { // else Drop writes them, once
		for _, run := range runs(marked) {
			f.note(f.Pool.Save(run.from, run.to, true))
			testpoint.Here("flush.saved")
		}
	}
	if (dropped || len(marked) > 0) && f.Pool.Short() {
		select {
		case f.short <- struct{}{}: // and another round follows
		default:
		}
	}
}

// take takes the first neighbours off leaving, to be dropped.
func (f *Flusher) take() (r run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writing = f.writing[:0]
	if len(f.leaving) == 0 {
		return run{}
	}
	r = runs(f.leaving)[0]
	if o := f.Overwriting; o != nil {
		r.to = min(r.to, r.from+o.AtOnce)
	}
	n := int(r.to - r.from)
	f.writing = append(f.writing, f.leaving[:n]...)
	f.leaving = slices.Delete(f.leaving, 0, n)
	return r
}

// drop drops what was taken, and reports whether it is in the file, or was never a copy.
func (f *Flusher) drop(r run) bool {
	for idx := r.from; idx < r.to; idx++ {
		if f.Leave != nil {
			f.Leave(idx)
		}
	}
	testpoint.Here("flush.left")
	if err := f.Pool.Drop(r.from, r.to); err != nil {
		f.note(err)
		if f.Pool.Copies() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.leaving = append(slices.Clone(f.writing), f.leaving...)
			f.writing = f.writing[:0]
			return false
		}
	}
	testpoint.Here("flush.dropped")
	for idx := r.from; idx < r.to; idx++ {
		f.Pool.Advance(idx, Gone)
	}
	return true
}

// mark marks what was sealed, and returns it.
func (f *Flusher) mark() []int64 {
	for _, idx := range f.present() {
		f.mu.Lock()
		full := f.full(idx) && f.Pool.Advance(idx, Leaving)
		if full {
			f.leaving = append(f.leaving, idx)
		}
		f.mu.Unlock()
		if full {
			testpoint.Here("flush.leaving")
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.leaving)
}

// copyOpen brings a file up to date that is a copy: with what is still being
// written, and what is sealed and waits. The file's own state comes last: it
// must not speak of what is not there.
func (f *Flusher) copyOpen() {
	for _, idx := range append(f.present(), 0) {
		if s := f.Pool.State(idx); s == Open || s == Sealed {
			f.note(f.Save(false, idx))
			testpoint.Here("flush.copied")
		}
	}
}

// Save brings the file up to date with chunks, in this order, where it is a copy. final says
// that they will not change any more. It returns the last error. It may be called at any
// time, from any goroutine.
func (f *Flusher) Save(final bool, chunks ...int64) (failed error) {
	for _, idx := range chunks {
		if err := f.Pool.Save(idx, idx+1, final); err != nil {
			failed = err
		}
	}
	return failed
}

// Finish, after Stop, writes what the file lacks where it is a copy: nobody writes into
// chunks any more. Chunk 0 comes last.
func (f *Flusher) Finish() error { return f.Save(true, append(f.present(), 0)...) }

type run struct{ from, to int64 }

// runs joins neighbours, so that each call to the kernel covers many chunks.
func runs(idx []int64) (rs []run) {
	for _, i := range idx {
		if n := len(rs); n > 0 && rs[n-1].to == i {
			rs[n-1].to++
		} else {
			rs = append(rs, run{i, i + 1})
		}
	}
	return rs
}

// without is slices.DeleteFunc, whose code for any type would make a program larger than this.
func without(list []int64, gone func(idx int64) bool) []int64 {
	kept := list[:0]
	for _, idx := range list {
		if !gone(idx) {
			kept = append(kept, idx)
		}
	}
	return kept
}
