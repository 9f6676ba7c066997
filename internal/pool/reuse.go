package pool

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/testpoint"
)

// begin prepares chunk 0, and some kept chunks.
func (r *ring) begin() error {
	p := r.p
	r.held, r.grown = false, nil
	if p.end.Load() == 0 {
		if err := r.prepare(0, 0, 1); err != nil {
			return err
		}
		p.next.Store(1)
		p.end.Store(1)
	}
	r.mu.Lock()
	n, next := int64(len(r.spare)), r.nextKept
	r.mu.Unlock()
	if n > keptAhead/2 || next+keptAhead > r.lap+maxKeptChunks {
		return nil
	}
	at := r.total
	if err := r.prepare(next, at, keptAhead); errors.Is(err, errBehind) {
		return nil // later
	} else if err != nil {
		return err
	}
	r.total += keptAhead
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range int64(keptAhead) {
		r.places[next+i] = place{at: at + i, n: 1}
		r.spare = append(r.spare, next+i)
	}
	r.nextKept += keptAhead
	return nil
}

// prepare prepares n chunks at places of their own.
func (r *ring) prepare(idx, at, n int64) error {
	err := r.p.room(n * ChunkSize)
	if err == nil {
		err = r.p.back.grow(at, n)
	}
	if err == nil {
		err = r.p.back.attach(idx, at, n)
	}
	return err
}

// extend grows the file until the ring has all its places; after that, or when there is no room to
// grow, it reuses places.
func (r *ring) extend(from, n int64) (int64, error) {
	if r.busy(from) {
		r.skipNumbers(from)
		return r.lotSize, r.grown
	}
	step := r.step(from, n)
	if more := min(step, r.want-r.have); more > 0 && r.grown == nil && len(r.empty) == 0 {
		if r.grown = r.grow(from, more); r.grown == nil {
			return more, nil
		} else if errors.Is(r.grown, errBehind) {
			return 0, nil
		}
	}
	// A ring that can't grow goes on with the places it has.
	done, err := r.reuse(from, step)
	if err != nil {
		return 0, err
	}
	r.held = done == 0
	return done, r.grown
}

// skipNumbers leaves out the numbers of the lot from the n-th chunk on, because one of them is still
// in use.
func (r *ring) skipNumbers(n int64) {
	for i := range r.lotSize {
		r.setEntry(r.number(n+i), 0)
	}
}

// step returns how many chunks from the n-th on can be prepared at once: their numbers are
// neighbours, and free.
func (r *ring) step(n, want int64) int64 {
	step := min(want, max(maxStep, r.lotSize), r.lap-r.number(n)+1)
	for k := r.lotSize; k < step; k += r.lotSize {
		if r.busy(n + k) {
			step = k
		}
	}
	return step - step%r.lotSize
}

// busy reports whether a chunk with a number of the lot from the n-th chunk on still exists.
func (r *ring) busy(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.lotSize {
		if _, ok := r.places[r.number(n+i)]; ok {
			return true
		}
	}
	return false
}

// grow adds n places to the ring, for the chunks from end on.
func (r *ring) grow(end, n int64) error {
	if err := r.p.room(n * ChunkSize); err != nil {
		return err
	}
	at := r.total
	if err := r.p.back.grow(at, n); err != nil {
		return err
	}
	testpoint.Here("pool.grown")
	r.total += n
	r.have += n
	r.mu.Lock()
	var lots []int
	for i := int64(0); i < n; i += r.lotSize {
		lots = append(lots, len(r.lots))
		r.lots = append(r.lots, lot{at: at + i})
	}
	r.mu.Unlock()
	return r.attach(end, lots)
}

// reuse overwrites up to n chunks, for those from end on. It returns how many it found.
func (r *ring) reuse(end, n int64) (int64, error) {
	r.mu.Lock()
	from := &r.gone
	if len(r.empty) > 0 {
		from = &r.empty
	}
	k := min(n/r.lotSize, int64(len(*from)))
	lots := slices.Clone((*from)[:k])
	// By place, which is the order of lots, so that neighbours stay, or become again, one mapping.
	slices.Sort(lots)
	var old []int64
	for _, l := range lots {
		old = r.called(old, r.lots[l].at, r.lotSize)
	}
	r.mu.Unlock()
	if k == 0 {
		return 0, nil
	}
	r.leave(old)
	r.mu.Lock()
	*from = slices.Delete(*from, 0, int(k))
	r.mu.Unlock()
	if err := r.detach(old); err != nil {
		return 0, err
	}
	for _, s := range r.runs(lots) {
		if err := r.p.back.wipe(s.at, s.n*r.lotSize); err != nil {
			return 0, err
		}
		testpoint.Here("pool.wiped")
	}
	return k * r.lotSize, r.attach(end, lots)
}

