package count

import (
	"math/bits"
	"reflect"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// Values of a sorted slice.
const (
	sortedHash  = own + iota // of some of its elements, after the last sort
	sortedAgain              // they were unchanged when the current sort began
)

// sortBegins handles the begin of a sort: the array, its length, and the size of elements.
func sortBegins(a *[8]uintptr) {
	t := c.tables[row.Sort]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil {
		x.v[sortedAgain] = 0
		if was := x.v[length]; was > 0 && int64(a[1]) >= was && int64(a[2]) == x.v[elem] && sampled(a[0], was*x.v[elem]) == x.v[sortedHash] {
			x.v[sortedAgain] = 1
		}
	}
	s.leave()
}

// samples is the number of words of a slice that are hashed to detect changes.
const samples = 16

// sampled returns a hash of some words of size bytes, from the first to the last.
func sampled(data uintptr, size int64) int64 {
	h := uint64(size)
	if size < 8 {
		return int64(h)
	}
	for i := range int64(samples) {
		h = (h ^ sys.LoadWord(data+uintptr((size-8)*i/(samples-1)&^7))) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return int64(h)
}

// sorted handles a sort: the type of pointers to elements with their array, or that of the
// sorted value with its interface's data word; the length, the time, and the number of
// neighbours examined before and of those out of order.
func sorted(a *[8]uintptr, weight int64, pcs []uintptr) {
	typ, data, whole := a[0], a[2], true
	if data != 0 {
		typ = sys.ElemType(typ)
	} else if sys.TypeKind(typ) == reflect.Slice && a[3] <= uintptr(sys.LoadWord(a[1]+8)) { // a Len method may return more
		typ, data = sys.ElemType(typ), uintptr(sys.LoadWord(a[1]))
	} else {
		whole = false
	}
	s := c.rows.of(row.Sort, typ, pcs)
	if s == nil {
		return
	}
	n, took := int64(a[3]), int64(a[4])
	t := &s.Stats
	add(t, row.Made, weight)
	add(t, row.NS, weight*took)
	add(t, row.Steps, weight*n)
	add(t, row.Compared, weight*n*int64(bits.Len64(uint64(n-1))))
	add(t, row.Gets, weight*int64(a[5]))
	add(t, row.Misses, weight*int64(a[6]))
	most(t, row.MaxLen, n)
	see(t, row.Len, n, weight)
	if !whole {
		add(t, row.Unseen, weight)
		return
	}
	size := sys.TypeSize(typ)
	most(t, row.MaxElem, size)
	if weight == 1 && size > 0 {
		sortedNow(t, data, n, size, took, c.rows.index(s))
	}
}

// sortedNow stores the hash of a sorted slice, and counts it if it had been sorted before.
func sortedNow(t *tally, data uintptr, n, size, took int64, site uint32) {
	tab := c.tables[row.Sort]
	s, head := tab.enter(data)
	if s == nil {
		return
	}
	hash := sampled(data, n*size)
	x := tab.find(head, data)
	if x != nil {
		if x.v[sortedAgain] == 1 && x.v[elem] == size {
			add(t, row.Again, 1)
			add(t, row.AgainNS, took)
			add(t, row.AgainMore, n-x.v[length])
			add(t, row.AgainElements, n)
		}
		x.site, x.v[sortedAgain], x.v[sortedHash], x.v[length], x.v[elem] = site, 0, hash, n, size
		s.leave()
		return
	}
	s.leave()
	y := inst{key: data, site: site, weight: 1, born: c.now.Load()}
	y.v[sortedHash], y.v[length], y.v[elem] = hash, n, size
	tab.put(&y, &c.rows)
}

// foldSort does nothing: a sort is counted when it ends.
func foldSort(*inst, *tally) {}
