// Package flusher writes the chunks of a pool to a file in the background. It prepares the pool's
// window of free chunks in advance, writes sealed chunks to the pool's file, and drops their
// memory. See package mmpool for such a pool.
//
// Two goroutines share the work, so that a slow disk does not keep the window from growing: one
// prepares free chunks, the other writes sealed ones. A chunk leaves in two steps. First it is
// marked, so that its scopes get their ends apart from then on, and its write-back starts. Then
// its pages, clean by then, are dropped.
//
// With an Overwriting, the goroutine that prepares does not wait for the one that writes: if the
// window can't be completed because the disk is late, the oldest full chunks are dropped
// unwritten. Only one of the two drops a chunk: under mu, the writer moves it from leaving to
// writing, or the other removes it from leaving.
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

// Pool is served by a Flusher. A chunk is identified by its number; its state is a number that
// only increases.
type Pool interface {
	// Wake is signalled when many chunks were taken, or none was left. Short reports whether
	// chunks are refused because Extend has not prepared any. Alert has Wake signalled when the
	// next chunk is taken, until Extend is called.
	Wake() <-chan struct{}
	Short() bool
	Alert()
	// Extend completes the window, the free chunks that are ready to be taken.
	Extend() error
	// Fresh appends the chunks taken since the previous call. Chunk 0, which is never taken, is
	// not among them.
	Fresh(dst []int64) []int64

	// State returns a chunk's state, one of those below; Advance increases it and reports whether
	// it did.
	State(idx int64) uint32
	Advance(idx int64, to uint32) bool

	// Rearm makes the window and the open chunks writable without a page fault.
	Rearm(open []int64) error
	// InTheWay returns those of the open chunks for which Extend waits. Holds reports whether the
	// owner of an open chunk should leave it because it delays others.
	InTheWay(open []int64) []int64
	Holds(idx int64) bool

	// Copies reports whether the file is a copy of the chunks, and not their memory.
	Copies() bool
	// Save begins to write out the chunks [from, to), or updates the file with them if it is a
	// copy. If final is set, they will not change any more.
	Save(from, to int64, final bool) error
	// Drop waits for the writes that Save began, or writes a copy, and drops the chunks' memory.
	Drop(from, to int64) error
	// Retire reports that a chunk is gone: its place may be reused.
	Retire(idx int64)
}

// The states of a chunk.
const (
	Free    = pool.Free    // not taken, or taken and not begun
	Open    = pool.Open    // its owner writes into it
	Sealed  = pool.Sealed  // its owner has stopped writing; records that were begun may still be completed
	Leaving = pool.Leaving // being written out; nothing is stored into it any more
	Gone    = pool.Gone    // in the file, and its memory dropped
)

// Config configures a Flusher.
type Config struct {
	Pool  Pool
	Every time.Duration // the time between two rounds; a round starts earlier if much is written

	// Expire makes a chunk's owner take another chunk at its next record, so that the records of
	// an idle owner get to disk. It is called for chunks that have been open for ten seconds, or
	// that delay the file. It may be nil.
	Expire func(idx int64)
	// Reclaim takes open chunks away from their owners, which may be idle. It is called when so many
	// are open that a ring can't go on, at most ten times a second. It may be nil.
	Reclaim func(chunks []int64)
	// Whole reports whether a sealed chunk has no incomplete records. If it is nil, sealed chunks
	// have none.
	Whole func(idx int64) bool
	// Leave is called for a chunk that nothing writes into any more, before its last write to the
	// file, and again if that failed. It may be nil.
	Leave func(idx int64)
	// Overwriting configures the dropping of the oldest chunks before they are in the file. It is
	// nil if they must not be dropped.
	Overwriting *Overwriting
	// Round is called at the end of each round, on the flusher's goroutine. It may be nil.
	Round func(now time.Time)
}

// Overwriting is for a pool whose file is a copy, and which may drop chunks that are not in the
// file.
type Overwriting struct {
	// Lacking returns how many chunks Extend could not prepare because others are not written yet.
	Lacking func() int64
	// Kept reports whether a chunk must not be dropped.
	Kept func(idx int64) bool
	// Evict drops chunks for which Leave has been called.
	Evict func(chunks []int64)
	// AtOnce is the number of chunks per write. They can't be evicted while they are written.
	AtOnce int64

	evict func(*Flusher)
}

// Overwrite returns a value for Config.Overwriting. Only it refers to the code that drops chunks,
// so that programs without a ring do not contain that code.
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
	short chan struct{} // signalled when a chunk may be available again after one was refused
	done  sync.WaitGroup
	alone sync.Mutex
	err   atomic.Pointer[error]

	copyDue   atomic.Bool // there was a round since the file was updated
	ticker    *time.Ticker
	resting   atomic.Bool
	woken     chan struct{} // signalled when a rest is over
	reclaimed time.Time     // time of the last reclaim that had chunks

	mu      sync.Mutex
	chunks  []int64 // taken and not gone
	leaving []int64 // marked by the last call of leave
	writing []int64 // moved from leaving, being dropped
	since   map[int64]time.Time
}

// retry is the delay before the next attempt to extend the window while records are lost for lack
// of chunks, because a refused taker signals Wake only once.
const retry = 20 * time.Millisecond

// old is the age at which an open chunk expires.
const old = 10 * time.Second

// New returns a Flusher. It does nothing by itself before Start.
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

// Stop, after Start, ends both goroutines and waits for them. The chunks keep their states. If the
// file is a copy, Save writes those that it lacks.
func (f *Flusher) Stop() {
	close(f.stop)
	f.done.Wait()
}

