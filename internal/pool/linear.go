package pool

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// linear is the placement of chunks that lie one behind the other and are used once: number, place
// and order of hand-out are the same.
//
// # Chunks that their takers prepare
//
// Where chunks are memory, and the file a copy, preparing one needs no disk. So a caller that finds
// none ready prepares one: some 10 to 120 µs, once for 2,000 records, until the allowed memory is
// used up. Callers do not wait for each other, since each prepares a number of its own: the flusher
// takes its numbers from the same counter (unprepared) and marks those that it has prepared, and
// the bump skips numbers without a mark. When the recording ends, chunks that the flusher prepared
// and no caller took can lie before such a chunk: see Rest.
//
// In a ring callers can't: before a place is reused its chunk must be counted as overwritten, and
// facts that outlive it must be recorded again. A ring loses records where the flusher is late, not
// where the disk is.
type linear struct {
	p          *Pool
	owned      bool         // takers may prepare chunks
	unprepared atomic.Int64 // the first chunk not yet claimed for preparation
	seen       int64        // appendFresh has returned the chunks below
}

func newLinear(p *Pool, o *Options) (placement, error) {
	n := p.limit
	if n == 0 {
		n = 1 << 24
	}
	if p.states != nil {
		n = min(n, int64(len(p.states)))
	}
	p.shape = shape{numbers: n, last: n, firstKept: math.MaxInt64, most: maxWindow, keep: keepForRecords, lotSize: 1}
	return &linear{p: p, owned: p.Copies(), seen: 1}, nil
}

func (l *linear) from() int64                     { return l.unprepared.Load() }
func (l *linear) place(idx int64) (int64, uint32) { return idx, 1 }
func (l *linear) size() int64                     { return l.p.Bump() }
func (l *linear) reserved() int64                 { return l.from() }

func (l *linear) extend(from, n int64) (int64, error) {
	p, at := l.p, from
	n = min(n, maxStep)
	if err := p.room(n * ChunkSize); err != nil {
		return 0, err
	}
	for !l.unprepared.CompareAndSwap(at, at+n) {
		at = l.unprepared.Load()
		if n = min(n, p.last-at); n <= 0 {
			return at - from, nil
		}
	}
	if err := l.prepare(at, n); err != nil {
		return 0, err
	}
	// The table's page must also be present before a writer comes.
	atomic.AddUint32(&p.states[at], 0)
	atomic.AddUint32(&p.states[at+n-1], 0)
	for i := at; l.owned && i < at+n; i++ {
		atomic.StoreUint32(&p.states[i], prepared)
	}
	return at + n - from, nil
}

// prepare prepares n chunks from idx on, which the caller has taken from unprepared.
func (l *linear) prepare(idx, n int64) error {
	err := l.p.back.grow(idx, n)
	if err == nil {
		err = l.p.back.attach(idx, idx, n)
	}
	if err != nil {
		l.unprepared.CompareAndSwap(idx+n, idx)
	}
	return err
}

func (l *linear) taken(n int64) (idx int64, ok bool) {
	// A number without the mark belongs to the caller that prepared it.
	return n, !l.owned || atomic.CompareAndSwapUint32(&l.p.states[n], prepared, handed)
}

func (l *linear) make(spare int64) (int64, format.Loss) {
	p := l.p
	if !l.owned {
		return 0, format.LossWindow
	}
	// Each of the callers in here may be about to take one.
	n, err := p.back.spare()
	if n < p.askers.Load() {
		if err == nil {
			err = errBehind // there are fewer than callers
		}
		return 0, p.why(err)
	}
	for {
		idx := l.unprepared.Load()
		if p.limit > 0 && idx >= p.limit-spare {
			return 0, format.LossLimit
		}
		if idx >= p.last {
			return 0, p.why(errNumbers)
		}
		if !l.unprepared.CompareAndSwap(idx, idx+1) {
			continue
		}
		if err := l.prepare(idx, 1); err != nil {
			return 0, p.why(err)
		}
		atomic.StoreUint32(&p.states[idx], handed)
		p.made.Add(1)
		p.low.Store(0)
		for top := p.top.Load(); top <= idx && !p.top.CompareAndSwap(top, idx+1); top = p.top.Load() {
		}
		p.poke()
		return idx, 0
	}
}

// why returns the loss reason of a caller that can't prepare a chunk because of err.
func (p *Pool) why(err error) format.Loss {
	_ = p.refuse(err)
	if why := format.Loss(p.reason.Load()); why != format.LossWindow || !errors.Is(err, errBehind) {
		return why
	}
	return format.LossBuffer
}

func (l *linear) appendFresh(dst []int64) []int64 {
	for bump := l.p.Bump(); l.seen < bump; l.seen++ {
		dst = append(dst, l.seen)
	}
	return dst
}

func (l *linear) appendLive(dst []int64) []int64 {
	for idx := int64(1); idx < l.p.Bump(); idx++ {
		if w := atomic.LoadUint32(&l.p.states[idx]); !l.owned || w&0xff != Free || w == handed {
			dst = append(dst, idx)
		}
	}
	return dst
}

func (l *linear) extents(from, to int64) []extent { return []extent{{from, from, to - from}} }

func (l *linear) ahead(from, to int64) []run { return []run{{from, to - from}} }

func (l *linear) close() (own int64, err error) {
	own = l.p.Bump()
	l.p.forget(0, max(own, l.from()))
	return own, nil
}
