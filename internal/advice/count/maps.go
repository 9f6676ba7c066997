package count

import (
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// groupSlots is the number of entries that a map holds before it has a table.
const groupSlots = 8

// makeMap handles a make: the map, the hint, and its type, or 0.
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

// mapSeed returns a map's random number, which shows whether the memory is still that map's.
// It changes when the map becomes empty.
func mapSeed(m uintptr) int64 { return int64(sys.LoadWord(m + 8)) }

// slotsFor returns the number of slots of a map made with a hint.
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

// growMap handles a growth: the map, its entries, those that move, the additional slots, and
// its type.
func growMap(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := c.tables[row.Map]
	x, ok := t.take(a[0])
	// A map gets its first table only once: then this is another map, whose creation was not
	// reported.
	if ok && (a[3] == groupSlots && x.v[capacity] > groupSlots || !x.same()) {
		t.died(&x, &c.rows)
		ok = false
	}
	if !ok {
		if c.skipped[0] != 0 {
			return // its creation may have been skipped
		}
		if x, ok = born(row.Map, a[0], a[4], weight, pcs); !ok {
			return
		}
		x.v[unseen], x.v[capacity] = 1, groupSlots
	}
	if x.v[keyBytes] == 0 {
		x.v[elem], x.v[keyBytes] = mapSizes(a[4])
		if x.site != 0 && c.rows.depth > 0 {
			c.rows.sites[x.site-1].typ.CompareAndSwap(0, uint64(a[4])) // a small map is made without its type
		}
	}
	x.v[seed] = mapSeed(x.key)
	x.v[grown]++
	x.v[moved] += int64(a[2])
	x.v[length] = int64(a[1])
	x.v[peak] = max(x.v[peak], int64(a[1])+1) // it grows for one more
	x.v[capacity] += int64(a[3])
	x.v[tables] += int64(a[3]) * (x.v[elem] + x.v[keyBytes] + 1) // a table is replaced by one with twice as many slots
	t.put(&x, &c.rows)
}

// same reports whether the memory is still that of the followed map. A map that has become
// empty has another seed, too: if no creation was skipped it must be the same.
func (x *inst) same() bool { return c.skipped[0] == 0 || x.v[seed] == mapSeed(x.key) }

// useMap handles an operation: the map, its entries, and the length of a string key.
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
	known := max(x.v[length], x.v[looked], x.v[peak]) // the most entries seen
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

// storeNaN handles a store with a key that is not equal to itself: the map. It is sampled as
// operations are.
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

// lookAtMap reads the number of entries of a map that is alive, or of a dead one: it is the
// map's first word.
func lookAtMap(x *inst) {
	if n := sys.LoadWord(x.key); n <= uint64(x.v[capacity]) && mapSeed(x.key) == x.v[seed] {
		x.v[looked] = int64(n)
		x.v[exactly] = 1
	}
}
