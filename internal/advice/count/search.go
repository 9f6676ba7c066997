package count

import (
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// Values of a searched slice: an instance is a search's row and one slice.
const (
	firstWord = own + iota // of its array: another value means another slice at the same address
	seenTimes              // reported searches
	standsFor              // searches that these represent
)

// The kind and the result of a search.
const (
	notFound = 1
	byFunc   = 2
)

// searched handles a search: the type of pointers to elements, the array, its length, the
// number of elements compared, and the kind.
func searched(a *[8]uintptr, weight int64, pcs []uintptr) {
	typ := sys.ElemType(a[0])
	s := c.rows.of(row.Search, typ, pcs)
	if s == nil || a[2] == 0 {
		return
	}
	n, size := int64(a[2]), sys.TypeSize(typ)
	t := &s.Stats
	add(t, row.Made, weight)
	add(t, row.Compared, weight*int64(a[3]))
	most(t, row.MaxElem, size)
	most(t, row.MaxLen, n)
	see(t, row.Len, n, weight)
	if a[4]&notFound != 0 {
		add(t, row.Misses, weight)
	}
	if a[4]&byFunc != 0 {
		add(t, row.ByFunc, weight)
	}
	word := int64(0)
	if n*size >= 8 {
		word = int64(sys.LoadWord(a[1]))
	}
	again(a[1], c.rows.index(s), word, weight)
}

// again counts a search of a slice, whose array begins with word.
func again(data uintptr, site uint32, word, weight int64) {
	t := c.tables[row.Search]
	key := data ^ uintptr(site)<<48
	sh, head := t.enter(key)
	if sh == nil {
		return
	}
	if x := t.find(head, key); x != nil && x.v[firstWord] == word {
		x.v[seenTimes]++
		x.v[standsFor] += weight
		sh.leave()
		return
	}
	sh.leave()
	x := inst{key: key, site: site, weight: weight, born: c.now.Load()}
	x.v[firstWord], x.v[seenTimes], x.v[standsFor] = word, 1, weight
	t.put(&x, &c.rows)
}

// foldSearch adds a slice to the row that searches it. A slice seen once represents as many
// slices as its search represents searches; one searched repeatedly would hardly have been
// missed.
func foldSearch(x *inst, t *tally) {
	if x.v[seenTimes] == 1 {
		add(t, row.SearchedIn, x.v[standsFor])
		return
	}
	add(t, row.SearchedIn, 1)
	add(t, row.SearchedAgain, x.v[standsFor])
}

// The kind and the position of a shift.
const (
	deletes = 1
	inOrder = 2
)

// shifted handles an insertion or deletion: the type of pointers to elements, the slice's
// length, the position, the number of elements, and the kind.
func shifted(a *[8]uintptr, weight int64, pcs []uintptr) {
	typ := sys.ElemType(a[0])
	s := c.rows.of(row.Shift, typ, pcs)
	if s == nil {
		return
	}
	n, i, m, size := int64(a[1]), int64(a[2]), int64(a[3]), sys.TypeSize(typ)
	behind := n - i
	t := &s.Stats
	if a[4]&deletes != 0 {
		behind -= m
		add(t, row.Deletes, weight)
	} else {
		add(t, row.Puts, weight)
	}
	where := row.Middle
	if behind == 0 {
		where = row.Back
	} else if i == 0 {
		where = row.Front
	}
	if a[4]&inOrder != 0 {
		add(t, row.InOrder, weight)
	}
	add(t, row.Made, weight)
	add(t, where, weight)
	add(t, row.Moved, weight*behind)
	add(t, row.Copied, weight*behind*size)
	most(t, row.MaxElem, size)
	most(t, row.MaxLen, n)
	see(t, row.Len, n, weight)
}
