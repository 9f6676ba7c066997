package mmpool

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// backing is where chunks live.
type backing interface {
	kind() format.Backing
	base() uintptr
	addresses() *sys.Range
	// words is a chunk's memory, nil if there is none.
	words(idx int64) []uint64
	// spare is how many more chunks can be prepared now; err says why no more, or why
	// the file does not take what there is. It is errBehind where there will be more
	// when others were written out.
	spare() (n int64, err error)
	// extend prepares the chunks [from, to). On an error it has prepared
	// none, and holds no space for them.
	extend(from, to int64) error
	// rearm makes the chunks' pages writable again where the kernel's
	// write-back has write-protected them.
	rearm(from, to int64) error
	// save begins to write the chunks out, or brings the file up to date with them;
	// final says that they will not change any more. settle has them written and
	// drops their memory.
	save(s span, final bool) error
	settle(s span) error
	// What a ring needs besides. grow gives the file n more places. attach makes
	// the n places from at on those of the chunks from idx on, as extend does,
	// which need not be neighbours of others; detach makes these chunks'
	// addresses nobody's. wipe zeroes places, each one's first page before the
	// rest.
	grow(at, n int64) error
	attach(idx, at, n int64) error
	detach(idx, n int64) error
	wipe(at, n int64) error
	// free is how many bytes the file system has left, of how many.
	free() (avail, total int64, err error)
	// memory is how many bytes it takes of the process's memory, besides its file.
	memory() int64
	// unprepared counts the pages that extend could not fault in.
	unprepared() int64
	// close cuts the file at size bytes and lets go of the memory.
	close(size int64) error
}

// ErrNoSpace says that the file system has too little room to record.
var ErrNoSpace = errors.New("not enough space on the file system")

// maxSpare is spare's where there is no bound.
const maxSpare = 1 << 40

// errBehind says that what was written before is not in the file yet.
var errBehind = errors.New("the file does not take it as fast as it is written")

// New prepares a pool over an empty file, its first window included. Chunk 0 is
// the caller's, for the file header. An error leaves the file empty.
func New(o Options) (*Pool, error) {
	p := &Pool{
		window: minWindow,
		limit:  o.Limit / ChunkSize,
		states: o.States,
		wake:   make(chan struct{}, 1),
		dry:    o.Dry,
		file:   o.File,
		files:  o.Files,

		inMemory: o.InMemory,
	}
	if p.left.Store(o.Left); o.Left == 0 {
		p.left.Store(NoMemoryLimit)
	}
	if p.dry == nil {
		p.dry = new(atomic.Uint32)
	}
	p.dry.Store(0)
	if p.limit > 0 {
		p.spare = min(max(8, p.limit/64), p.limit/2)
	}
	p.reason.Store(uint32(format.LossWindow))
	var err error
	if o.Heap {
		h := newHeap(o, &p.allowed)
		p.back, p.copier = h, &h.copier
	} else if o.Hot != nil {
		p.back, p.copier, err = newShm(o.File, &o, &p.allowed)
	} else {
		p.back, err = newDisk(o.File, &o)
	}
	if err != nil {
		return nil, err
	}
	p.asked, p.seen = time.Now(), 1
	if p.allow(); (p.inMemory || p.copier != nil) && p.allowed.Load() < leastAllowed*ChunkSize {
		err = errMemory
	} else {
		err = p.first(&o)
	}
	if err != nil {
		_ = p.back.close(0)
		p.Discard()
		return nil, err
	}
	p.bump.Store(1)
	p.low.Store(p.end.Load() - 1)
	p.Advance(0, Open)
	return p, nil
}

// first makes the tables and the first window.
func (p *Pool) first(o *Options) error {
	n := p.limit
	if o.Ring.bytes > 0 {
		span := int64(1 << 24)
		if a := p.back.addresses(); a != nil {
			span = a.Size() / ChunkSize
		}
		r, err := o.Ring.make(o, span)
		if err != nil {
			return err
		}
		p.ring, p.remake = r, o.Ring.prepare
		p.window = min(p.window, r.want/4)
		n = r.lap + maxKeptChunks
	} else if n == 0 {
		n = 1 << 24
	}
	if p.states == nil {
		p.states = make([]uint32, n+1)
	}
	if p.ring == nil {
		return p.prepare()
	}
	if err := p.room(ChunkSize); err != nil {
		return err
	}
	if err := p.back.grow(0, 1); err != nil {
		return err
	}
	if err := p.back.attach(0, 0, 1); err != nil {
		return err
	}
	p.bump.Store(1)
	p.end.Store(1)
	return p.prepare()
}

// Extend keeps the window ahead of the bump. The window is what the writers
// would use in a tenth of a second at the rate since the last call, from 4 MiB
// up to 64 MiB. Where it can't be prepared the reason that Take gives changes,
// and with it what lost records are counted as.
func (p *Pool) Extend() error {
	p.allow()
	now, bump := time.Now(), p.Bump()
	if d := now.Sub(p.asked); d > 0 {
		perTenth := int64(float64(bump-p.used) / d.Seconds() / 10)
		// Down slowly: bursts come again.
		p.window = min(max(perTenth, p.window*3/4, minWindow), maxWindow)
		if p.ring != nil {
			p.window = min(p.window, p.ring.want/4) // what is prepared holds nothing
		}
	}
	p.asked, p.used = now, bump
	return p.prepare()
}