// Err returns the last error, or nil if there was none.
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

// prepare keeps the window prepared, and runs the rounds.
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
				f.Pool.Alert() // Extend has cancelled it
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
// is closed. It first calls ready with the open chunks: ready has their owners take others at
// their next record, and reports whether nothing was written before. The collector serves as a
// fallback for activity that is not noticed otherwise: Go runs it every two minutes in a program
// that is not blocked.
func (f *Flusher) Rest(until <-chan struct{}, ready func(open []int64) bool) {
	f.Alone(func() { // so that Extend is not running
		select {
		case <-f.woken: // from before
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

// rest is garbage during a rest, so its finalizer runs with the collector.
type rest struct{ of *Flusher }

// Pause stops the rounds until Resume is called.
func (f *Flusher) Pause() { f.ticker.Stop() }

// Resume continues the rounds after Pause.
func (f *Flusher) Resume() { f.ticker.Reset(f.Every) }

// Alone runs work while the window is not being prepared and no other Alone runs. So at most one
// of the goroutines that work in memory is in a system call. Each such goroutine can cost the
// program a thread, of which a container may have none to spare.
func (f *Flusher) Alone(work func()) {
	f.alone.Lock()
	defer f.alone.Unlock()
	f.Cost.Round(work)
}

// reclaim takes open chunks away if they hold up the ring.
func (f *Flusher) reclaim(now time.Time) {
	if f.Reclaim == nil || now.Sub(f.reclaimed) < 100*time.Millisecond {
		return
	}
	if open := f.Pool.InTheWay(f.open()); len(open) > 0 {
		f.reclaimed = now
		f.Reclaim(open)
	}
}

// open returns the chunks that have owners.
func (f *Flusher) open() []int64 {
	return without(f.present(), func(idx int64) bool { return f.Pool.State(idx) != Open })
}

// age re-arms the open chunks and the window, and expires chunks that have been open too long.
func (f *Flusher) age(now time.Time) {
	open, since := f.open(), map[int64]time.Time{} // chunks that were closed are dropped from f.since
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

// present returns the chunks that were taken and are not gone.
func (f *Flusher) present() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks = f.Pool.Fresh(f.chunks)
	return slices.Clone(f.chunks)
}

// evict drops as many of the oldest chunks as the window lacks, without writing them, and
// completes the window.
func (f *Flusher) evict() {
	o := f.Overwriting
	// Chunks that were written since the window was extended are older than all that are still in
	// memory.
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
		f.Pool.Advance(idx, Gone) // before it is overwritten: the end of a scope in it may check the state
	}
	o.Evict(old)
	f.note(f.Pool.Extend())
}

// oldest takes up to n full chunks, in the order in which they were handed out. They are Leaving,
// and the writer does not drop them.
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

// full reports whether a chunk is sealed and has no incomplete records.
func (f *Flusher) full(idx int64) bool {
	return f.Pool.State(idx) == Sealed && (f.Whole == nil || f.Whole(idx))
}

// forget retires the chunks that are gone, and reports whether there were any.
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

// leave drops the chunks that the previous call marked, and marks those sealed since.
func (f *Flusher) leave() {
	if f.copyDue.Swap(false) && f.Pool.Copies() {
		f.copyOpen()
	}
	testpoint.Here("flush.round")
	dropped := false
	for run := f.take(); run.from < run.to; run = f.take() {
		if !f.drop(run) {
			return // not written: the next round tries again
		}
		dropped = true
	}
	if dropped {
		f.forget()
	}
	marked := f.mark()
	if !f.Pool.Copies() { // otherwise Drop writes them, once
		for _, run := range runs(marked) {
			f.note(f.Pool.Save(run.from, run.to, true))
			testpoint.Here("flush.saved")
		}
	}
	if (dropped || len(marked) > 0) && f.Pool.Short() {
		select {
		case f.short <- struct{}{}: // another round follows
		default:
		}
	}
}

// take moves the first run of neighbours from leaving to writing.
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

// drop drops the chunks of a run. It returns false if the file is a copy and they could not be
// written.
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

// mark marks the full chunks as Leaving, and returns all that are to leave.
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

// copyOpen updates a file that is a copy, with the open chunks and the sealed ones that wait.
// Chunk 0, the file's own state, comes last, because it must not refer to data that is not in the
// file.
func (f *Flusher) copyOpen() {
	for _, idx := range append(f.present(), 0) {
		if s := f.Pool.State(idx); s == Open || s == Sealed {
			f.note(f.Save(false, idx))
			testpoint.Here("flush.copied")
		}
	}
}

// Save updates the file with chunks, in this order, if it is a copy. If final is set, they will
// not change any more. It returns the last error. It may be called at any time, from any
// goroutine.
func (f *Flusher) Save(final bool, chunks ...int64) (failed error) {
	for _, idx := range chunks {
		if err := f.Pool.Save(idx, idx+1, final); err != nil {
			failed = err
		}
	}
	return failed
}

// Finish, after Stop, writes all that the file lacks if it is a copy. Nothing may write into
// chunks any more. Chunk 0 comes last.
func (f *Flusher) Finish() error { return f.Save(true, append(f.present(), 0)...) }

type run struct{ from, to int64 }

// runs joins neighbours, so that each system call covers many chunks.
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

// without is slices.DeleteFunc for one type; the generic code would make a program larger.
func without(list []int64, gone func(idx int64) bool) []int64 {
	kept := list[:0]
	for _, idx := range list {
		if !gone(idx) {
			kept = append(kept, idx)
		}
	}
	return kept
}