// leave reports chunks as overwritten and forgets their places.
func (r *ring) leave(idx []int64) {
	r.overwrite(idx)
	testpoint.Here("pool.overwrite")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range idx {
		delete(r.places, i)
	}
}

// evict overwrites chunks that are full and not in the file. The caller has checked them, and
// no other goroutine drops them.
func (r *ring) evict(chunks []int64) {
	r.mu.Lock()
	places := make([]place, len(chunks))
	for i, idx := range chunks {
		places[i] = r.places[idx]
	}
	r.mu.Unlock()
	r.leave(chunks)
	for i, idx := range chunks {
		r.p.back.evict(idx, places[i].at)
		testpoint.Here("pool.evicted")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pl := range places {
		r.unname(pl.at, 1)
		l := &r.lots[pl.lot]
		if l.left--; l.left == 0 {
			r.empty = append(r.empty, pl.lot)
		}
	}
}

// detach releases the addresses of chunks that have left.
func (r *ring) detach(idx []int64) error {
	for _, run := range neighbours(idx) {
		if err := r.p.back.detach(run.idx, run.n); err != nil {
			return err
		}
	}
	testpoint.Here("pool.detached")
	return nil
}

// runs joins lots that are neighbours: idx is the index of the first one in lots, n the number of
// lots.
func (r *ring) runs(lots []int) (s []extent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range lots {
		at := r.lots[l].at
		if n := len(s); n > 0 && at == s[n-1].at+s[n-1].n*r.lotSize {
			s[n-1].n++
		} else {
			s = append(s, extent{int64(i), at, 1})
		}
	}
	return s
}

// called appends the numbers of the n places from at on. r.mu is held.
func (r *ring) called(nums []int64, at, n int64) []int64 {
	for _, idx := range r.names[min(at, int64(len(r.names))):min(at+n, int64(len(r.names)))] {
		if idx > 0 {
			nums = append(nums, idx)
		}
	}
	return nums
}

// unname removes the numbers of n places from at on. r.mu is held.
func (r *ring) unname(at, n int64) {
	if more := at + n - int64(len(r.names)); more > 0 {
		r.names = append(r.names, make([]int64, more)...)
	}
	clear(r.names[at : at+n])
}

// attach assigns the lots to the chunks from end on.
func (r *ring) attach(end int64, lots []int) error {
	first := r.number(end)
	for _, s := range r.runs(lots) {
		if err := r.p.back.attach(first+s.idx*r.lotSize, s.at, s.n*r.lotSize); err != nil {
			// Nothing is in them: they are tried next.
			r.mu.Lock()
			for _, l := range lots {
				r.unname(r.lots[l].at, r.lotSize)
			}
			if r.p.Copies() {
				r.empty = append(lots, r.empty...)
			} else {
				r.gone = append(lots, r.gone...)
			}
			r.mu.Unlock()
			return err
		}
	}
	testpoint.Here("pool.attached")
	r.mu.Lock()
	for i, l := range lots {
		at := r.lots[l].at
		r.lots[l].left = r.lotSize
		r.unname(at, r.lotSize)
		r.enter(l, end+int64(i)*r.lotSize, at, r.lotSize)
	}
	r.mu.Unlock()
	testpoint.Here("pool.ready")
	return nil
}

// enter assigns the n places from at on, which belong to l, to the chunks from end on: the window
// can use them. r.mu is held.
func (r *ring) enter(l int, end, at, n int64) {
	for i := range n {
		idx := r.number(end + i)
		r.names[at+i] = idx
		r.places[idx] = place{at + i, end + i, l}
		atomic.StoreUint32(&r.p.states[idx], Free)
		r.setEntry(idx, uint64(idx)<<40|uint64(at+i)<<16|uint64(uint16(r.turn(end+i))))
	}
}