// prepare makes the window whole, step by step, so that a writer that is about
// to run out of it gets more before all is there.
func (p *Pool) prepare() error {
	defer func() {
		// Half of the window is used when this much is left.
		p.half.Store(p.end.Load() - p.window/2)
	}()
	if p.ring != nil {
		return p.remake(p)
	}
	for {
		want := p.Bump() + p.window
		if p.limit > 0 {
			want = min(want, p.limit)
		}
		want = min(want, int64(len(p.states)))
		end, owned := p.end.Load(), p.owned()
		if owned {
			end = p.next.Load()
		}
		step := min(want-end, maxStep)
		if step <= 0 || step < minStep && want != p.limit && end != 0 {
			return nil
		}
		spare, why := p.back.spare()
		if spare < 1 {
			return p.refuse(why)
		}
		step = min(step, spare)
		if err := p.room(step * ChunkSize); err != nil {
			return p.refuse(err)
		}
		if owned && !p.next.CompareAndSwap(end, end+step) {
			continue
		}
		if err := p.back.extend(end, end+step); err != nil {
			p.next.CompareAndSwap(end+step, end)
			return p.refuse(err)
		}
		// The table's page too is to be there before a writer comes.
		atomic.AddUint32(&p.states[end], 0)
		atomic.AddUint32(&p.states[end+step-1], 0)
		for i := end; owned && i < end+step; i++ {
			atomic.StoreUint32(&p.states[i], prepared)
		}
		p.reason.Store(uint32(format.LossWindow))
		p.ready(end + step)
	}
}

// ready makes end the window's: there may be chunks for who found none.
func (p *Pool) ready(end int64) {
	p.end.Store(end)
	p.dry.Store(0)
}

// refuse makes err the reason for which there is no more of the window. What the
// file does not take yet is none of its own: it is as if the window had not been
// asked for.
func (p *Pool) refuse(err error) error {
	if errors.Is(err, errBehind) {
		return nil
	}
	p.reason.Store(uint32(lossOf(err)))
	if p.Short() {
		p.dry.Store(uint32(lossOf(err)))
	}
	return err
}

// room refuses to take what would leave less free than 5 % of the file system
// or 1 GiB, whichever is smaller: a tracer must not be what fills a disk. Nor may it be
// what fills the memory, where the file is in there.
func (p *Pool) room(n int64) error {
	if p.inMemory && p.inMemoryFile()+n > p.allowed.Load() {
		return errMemory
	}
	avail, total, err := p.back.free()
	if err != nil {
		return nil // unknown: the allocation itself will tell
	}
	if keep := min(total/20, 1<<30); avail-n < keep {
		return fmt.Errorf("%s: %d bytes are free, %d must stay free: %w", p.file.Name(), avail, keep, ErrNoSpace)
	}
	return nil
}

// Full says why the window is not being extended; 0 if it is.
func (p *Pool) Full() format.Loss {
	if r := format.Loss(p.reason.Load()); r != format.LossWindow {
		return r
	}
	if p.limit > 0 && p.Bump() >= p.limit-p.spare {
		return format.LossLimit
	}
	return 0
}

// Rearm makes the window and the chunks in open writable again where the
// kernel has write-protected them: it does so some 30 s after a page was
// written, and the next store would take a fault.
func (p *Pool) Rearm(open []int64) error {
	var first error
	for _, idx := range open {
		if err := p.back.rearm(idx, idx+1); err != nil && first == nil {
			first = err
		}
	}
	for _, run := range p.ahead() {
		if err := p.back.rearm(run[0], run[1]); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Save begins to write the chunks [from, to) out, or, where the file is a copy, brings
// it up to date with them; final says that they will not change any more.
func (p *Pool) Save(from, to int64, final bool) error {
	return p.each(from, to, func(s span) error { return p.back.save(s, final) })
}

// Settle waits for what Save began and drops the chunks' memory.
func (p *Pool) Settle(from, to int64) error {
	err := p.each(from, to, p.back.settle)
	if p.files != nil {
		p.files.settled(p)
	}
	return err
}

// Discard deletes what files there are besides the one that was given to New, of a
// recording that does not come to be.
func (p *Pool) Discard() {
	if p.files != nil {
		p.files.discard()
	}
}

// ShutRecords makes every later Take fail; blocks still get chunks.
func (p *Pool) ShutRecords() { p.bump.Or(noRecords) }

// Shut makes every later Take fail, that for blocks too.
func (p *Pool) Shut() {
	p.reason.Store(uint32(format.LossStop))
	p.ready(math.MinInt64 / 2)
}

// Close lets go of the memory and cuts the file behind the last chunk. Nobody
// may be about to store into a chunk, but by a compare-and-swap that fails.
// The table of states is left as New wants to find it.
func (p *Pool) Close() error {
	for p.askers.Load() != 0 {
		runtime.Gosched()
	}
	size, n := p.Size(), p.Bump()
	if r := p.ring; r != nil {
		n = min(p.Bump(), r.lap+1)
		for i := r.lap + 1; i < r.nextKept; i++ {
			atomic.StoreUint32(&p.states[i], 0)
		}
	}
	for i := range p.states[:max(n, p.next.Load())] {
		atomic.StoreUint32(&p.states[i], 0) // a late end may look
	}
	if p.files == nil {
		return p.back.close(size)
	}
	err := p.files.cut(p)
	if e := p.back.close((size/ChunkSize - p.files.place(0)) * ChunkSize); err == nil {
		err = e
	}
	return err
}

// IsNoSpace tells whether an error means that the file system is full, nearly
// full, or that a quota or file size limit was met.
func IsNoSpace(err error) bool { return lossOf(err) == format.LossSpace }
