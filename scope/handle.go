//go:build !scope_off

package scope

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/mmpool"
)

// begin begins a scope: where there is no assembly, and where it can't.
//
//go:noinline
func begin(head uint64, name string, args []any) handle {
	r := current.Load()
	var n uint64
	if e := r.names.cached(name); e == nil {
		n = r.names.slow(name)
		if n&nameOut != 0 {
			return handle{}
		}
		n <<= 48
	} else if n = e.Head; e.Len&sys.NameOut != 0 {
		return handle{}
	}
	switch {
	case len(args) != 0:
		return r.beginArgs(head|n, args)
	case r.plain:
		// The Go path's usual scope, where chunks are mapped and stubs read the
		// counter and the goroutine's id. It stands here because one more call
		// is a noticeable part of its cost.
		start, goid := r.goids.ReadTSC()
		v := r.stripes[goid%stripeCount&r.striping].place.Add(1)
		if v&(stripeShut|1<<32-1) > chunkUnits {
			r.crossed(v, 1)
			return r.goBegin(head|n, nil)
		}
		loc := int64(v>>32)*mmpool.ChunkSize + int64(v&(1<<32-1)-1)*format.RecordSize
		w := r.mapped.Record(loc)
		setWord(&w[2], head|n|goid&format.MaxGoid)
		setWord(&w[1], uint64(start)|openBit)
		publish(&w[0], uint64(start))
		return handle{Loc: loc, Start: start}
	case r.fast == nil:
		return r.goBegin(head|n, nil)
	}
	loc, start := sys.BeginFast(head|n, r.gen)
	if start == 0 {
		return r.beginSlow(head|n, nil, loc)
	}
	return handle{Loc: loc, Start: start}
}

// endNow ends a scope: where there is no assembly, and where it can't.
func endNow(h handle) {
	r := current.Load()
	if !r.plain || r.watch != nil || atomic.LoadUint32(&sys.Live.On) == offPath {
		endAt(h, 0, nil)
		return
	}
	// What begin began this way is nearly always open, this goroutine's, and in a
	// chunk that may still be written, which after Stop none is.
	at, goid := r.goids.ReadTSC()
	idx := h.Loc / mmpool.ChunkSize
	if r.pool.State(idx) == mmpool.Open {
		w := r.mapped.Record(h.Loc)
		if atomic.LoadUint64(&w[0]) == uint64(h.Start) && (w[2]^goid)&format.MaxGoid == 0 &&
			sys.SwapLocal(&w[1], uint64(h.Start)|openBit, uint64(at)) {
			// Where Go, or the system, had somebody else run in between, the chunk
			// may be gone by now. Two rounds of the flusher don't fit into less.
			if r.pool.State(idx) > mmpool.Sealed {
				r.endLate(h, at)
			}
			return
		}
	}
	endAt(h, at, nil)
}

// endAt ends a scope at a tick (0: now), with more to tell in x if that is not
// nil.
func endAt(h handle, at int64, x *encoder) {
	r := current.Load()
	if r.watch != nil && atomic.LoadUint32(&sys.Live.On) != offPath && h.Start >= r.began {
		if at == 0 {
			at = r.clock.Now()
		}
		if took := at - h.Start; took >= r.watch.least {
			if t, name := r.watch.slow(r, h, at); t != nil {
				defer r.watch.fire(r, t, name, took)
			}
		}
	}
	switch atomic.LoadUint32(&sys.Live.On) {
	case fastPath:
		r.endFast(h, at, x)
	case goPath:
		r.goEnd(h, at, x)
	default:
		r.staleEnds.Add(1)
	}
}

//go:noinline
func endArgs(h handle, args []any) {
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: current.Load()}
	x.place(x.r.offset(h))
	x.addAll(args)
	endAt(h, 0, &x)
}

// process is a scope that also records the process's CPU time.
type process struct{ h handle }

//go:noinline
func beginProcess(name string, args []any) process {
	r := current.Load()
	n := r.names.find(name)
	if n&nameOut != 0 {
		return process{}
	}
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: r}
	x.cpu(sys.ProcessCPU())
	x.addAll(args)
	return process{r.beginExt(headProcess|n<<48, &x)}
}

func (p process) end() {
	if p.h.Loc == 0 {
		return
	}
	var buf [16]uint64
	x := encoder{w: buf[:], r: current.Load()}
	x.place(x.r.offset(p.h))
	x.cpu(sys.ProcessCPU())
	endAt(p.h, 0, &x)
}

