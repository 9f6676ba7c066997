package count

import "github.com/scopeview/scopeview/internal/advice/row"

// growBuffer takes a bytes.Buffer's new array: the old and the new one, the bytes that were copied, both
// capacities, and the elements' type. The new one was told of as a slice of its own, if at all: here it
// becomes what the old one has grown to.
func growBuffer(a *[8]uintptr) {
	t := c.tables[row.Slice]
	old, to, was, oldCap, newCap, typ := a[0], a[1], int64(a[2]), int64(a[3]), int64(a[4]), a[5]
	if oldCap == 0 {
		return
	}
	at, found := t.take(to)
	fresh := found && at.v[grown] == 0 && at.v[hint] == 0 && at.v[length] >= was && at.born == c.now.Load()
	if found && !fresh {
		t.died(&at, &c.rows) // the address is used again
	}
	x, ok := t.take(old)
	switch {
	case ok:
	case fresh && c.skipped[typeHash(typ)] == 0: // who made the old one is not known
		x = at
		x.v[unseen] = 1
	default:
		return // it may be one whose creation was passed over
	}
	x.key = to
	x.v[elem] = 1
	x.v[grown]++
	x.v[copied] += was
	x.v[outgrown] += oldCap
	x.v[length], x.v[capacity], x.v[looked] = was, newCap, 0
	t.put(&x, &c.rows)
}

// readAll takes an io.ReadAll that had to put pieces together: the bytes read, and the pieces.
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
