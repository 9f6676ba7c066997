package count

import (
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// toldElsewhere reports whether the innermost frame of a search or shift is in package
// slices, whose hooks report it, too, with the elements' type.
func toldElsewhere(frame string) bool { return strings.HasPrefix(frame, "slices.") }

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