//go:noinline
func event(name string, args []any) {
	r := current.Load()
	if n := r.names.find(name); n&nameOut == 0 {
		r.putArgs(&[4]uint64{2: headEvent | n<<48}, args)
	}
}

func counter[T Number](name string, v T) {
	bits, t := uint64(int64(v)), format.SlotInt
	switch half := T(1) / 2; {
	case half != 0:
		bits, t = float(float64(v)), format.SlotFloat
	case T(0)-1 > 0:
		bits, t = uint64(v), format.SlotUint
	}
	putCounter(name, bits, t)
}

//go:noinline
func putCounter(name string, bits uint64, t format.SlotType) {
	r := current.Load()
	if n := r.names.find(name); n&nameOut == 0 {
		r.put(&[4]uint64{1: bits, 2: headCounter | n<<48, 3: uint64(t)}, nil, 1)
	}
}

//go:noinline
func track(name string) {
	r := current.Load()
	r.put(&[4]uint64{2: headTrack | r.names.find(name)&nameID<<48}, nil, 1)
	if r.fast != nil {
		r.fast.Named(r.goids.Get())
	}
}

func startGo(name string, f func()) {
	r := current.Load()
	created, creator := r.clock.Now(), r.goids.Get()
	go func() {
		if r := current.Load(); atomic.LoadUint32(&sys.Live.On) != offPath {
			r.put(&[4]uint64{1: uint64(created), 2: headGo | r.names.find(name)&nameID<<48, 3: creator & format.MaxGoid}, nil, 1)
		}
		f()
	}()
}

// held is a lock that is held, and the record of that.
type held struct {
	l sync.Locker
	h handle
}

//go:noinline
func lock(l sync.Locker, name string) held {
	if atomic.LoadUint32(&sys.Live.On) == offPath {
		l.Lock()
		return held{l, handle{}}
	}
	r := current.Load()
	if f := r.opts.briefLock; f != nil {
		return f(r, l, name)
	}
	n := r.names.find(name)
	if n&nameOut != 0 {
		l.Lock()
		return held{l, handle{}}
	}
	a := any(l)
	addr := uint64(sys.Object(&a))
	what, state, inner := lockOf(l)
	if t, ok := inner.(interface{ TryLock() bool }); !ok || !t.TryLock() {
		holder := uint64(0)
		if state != nil {
			holder = atomic.LoadUint64(&state.holder)
		}
		w := r.beginLock(headWait|n<<48, addr, holder, what, 0)
		inner.Lock()
		w.End()
	}
	if state != nil && what&uint64(format.LockShared) == 0 {
		setWord(&state.holder, self())
	}
	return held{l, r.beginLock(headHold|n<<48, addr, 0, what, 0)}
}

// lockOf is what l is, for the trace, and what there is to lock. Of a lock of ours,
// which would tell all this itself, that is what is inside it, and state is its.
func lockOf(l sync.Locker) (what uint64, state *lockState, inner sync.Locker) {
	switch l := l.(type) {
	case *sync.Mutex:
		return mutexWhat | format.LockEvery, nil, l
	case *sync.RWMutex:
		return rwWhat | format.LockEvery, nil, l
	case *Mutex:
		return mutexWhat | format.LockEvery, &l.lockState, &l.mu
	case *RWMutex:
		return rwWhat | format.LockEvery, &l.lockState, &l.mu
	case *rlocker:
		return rwReadWhat | format.LockEvery, &l.lockState, (*reader)(&l.mu)
	}
	return format.LockEvery, nil, l
}

// beginLock begins the record of a wait or a hold, at a tick (0: now).
func (r *recorder) beginLock(head, addr, holder, what uint64, at int64) handle {
	var buf [smallWords]uint64
	x := encoder{w: buf[:], r: r, at: at}
	x.slot(format.SlotAddr, addr)
	x.slot(format.SlotGoid, holder&format.MaxGoid)
	x.slot(format.SlotUint, what)
	return r.beginExt(head, &x)
}

// unlock ends the record and unlocks. Ending takes no longer than reading the
// clock would, and after Unlock, which may wake somebody who takes the CPU, the
// CPU time could not be known any more.
//
// A hold that briefLock began has the name's id there, below 0.
func (h held) unlock() {
	if h.h.Loc >= 0 {
		h.h.End()
	} else if r := current.Load(); r.opts.endBrief != nil && atomic.LoadUint32(&sys.Live.On) != offPath {
		r.opts.endBrief(r, h.l, -1-h.h.Loc, h.h.Start)
	}
	h.l.Unlock()
}
