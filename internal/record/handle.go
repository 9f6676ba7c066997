//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
)

// begin begins a scope without the assembly, or if the assembly can't.
//
//go:noinline
func begin(head uint64, name string, args []any) Handle {
	r := current.Load()
	var n uint64
	if e := r.names.cached(name); e == nil {
		n = r.names.slow(name, true)
		if n&nameOut != 0 {
			return Handle{}
		}
		n <<= 48
	} else if n = e.Head; e.Len&sys.NameOut != 0 {
		return Handle{}
	}
	switch {
	case len(args) != 0:
		return r.beginArgs(head|n, args, nil)
	case r.plain != nil:
		// The Go path's usual case: chunks are mapped, and stubs read the counter and the
		// goroutine's id. Inlined by hand, because a call is a noticeable part of the cost.
		g := r.plain
		start, goid := r.goids.ReadTSC()
		v := g.stripes[goid%stripeCount&g.striping].place.Add(1)
		if v&(stripeShut|1<<32-1) > chunkUnits {
			g.crossed(v, 1)
			return g.begin(head|n, nil)
		}
		loc := int64(v>>32)*pool.ChunkSize + int64(v&(1<<32-1)-1)*format.RecordSize
		w := g.mapped.Record(loc)
		setWord(&w[2], head|n|goid&format.MaxGoid)
		setWord(&w[1], uint64(start)|openBit)
		publish(&w[0], uint64(start))
		return Handle{Loc: loc, Start: start}
	}
	return r.begin(head|n, nil)
}

// endNow ends a scope without the assembly, or if the assembly can't.
func endNow(h Handle) {
	r := current.Load()
	if r.plain == nil || r.watch != nil || atomic.LoadUint32(&sys.Live.On) == Off {
		endAt(h, 0, nil)
		return
	}
	// A scope begun in this way is nearly always open, this goroutine's, and in a chunk that may
	// still be written; after Stop no chunk is.
	at, goid := r.goids.ReadTSC()
	idx := h.Loc / pool.ChunkSize
	if r.pool.State(idx) == pool.Open {
		w := r.plain.mapped.Record(h.Loc)
		if atomic.LoadUint64(&w[0]) == uint64(h.Start) && (w[2]^goid)&format.MaxGoid == 0 &&
			sys.SwapLocal(&w[1], uint64(h.Start)|openBit, uint64(at)) {
			// If Go or the system has preempted the goroutine in between, the chunk may be gone by
			// now. Two rounds of the flusher don't fit into less.
			if r.pool.State(idx) > pool.Sealed {
				r.plain.endLate(h, at)
			}
			return
		}
	}
	endAt(h, at, nil)
}

// endAt ends a scope at a tick (0: now), with the extension x unless it is nil.
func endAt(h Handle, at int64, x *encoder) {
	r := current.Load()
	if r.watch != nil && atomic.LoadUint32(&sys.Live.On) != Off && h.Start >= r.began {
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
		r.gopath.end(h, at, x)
	default:
		r.staleEnds.Add(1)
	}
}

// EndArgs ends a scope with arguments.
//
//go:noinline
func EndArgs(h Handle, args []any) {
	var buf [usualWords]uint64
	x := encoder{w: buf[:], r: current.Load()}
	x.place(x.r.offset(h))
	if x.addAll(nil, args); x.cut > 0 {
		endBig(h, args)
		return
	}
	endAt(h, 0, &x)
}

// endBig is EndArgs with a large extension.
//
//go:noinline
func endBig(h Handle, args []any) {
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: current.Load()}
	x.place(x.r.offset(h))
	x.addAll(nil, args)
	endAt(h, 0, &x)
}

// Process is a scope that also records the process's CPU time.
type Process struct{ h Handle }

// BeginProcess begins a Process.
//
//go:noinline
func BeginProcess(name string, args []any) Process {
	r := current.Load()
	n := r.names.given(name)
	if n&nameOut != 0 {
		return Process{}
	}
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: r}
	x.cpu(sys.ProcessCPU())
	x.addAll(nil, args)
	return Process{r.begin(headProcess|n<<48, &x)}
}

// End ends the scope.
func (p Process) End() {
	if p.h.Loc == 0 {
		return
	}
	var buf [16]uint64
	x := encoder{w: buf[:], r: current.Load()}
	x.place(x.r.offset(p.h))
	x.cpu(sys.ProcessCPU())
	endAt(p.h, 0, &x)
}

// Event records an instant.
//
//go:noinline
func Event(name string, args []any) {
	r := current.Load()
	if n := r.names.given(name); n&nameOut == 0 {
		r.putArgs(&[4]uint64{2: headEvent | n<<48}, args)
	}
}

// Counter records a value, given as the bits of a slot of type t.
//
//go:noinline
func Counter(name string, bits uint64, t format.SlotType) {
	r := current.Load()
	if n := r.names.given(name); n&nameOut == 0 {
		r.put(&[4]uint64{1: bits, 2: headCounter | n<<48, 3: uint64(t)}, nil, 1)
	}
}

// Track names the goroutine's row.
//
//go:noinline
func Track(name string) {
	r := current.Load()
	r.put(&[4]uint64{2: headTrack | r.names.given(name)&nameID<<48}, nil, 1)
	r.writer.named()
}

// NamesCrowded reports whether callers with very many names should leave the rest of the table to
// others.
func NamesCrowded() bool { return current.Load().names.crowded() }

// Go runs f on a new goroutine whose row has the name.
func Go(name string, f func()) {
	r := current.Load()
	created, creator := r.clock.Now(), r.goids.Get()
	id := r.names.given(name) // here, because the goroutine's own stack has no caller
	go func() {
		if now := current.Load(); atomic.LoadUint32(&sys.Live.On) != Off {
			id := id
			if now != r {
				id = now.names.find(name)
			}
			now.put(&[4]uint64{1: uint64(created), 2: headGo | id&nameID<<48, 3: creator & format.MaxGoid}, nil, 1)
		}
		f()
	}()
}
