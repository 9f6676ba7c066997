package mmpool

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// prepareRing makes the window whole. The file grows until the ring has all its
// places; then, or where there is no room for that, they are used again.
func (p *Pool) prepareRing() error {
	r := p.ring
	r.held = false
	if err := p.prepareKept(); err != nil {
		return err
	}
	if p.files != nil {
		return p.files.prepare(p)
	}
	var grown error
	for {
		bump, end := p.Bump(), p.end.Load()
		want := bump + p.window - end
		if want < r.unit || want < min(minStep, p.window/2) && end > 1 {
			return grown
		}
		spare, why := p.back.spare()
		if spare < r.unit {
			return p.refuse(why)
		}
		want = min(want, spare)
		if p.leaveOut(end) {
			continue
		}
		step := r.step(end, want)
		n := min(step, r.want-r.have)
		if n > 0 && grown == nil {
			if grown = p.grow(end, n); grown == nil {
				continue
			} else if errors.Is(grown, errBehind) {
				return nil
			}
		}
		// What can't grow goes on with what it has.
		n, err := p.reuse(end, step)
		if err != nil {
			return p.refuse(err)
		}
		if n == 0 {
			r.held = true
			if grown != nil {
				return p.refuse(grown)
			}
			return nil
		}
	}
}

// leaveOut makes the window longer by the unit from the n-th chunk on, without its
// numbers, if one of them is still there.
func (p *Pool) leaveOut(n int64) bool {
	r := p.ring
	if !r.busy(n) {
		return false
	}
	for i := range r.unit {
		r.ready[r.number(n+i)&int64(len(r.ready)-1)].Store(0)
	}
	p.ready(n + r.unit)
	return true
}

// step is how many chunks from the n-th on can be prepared at once: their numbers are
// neighbours, and free.
func (r *ring) step(n, want int64) int64 {
	step := min(want, maxStep, r.lap-r.number(n)+1)
	for k := r.unit; k < step; k += r.unit {
		if r.busy(n + k) {
			step = k
		}
	}
	return step - step%r.unit
}

// busy tells whether a number of the unit from the n-th chunk on is that of a chunk
// that is still there.
func (r *ring) busy(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.unit {
		if _, ok := r.places[r.number(n+i)]; ok {
			return true
		}
	}
	return false
}

// grow gives the ring n more places, for the chunks from end on.
func (p *Pool) grow(end, n int64) error {
	r := p.ring
	if err := p.room(n * ChunkSize); err != nil {
		return err
	}
	at := r.size
	if err := p.back.grow(at, n); err != nil {
		return err
	}
	testpoint.Here("pool.grown")
	r.size += n
	r.have += n
	var units []*unit
	for i := int64(0); i < n; i += r.unit {
		units = append(units, &unit{at: at + i})
	}
	return p.attach(end, units)
}

// reuse overwrites up to n chunks, for those from end on. It returns how many it
// found.
func (p *Pool) reuse(end, n int64) (int64, error) {
	r := p.ring
	r.mu.Lock()
	k := min(n/r.unit, int64(len(r.gone)))
	units := slices.Clone(r.gone[:k])
	r.mu.Unlock()
	if k == 0 {
		return 0, nil
	}
	// In the order of their places, so that neighbours stay, or become again, one
	// mapping. There are at most maxStep.
	for i := range units {
		for j := i; j > 0 && units[j].at < units[j-1].at; j-- {
			units[j], units[j-1] = units[j-1], units[j]
		}
	}
	var old []int64
	for _, u := range units {
		old = append(old, u.nums...)
	}
	if p.ring.overwrite != nil {
		p.ring.overwrite(old)
	}
	testpoint.Here("pool.overwrite")
	r.mu.Lock()
	r.gone = slices.Delete(r.gone, 0, int(k))
	for _, idx := range old {
		delete(r.places, idx)
	}
	r.mu.Unlock()
	for _, run := range neighbours(old) {
		if err := p.back.detach(run[0], run[1]); err != nil {
			return 0, err
		}
	}
	testpoint.Here("pool.detached")
	for i := 0; i < len(units); {
		j := i + 1
		for j < len(units) && units[j].at == units[j-1].at+r.unit {
			j++
		}
		if err := p.back.wipe(units[i].at, int64(j-i)*r.unit); err != nil {
			return 0, err
		}
		testpoint.Here("pool.wiped")
		i = j
	}
	return k * r.unit, p.attach(end, units)
}

// attach makes the units those of the chunks from end on, and the window end
// behind them.
func (p *Pool) attach(end int64, units []*unit) error {
	r := p.ring
	first := r.number(end)
	for i := 0; i < len(units); {
		j := i + 1
		for j < len(units) && units[j].at == units[j-1].at+r.unit {
			j++
		}
		if err := p.back.attach(first+int64(i)*r.unit, units[i].at, int64(j-i)*r.unit); err != nil {
			// Nothing is in them: they are the next to be tried.
			r.mu.Lock()
			for _, u := range units {
				u.nums = u.nums[:0]
			}
			r.gone = append(units, r.gone...)
			r.mu.Unlock()
			return err
		}
		i = j
	}
	testpoint.Here("pool.attached")
	idx, n := first, end
	r.mu.Lock()
	for _, u := range units {
		u.left, u.nums = r.unit, u.nums[:0]
		for k := range r.unit {
			u.nums = append(u.nums, idx)
			p.enter(idx, place{u.at + k, n, u})
			idx++
			n++
		}
	}
	r.mu.Unlock()
	p.reason.Store(uint32(format.LossWindow))
	testpoint.Here("pool.ready")
	p.ready(end + int64(len(units))*r.unit)
	return nil
}

// enter makes a chunk one that the window can have. r.mu is held.
func (p *Pool) enter(idx int64, pl place) {
	r := p.ring
	r.places[idx] = pl
	r.ready[idx&int64(len(r.ready)-1)].Store(uint64(idx)<<40 | uint64(pl.at)<<16 | uint64(uint16(r.turn(pl.n))))
	atomic.StoreUint32(&p.states[idx], Free)
}

// prepareKept keeps some kept chunks ready.
func (p *Pool) prepareKept() error {
	r := p.ring
	r.mu.Lock()
	n, next := int64(len(r.spare)), r.nextKept
	r.mu.Unlock()
	if n > keptAhead/2 || next+keptAhead > r.lap+maxKeptChunks {
		return nil
	}
	at := r.size
	err := p.room(keptAhead * ChunkSize)
	if err == nil {
		err = p.back.grow(at, keptAhead)
	}
	if err == nil {
		r.size += keptAhead
		err = p.back.attach(next, at, keptAhead)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range int64(keptAhead) {
		r.places[next+i] = place{at: at + i, n: 1}
		r.spare = append(r.spare, next+i)
	}
	r.nextKept += keptAhead
	return nil
}
