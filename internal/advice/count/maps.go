package count

import (
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// groupSlots is how many entries a map holds before it is a table.
const groupSlots = 8

// makeMap takes a make: the map, the hint, and its type, or 0.
func makeMap(a *[8]uintptr, weight int64, pcs []uintptr) {
	x, ok := born(row.Map, a[0], a[2], weight, pcs)
	if !ok {
		return
	}
	x.v[hint], x.v[capacity] = int64(a[1]), slotsFor(int64(a[1]))
	x.v[elem], x.v[keyBytes] = mapSizes(a[2])
	x.v[seed] = mapSeed(x.key)
	c.tables[row.Map].put(&x, &c.rows)
}

// mapSeed is a map's random number, which tells whether the memory is still that map's. It changes when
// the map becomes empty.
func mapSeed(m uintptr) int64 { return int64(sys.LoadWord(m + 8)) }

// slotsFor is how many slots a map has that is made for so many entries.
func slotsFor(hint int64) int64 {
	if hint <= groupSlots {
		return groupSlots
	}
	n := int64(groupSlots)
	for n*7/8 < hint && n < 1<<40 {
		n *= 2
	}
	return n
}

func mapSizes(typ uintptr) (elem, key int64) {
	if typ == 0 {
		return 0, 0
	}
	return sys.MapElemSize(typ), sys.MapKeySize(typ)
}

// growMap takes a growth: the map, its entries, those that move, the slots that there are more, and
// its type.
func growMap(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := c.tables[row.Map]
	x, ok := t.take(a[0])
	// A map gets its first table once: then this is another one, made where nobody tells of it.
	if ok && (a[3] == groupSlots && x.v[capacity] > groupSlots || !x.same()) {
		t.died(&x, &c.rows)
		ok = false
	}
	if !ok {
		if c.skipped[0] != 0 {
			return // it may be one whose creation was passed over
		}
		if x, ok = born(row.Map, a[0], a[4], weight, pcs); !ok {
			return
		}
		x.v[unseen], x.v[capacity] = 1, groupSlots
	}
	if x.v[keyBytes] == 0 {
		x.v[elem], x.v[keyBytes] = mapSizes(a[4])
		if x.site != 0 && c.rows.depth > 0 {
			c.rows.sites[x.site-1].typ.CompareAndSwap(0, uint64(a[4])) // a small map is made without
		}
	}
	x.v[seed] = mapSeed(x.key)
	x.v[grown]++
	x.v[moved] += int64(a[2])
	x.v[length] = int64(a[1])
	x.v[peak] = max(x.v[peak], int64(a[1])+1) // it grows for one more
	x.v[capacity] += int64(a[3])
	x.v[tables] += int64(a[3]) * (x.v[elem] + x.v[keyBytes] + 1) // a table is replaced by twice as many slots
	t.put(&x, &c.rows)
}

// same reports whether the memory is still that of the map which is followed there. A map that has become
// empty has another seed, too: where no creation was passed over it can only be that.
func (x *inst) same() bool { return c.skipped[0] == 0 || x.v[seed] == mapSeed(x.key) }

// useMap takes an operation: the map, its entries, and how long a key is that is a string.
func useMap(e row.Event, a *[8]uintptr) {
	t := c.tables[row.Map]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil && x.same() {
		x.v[opGet+int(e-row.MapGet)] += one()
		x.v[watched], x.v[seed] = 1, mapSeed(x.key)
		x.v[keyRead] += int64(a[2]) * one()
		used := int64(a[1])
		if e == row.MapPut {
			used++
		}
		x.v[peak] = max(x.v[peak], used)
	}
	s.leave()
}

// foldMap adds a map to its row.
func foldMap(x *inst, t *tally) {
	w := x.weight
	known := max(x.v[length], x.v[looked], x.v[peak]) // the most that it ever held, as far as that was seen
	fold(x, t, known, true)
	most(t, row.MaxKey, x.v[keyBytes])
	add(t, row.Moved, w*x.v[moved])
	entry := x.v[elem] + x.v[keyBytes] + 1
	add(t, row.CapBytes, w*x.v[capacity]*entry)
	add(t, row.LenBytes, w*max(x.v[length], x.v[looked])*entry)
	add(t, row.GrownBytes, w*x.v[tables])
	add(t, row.Watched, w*x.v[watched])
	for i, v := range [...]row.Value{row.Gets, row.Puts, row.Deletes, row.Iterations, row.Steps, row.Clears} {
		add(t, v, w*x.v[opGet+i]/unit)
	}
	add(t, row.HashedBytes, w*x.v[keyRead]/unit)
	add(t, row.NaNs, w*x.v[nans]/unit)
	if x.v[exactly] != 0 {
		add(t, row.Exact, w)
		add(t, row.WatchedCap, w*x.v[capacity]*entry)
		add(t, row.WatchedLen, w*x.v[looked]*entry)
		see(t, row.Cap, x.v[looked], w)
	}
}

// storeNaN takes a store with a key that is not equal to itself: the map. It is told of as operations are.
func storeNaN(a *[8]uintptr) {
	t := c.tables[row.Map]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil {
		x.v[nans] += one()
	}
	s.leave()
}

// lookAtMap finds how many entries a map has, or had when it died: the number begins it.
func lookAtMap(x *inst) {
	if n := sys.LoadWord(x.key); n <= uint64(x.v[capacity]) && mapSeed(x.key) == x.v[seed] {
		x.v[looked] = int64(n)
		x.v[exactly] = 1
	}
}
