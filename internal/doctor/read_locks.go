package doctor

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// turn adds a wait or a hold.
func (x *loader) turn(e *trace.Event, from, to int64) {
	var addr, holder uint64
	what := uint64(format.LockEvery) // default for version 1.1
	for _, s := range e.Args {
		switch s.Type {
		case format.SlotAddr:
			addr = s.Value
		case format.SlotUint:
			what = s.Value
		case format.SlotGoid:
			holder = s.Value
		}
	}
	kind, mode := format.LockOf(what)
	if !kind.Held() && kind != format.LockRetry {
		return // the states have it, with the goroutine that woke the waiter
	}
	d := turn{g: x.m.g(e.Goid), from: from, to: to, shared: mode == format.LockShared, holder: holder, open: e.Open}
	if e.Track != format.NameEmpty {
		d.g.track = x.t.Name(e.Track)
	}
	place := what&format.LockPlace != 0
	if place && e.Kind == format.KindHold {
		x.placed[addr] = append(x.placed[addr], d)
		return
	}
	of := addr
	if place {
		of = 0 // one lock for all unnamed ones that are waited for at that place
	}
	l := x.lock(of, e.Name, kind)
	l.every = l.every || what&format.LockEvery != 0
	if e.Kind == format.KindHold {
		l.holds = append(l.holds, d)
		return
	}
	if k := (lockKey{addr, e.Name}); place && !x.waited[k] {
		x.waited[k] = true
		l.addrs = append(l.addrs, addr)
	}
	l.waits = append(l.waits, d)
	if l.acquired < 0 {
		l.contended++
	}
}

// holders gives each lock that stands for the unnamed locks of a place their holds from
// everywhere.
func (x *loader) holders() {
	for _, l := range x.m.locks {
		for _, addr := range l.addrs {
			l.holds = append(l.holds, x.placed[addr]...)
		}
	}
}

func (x *loader) lock(addr uint64, name uint16, kind format.LockKind) *lock {
	k := lockKey{addr, name}
	l := x.locks[k]
	if l == nil {
		l = &lock{addr: addr, name: x.t.Name(name), object: x.t.IsObject(name), kind: kind, acquired: -1}
		x.locks[k] = l
		x.m.locks = append(x.m.locks, l)
	}
	return l
}

// readSums adds the counters of locks.
func (x *loader) readSums() error {
	return x.t.EachLockSums(func(s *format.LockSums) bool {
		at := x.t.Nanos(s.Ticks)
		l := x.locks[lockKey{s.Addr, s.Name}]
		if l == nil || at < x.m.from || at > x.m.to && x.o.To > 0 {
			return x.ctx.Err() == nil
		}
		if l.acquired < 0 {
			l.acquired, l.contended = 0, 0 // the sums include the recorded waits
		}
		l.acquired += max(s.Acquired, 0)
		l.contended += s.Contended
		l.shortWait += s.ShortWait
		return x.ctx.Err() == nil
	})
}
