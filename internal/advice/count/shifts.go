package count

import "github.com/scopeview/scopeview/internal/advice/row"

// shiftSlice takes a copy within an array: to and from where, its bytes, and those of an element.
func shiftSlice(a *[8]uintptr, weight int64, pcs []uintptr) {
	to, from, size, elem := a[0], a[1], a[2], a[3]
	if to == from || elem == 0 {
		return
	}
	s := c.rows.of(row.Shift, 0, pcs)
	if s == nil {
		return
	}
	n := int64(size / elem)
	t := &s.Stats
	add(t, row.Made, weight)
	add(t, row.Moved, weight*n)
	add(t, row.Copied, weight*int64(size))
	most(t, row.MaxElem, int64(elem))
	most(t, row.MaxLen, n)
	see(t, row.Len, n, weight)
	if to > from {
		add(t, row.Puts, weight)
	} else {
		add(t, row.Deletes, weight)
	}
}
