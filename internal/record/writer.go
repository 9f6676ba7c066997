//go:build !scope_off

package record

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
)

// writer covers the differences between the two ways to write records: the assembly's
// (fastWriter) and Go's (goWriter). Work per record is not in it but in begin, put and
// refuse below: an encoder passed through an interface would be allocated on the heap.
type writer interface {
	// path and witness describe the method, for the trace's header.
	path() format.Path
	witness() uint32
	// configure sets up the flusher, and enter admits recording goroutines.
	configure(cfg *flusher.Config)
	enter()
	// leave returns when no goroutine is about to begin a record any more.
	leave()
	// reclaim takes open chunks from their owners.
	reclaim(chunks []int64)
	// expire makes the owners of chunks take others at their next record.
	expire(chunks []int64)
	// overwritten is called with chunks that are about to be overwritten.
	overwritten(chunks []int64)
	// written counts records, and ends on other goroutines than the begin's that are not in
	// foreignEnds.
	written() (records, foreign int64)
	// useNames sets the table of names, and named records that the caller's row has a name.
	useNames(table nameCache)
	named()
	// beat is called while a heartbeat is being written.
	beat()
}

// begin begins a scope, with an extension unless x is nil.
func (r *recorder) begin(head uint64, x *encoder) Handle {
	if r.fast == nil {
		return r.gopath.begin(head, x)
	}
	loc, start := r.tryBegin(head, x)
	if start != 0 {
		return Handle{Loc: loc, Start: start}
	}
	return r.beginSlow(head, x, loc)
}

// put writes a complete record; count is 1, or 0 for an end apart. If there is no room, it
// counts a loss.
func (r *recorder) put(rec *[4]uint64, x *encoder, count int64) {
	if r.fast == nil {
		r.gopath.put(rec, x, count)
		return
	}
	r.putFast(rec, x, count)
}

// refuse reports whether a record would get no chunk, before it is encoded, and counts it
// as lost. The little room left in the chunk of its P, or its stripe, is for small records.
func (r *recorder) refuse() bool {
	why := r.pool.Dry()
	switch {
	case why == 0:
		return false
	case r.fast != nil:
		return sys.Lose(r.gen, int64(why), most)
	case r.gopath.hasRoom(most / format.RecordSize):
		return false
	}
	r.loseMany(why, 1)
	return true
}

// fastWriter writes by the assembly.
type fastWriter struct {
	*sys.Fast
	r       *recorder
	refused string // to new threads, as last recorded in a beat
}

func newFastWriter(r *recorder) *fastWriter {
	f := &fastWriter{Fast: r.fast, r: r}
	f.Setup(r.pool.Base(), uint64(r.pool.Span()), r.rate, r.opts.CPU)
	f.Losses(r.losses[:format.OwnRows*rowWords])
	if r.watch != nil {
		f.Trigger(r.watch.least)
	}
	return f
}

func (f *fastWriter) path() format.Path { return format.PathAssembly }
func (f *fastWriter) witness() uint32   { return f.Witness }

func (f *fastWriter) configure(cfg *flusher.Config) {
	cfg.Expire = func(idx int64) { f.Expire(f.addr(idx), pool.ChunkSize) }
}

func (f *fastWriter) expire(chunks []int64) {
	for _, idx := range chunks {
		f.Expire(f.addr(idx), pool.ChunkSize)
	}
}

func (f *fastWriter) enter() {
	f.Run(f.r.gen)
	atomic.StoreUint32(&sys.Live.On, fastPath)
}

func (f *fastWriter) leave() {
	r := f.r
	f.Run(0)
	// The world can't stop while a goroutine is inside the assembly, so after it has been
	// stopped once none of this recording is.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.Leave(r.gen, func(addr, used uintptr) {
		w := r.pool.Words(f.chunk(addr))
		atomic.StoreUint64(&w[format.ChunkSealedOffset/8], uint64(used))
		// Clear what a begin had stored before it was repeated elsewhere.
		clear(w[used/8 : min(int(used/8)+bigWords+format.RecordSize/8, len(w))])
	})
	r.sealUnborn()
}

// addr returns the address of a chunk, and chunk the inverse.
func (f *fastWriter) addr(idx int64) uintptr   { return f.r.pool.Base() + uintptr(idx)*pool.ChunkSize }
func (f *fastWriter) chunk(addr uintptr) int64 { return int64(addr-f.r.pool.Base()) / pool.ChunkSize }

func (f *fastWriter) reclaim(chunks []int64) {
	r := f.r
	addrs := make([]uintptr, len(chunks))
	for i, idx := range chunks {
		addrs[i] = f.addr(idx)
	}
	f.Reclaim(addrs, pool.ChunkSize, r.gen, func(addr, used uintptr) bool {
		idx := f.chunk(addr)
		if r.pool.State(idx) != pool.Open {
			return false
		}
		atomic.StoreUint64(&r.pool.Words(idx)[format.ChunkSealedOffset/8], uint64(used))
		r.pool.Advance(idx, pool.Sealed)
		return true
	})
}

func (f *fastWriter) overwritten(chunks []int64) {} // each P counts its records itself

func (f *fastWriter) useNames(table nameCache) { f.SetNames(table) }
func (f *fastWriter) named()                   { f.Named(f.r.goids.Get()) }

func (f *fastWriter) written() (records, foreign int64) {
	c := f.Count()
	return c.Records, c.Foreign
}

func (f *fastWriter) beat() {
	r := f.r
	f.Retire()
	if why := f.Refused(); why != f.refused {
		f.refused = why
		r.note("CPU times of new threads are unknown from here on: " + why)
	}
	c := f.Count()
	r.value(format.FieldClamped, c.Clamped)
	r.value(format.FieldAnchoring, int64(float64(c.Anchoring)/float64(r.rate)*1e9))
}
