package count

import (
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// makeSlice handles a make: the array, its length and capacity, and the elements' type.
func makeSlice(a *[8]uintptr, weight int64, pcs []uintptr) {
	size := sys.TypeSize(a[3])
	if a[2] == 0 || size == 0 {
		return
	}
	x, ok := born(row.Slice, a[0], a[3], weight, pcs)
	if !ok {
		return
	}
	x.v[elem], x.v[length], x.v[capacity], x.v[hint] = size, int64(a[1]), int64(a[2]), int64(a[2])
	c.tables[row.Slice].put(&x, &c.rows)
}

// growSlice handles an append that needs a new array: the old array, if it was allocated,
// and the new one, the length before and after, the capacities, and the elements' type.
func growSlice(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := c.tables[row.Slice]
	old, to, was, now, oldCap, newCap, typ := a[0], a[1], int64(a[2]), int64(a[3]), int64(a[4]), int64(a[5]), a[6]
	size := sys.TypeSize(typ)
	var x inst
	ok := false
	if old != 0 && oldCap > 0 {
		// The address may have been reused by a slice whose creation was skipped.
		if x, ok = t.take(old); ok && (x.v[capacity] != oldCap || x.v[elem] != size || x.v[length] > was) {
			t.died(&x, &c.rows)
			x, ok = inst{}, false
		}
		if !ok && c.skipped[typeHash(typ)] != 0 {
			return
		}
	}
	if !ok {
		if x, ok = born(row.Slice, to, typ, weight, pcs); !ok {
			return
		}
		x.v[elem] = size
		if old != 0 && oldCap > 0 {
			x.v[unseen] = 1
		}
	}
	x.key = to
	if oldCap > 0 {
		x.v[grown]++
		x.v[copied] += was * size
		x.v[outgrown] += oldCap * size
	}
	x.v[length], x.v[capacity], x.v[looked], x.v[exactly] = now, newCap, 0, 0
	t.put(&x, &c.rows)
}

// typeHash returns the index of a type's mark; the runtime has the same function.
func typeHash(typ uintptr) uint16 { return uint16(typ >> 5) }

// foldSlice adds a slice to its row, with its last known length.
func foldSlice(x *inst, t *tally) {
	w, size := x.weight, x.v[elem]
	known := max(x.v[length], x.v[looked])
	fold(x, t, known, x.v[grown] > 0 || x.v[length] > 0 || x.v[exactly] != 0)
	if x.v[exactly] != 0 || x.v[length] == x.v[capacity] {
		add(t, row.Exact, w)
	}
	if x.v[exactly] != 0 && x.v[length] < x.v[capacity] {
		add(t, row.Watched, w)
		add(t, row.WatchedCap, w*x.v[capacity]*size)
		add(t, row.WatchedLen, w*known*size)
	}
	add(t, row.Copied, w*x.v[copied])
	add(t, row.GrownBytes, w*x.v[outgrown])
	add(t, row.CapBytes, w*x.v[capacity]*size)
	add(t, row.LenBytes, w*known*size)
	see(t, row.Cap, x.v[capacity], w)
}

// fold adds the values that slices and maps have in common. An unknown length is not added.
func fold(x *inst, t *tally, known int64, some bool) {
	w := x.weight
	add(t, row.Made, w)
	if x.v[hint] > 0 {
		add(t, row.Hinted, w)
		most(t, row.MaxHint, x.v[hint])
		least(t, row.MinHint, x.v[hint])
	}
	add(t, row.Unseen, w*x.v[unseen])
	add(t, row.Grown, w*x.v[grown])
	add(t, row.LifeNS, w*(c.now.Load()-x.born))
	most(t, row.MaxElem, x.v[elem])
	most(t, row.MaxCap, x.v[capacity])
	if some {
		most(t, row.MaxLen, known)
		least(t, row.MinLen, known)
		see(t, row.Len, known, w)
	}
}

// lookAt finds the minimum length of a slice that may be alive: its array is zero beyond its
// end. It reads Go's heap, which stays mapped, even if the memory has been reused.
func lookAt(x *inst, most int64) (read int64) {
	size := x.v[elem]
	from, to := x.v[length]*size, x.v[capacity]*size
	if from == to || to-from > most {
		return 0
	}
	used := sys.LastUsed(x.key, from, to)
	x.v[looked], x.v[exactly] = max(x.v[length], (used+size-1)/size), 1
	return to - from
}

// inSlices reports whether the innermost frame of a search or shift is in package
// slices, whose hooks report it, too, with the elements' type.
func inSlices(frame string) bool { return strings.HasPrefix(frame, "slices.") }

// shiftSlice handles a copy within an array: destination, source, its bytes, and those of an
// element. A copy upward makes room for elements, one downward removes some.
func shiftSlice(a *[8]uintptr, weight int64, pcs []uintptr) {
	to, from, size, elem := a[0], a[1], a[2], a[3]
	base, _ := object(from)
	if to == from || elem == 0 || base == 0 {
		return
	}
	s := c.rows.of(row.Shift, 0, pcs)
	if s == nil {
		return
	}
	t := &s.Stats
	add(t, row.Made, weight)
	add(t, row.Moved, weight*int64(size/elem))
	add(t, row.Copied, weight*int64(size))
	most(t, row.MaxElem, int64(elem))
	n := int64((max(to, from) + size - base) / elem)
	most(t, row.MaxLen, n)
	see(t, row.Len, n, weight)
	if to > from {
		add(t, row.Puts, weight)
	} else {
		add(t, row.Deletes, weight)
	}
	if min(to, from) == base {
		add(t, row.Front, weight)
	} else {
		add(t, row.Middle, weight)
	}
}

// growBuffer handles the growth of a bytes.Buffer: the old and the new array, the number of
// bytes copied, both capacities, and the elements' type. If the new array is already
// followed, as a slice, it becomes the continuation of the old one.
func growBuffer(a *[8]uintptr) {
	t := c.tables[row.Slice]
	old, to, was, oldCap, newCap, typ := a[0], a[1], int64(a[2]), int64(a[3]), int64(a[4]), a[5]
	if oldCap == 0 {
		return
	}
	at, found := t.take(to)
	fresh := found && at.v[grown] == 0 && at.v[hint] == 0 && at.v[length] >= was && at.born == c.now.Load()
	if found && !fresh {
		t.died(&at, &c.rows) // the address has been reused
	}
	x, ok := t.take(old)
	switch {
	case ok:
	case fresh && c.skipped[typeHash(typ)] == 0: // the creation of the old one was not seen
		x = at
		x.v[unseen] = 1
	default:
		return // its creation may have been skipped
	}
	x.key = to
	x.v[elem] = 1
	x.v[grown]++
	x.v[copied] += was
	x.v[outgrown] += oldCap
	x.v[length], x.v[capacity], x.v[looked] = was, newCap, 0
	t.put(&x, &c.rows)
}

// readAll handles an io.ReadAll that had to join pieces: the bytes read, and the number of
// pieces.
func readAll(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := use(row.Slice, 0, int64(a[0]), weight, pcs)
	if t == nil {
		return
	}
	add(t, row.Exact, weight)
	add(t, row.Grown, weight*int64(a[1]))
	add(t, row.Copied, weight*int64(a[0]))
	add(t, row.GrownBytes, weight*int64(a[0]))
}
