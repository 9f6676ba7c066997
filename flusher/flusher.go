// Package flusher is the tick: it keeps the pool's window ahead of the bump,
// writes sealed chunks to disk, and drops their pages.
//
// Two goroutines share the work, so that a slow disk does not keep the window
// from growing: one prepares what comes, the other writes out what was. A chunk
// leaves in three rounds: in the first it is marked, so that ends go apart from
// then on, and its write-back starts; in the next its pages, clean by then, are
// dropped.
package flusher

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testpoint"
	"github.com/scopeview/scopeview/mmpool"
)

// Config tells a Flusher what to do and when.
type Config struct {
	Pool  *mmpool.Pool
	Every time.Duration // between two ticks; it wakes sooner when much is written

	// Expire makes a chunk's owner take another one at its next record. It is
	// called for chunks that have been open for ten seconds, or that hold a file, so
	// that what an idle owner wrote gets to disk. May be nil.
	Expire func(idx int64)
	// Reclaim takes chunks that are open away from their owners, who may be idle. It is
	// called when so many are open that a ring can't go on, at most ten times in a second.
	// May be nil.
	Reclaim func(chunks []int64)
	// Whole tells whether nobody is about to write into a sealed chunk any
	// more; nil: sealed chunks are whole.
	Whole func(idx int64) bool
	// Leave is called for a chunk that nobody writes into any more, while it is
	// still in memory. May be nil.
	Leave func(idx int64)
	// Tick is called at the end of each tick, on the flusher's goroutine.
	Tick func(now time.Time)
}

// Flusher runs the ticks of one recording.
type Flusher struct {
	Config
	Cost Cost

	stop  chan struct{}
	write chan struct{}
	done  sync.WaitGroup
	alone sync.Mutex
	err   atomic.Pointer[error]

	ticked    atomic.Bool // since the last round
	reclaimed time.Time   // when reclaim did something last

	mu      sync.Mutex
	chunks  []int64 // handed out and not gone
	leaving []int64 // marked in the last round
	since   map[int64]time.Time
}

// retry is how soon the window is tried again when records are lost for want of one: who
// loses them asks for it once.
const retry = 20 * time.Millisecond

// old is how long a chunk may stay open.
const old = 10 * time.Second

// Start begins to tick.
func Start(c Config) *Flusher {
	f := &Flusher{
		Config: c,
		stop:   make(chan struct{}),
		write:  make(chan struct{}, 1),
		since:  map[int64]time.Time{},
	}
	f.done.Add(2)
	go f.prepare()
	go f.writeOut()
	return f
}

// Stop ends both goroutines and returns when they have. The chunks are as they
// are: what is mapped needs nobody to write it.
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

// prepare keeps the window ahead, and ticks.
func (f *Flusher) prepare() {
	defer f.done.Done()
	t := time.NewTicker(f.Every)
	defer t.Stop()
	for {
		tick := false
		var now time.Time
		var again <-chan time.Time
		if f.Pool.Short() {
			again = time.After(retry)
		}
		select {
		case <-f.stop:
			return
		case <-f.Pool.Wake():
		case <-again:
		case now = <-t.C:
			tick = true
		}
		f.Alone(func() {
			f.note(f.Pool.Extend())
			f.reclaim(time.Now())
			if tick {
				f.age(now)
				if f.Tick != nil {
					f.Tick(now)
				}
				f.ticked.Store(true)
			}
		})
		select {
		case f.write <- struct{}{}:
		default:
		}
	}
}

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
	return slices.DeleteFunc(f.present(), func(idx int64) bool { return f.Pool.State(idx) != mmpool.Open })
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

// forget says that chunks are gone.
func (f *Flusher) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chunks = slices.DeleteFunc(f.chunks, func(idx int64) bool {
		gone := f.Pool.State(idx) == mmpool.Gone
		if gone {
			f.Pool.Retire(idx)
		}
		return gone
	})
}

func (f *Flusher) writeOut() {
	defer f.done.Done()
	for {
		select {
		case <-f.stop:
			return
		case <-f.write:
			f.Cost.Round(f.round)
		}
	}
}

// round settles what the last round marked and marks what was sealed since.
func (f *Flusher) round() {
	if f.ticked.Swap(false) && f.Pool.Copies() {
		f.copyOpen()
	}
	testpoint.Here("flush.round")
	for _, run := range runs(f.leaving) {
		for idx := run.from; idx < run.to; idx++ {
			if w := f.Pool.Words(idx); w != nil {
				// The flags share a word with the generation.
				atomic.OrUint64(&w[format.ChunkFlagsOffset/8], format.FlagFinal<<32)
				testpoint.Here("flush.final")
				if f.Leave != nil {
					f.Leave(idx)
				}
			}
		}
		testpoint.Here("flush.left")
		if err := f.Pool.Settle(run.from, run.to); err != nil {
			f.note(err)
			if f.Pool.Copies() {
				return // not written: keep it, and try again
			}
		}
		testpoint.Here("flush.settled")
		for idx := run.from; idx < run.to; idx++ {
			f.Pool.Advance(idx, mmpool.Gone)
		}
	}
	settled := len(f.leaving) > 0
	if settled {
		f.leaving = f.leaving[:0]
		f.forget()
	}
	for _, idx := range f.present() {
		if f.Pool.State(idx) == mmpool.Sealed && (f.Whole == nil || f.Whole(idx)) {
			f.Pool.Advance(idx, mmpool.Leaving)
			testpoint.Here("flush.leaving")
			f.leaving = append(f.leaving, idx)
		}
	}
	if !f.Pool.Copies() { // else Settle writes them, once
		for _, run := range runs(f.leaving) {
			f.note(f.Pool.Save(run.from, run.to, true))
			testpoint.Here("flush.saved")
		}
	}
	if settled || len(f.leaving) > 0 {
		f.Pool.Feed() // and another round follows
	}
}

// copyOpen brings a file up to date that is a copy: with what is still being
// written, and what is sealed and waits, and last with the file's own state, which
// must not speak of what is not there.
func (f *Flusher) copyOpen() {
	for _, idx := range append(f.present(), 0) {
		if s := f.Pool.State(idx); s == mmpool.Open || s == mmpool.Sealed {
			f.note(f.Pool.Save(idx, idx+1, false))
			testpoint.Here("flush.copied")
		}
	}
}

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
