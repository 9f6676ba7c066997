package count

import (
	"reflect"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// Values of a list: operations in the order of their events, in units.
const (
	listOp   = own
	listOps  = int(row.ListPrev-row.ListPushFront) + 1
	listPeak = capacity // largest number of elements seen
	listSeen = looked   // operations on it were seen
	listBox  = hint     // bytes of a boxed value
)

// nodeBytes is the allocated size of a list's node: three pointers and an interface.
const nodeBytes = 48

// makeList handles an empty list: a new one, or one that is reused.
func makeList(a *[8]uintptr, weight int64, pcs []uintptr) {
	if x, ok := born(row.List, a[0], 0, weight, pcs); ok {
		c.tables[row.List].put(&x, &c.rows)
	}
}

// useList handles an operation: the list, its number of elements, and the type of an
// inserted value.
func useList(e row.Event, a *[8]uintptr) {
	t := c.tables[row.List]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil {
		x.v[listOp+int(e-row.ListPushFront)] += one()
		x.v[listSeen] = 1
		n := int64(a[1])
		if e <= row.ListInsertBefore {
			n++
		}
		x.v[listPeak] = max(x.v[listPeak], n)
		if a[2] != 0 {
			x.v[elem], x.v[listBox] = boxed(a[2])
			c.rows.sites[x.site-1].typ.CompareAndSwap(0, uint64(a[2]))
		}
	}
	s.leave()
}

// boxed returns the size of a type's values, and the bytes allocated to convert one to an
// interface.
func boxed(typ uintptr) (size, box int64) {
	size = sys.TypeSize(typ)
	switch sys.TypeKind(typ) {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return size, 0
	}
	return size, (size + 7) &^ 7
}

// foldList adds a list to its row.
func foldList(x *inst, t *tally) {
	w := x.weight
	add(t, row.Made, w)
	add(t, row.LifeNS, w*(c.now.Load()-x.born))
	if x.v[listSeen] == 0 {
		return
	}
	add(t, row.Watched, w)
	most(t, row.MaxElem, x.v[elem])
	most(t, row.MaxLen, x.v[listPeak])
	see(t, row.Len, x.v[listPeak], w)
	put := int64(0)
	for i, v := range [listOps][]row.Value{
		{row.Front}, {row.Back}, {row.Middle}, {row.Middle, row.Backward},
		{row.Deletes, row.RemovedFront}, {row.Deletes}, {row.Deletes, row.RemovedMiddle},
		{row.Moved}, {row.Steps}, {row.Backward},
	} {
		n := w * x.v[listOp+i] / unit
		if v[0] == row.Front || v[0] == row.Back || v[0] == row.Middle {
			put += n
		}
		for _, v := range v {
			add(t, v, n)
		}
	}
	add(t, row.Puts, put)
	add(t, row.AllocBytes, put*(nodeBytes+x.v[listBox]))
}
