package count

import "github.com/scopeview/scopeview/internal/advice/row"

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
