package count

import (
	"math"
	"runtime"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// has reports values of a row that differ from want.
func has(t *testing.T, r row.Row, want map[row.Value]int64) {
	t.Helper()
	for v, n := range want {
		if r.V[v] != n {
			t.Errorf("%v is %d, want %d", v, r.V[v], n)
		}
	}
}

var (
	intPointer    = sys.TypeOf((*int)(nil))
	stringPointer = sys.TypeOf((*string)(nil))
)

// TestList follows a list through all its operations.
func TestList(t *testing.T) {
	rows := counting(t, all)
	at := lies(1)
	report(row.MakeList, here(), at)
	for n := range uintptr(3) {
		report(row.ListPushBack, nil, at, n, intType)
	}
	report(row.ListPushFront, nil, at, 3, intType)
	report(row.ListInsertAfter, nil, at, 4, intType)
	report(row.ListInsertBefore, nil, at, 5, intType)
	report(row.ListRemoveFront, nil, at, 6)
	report(row.ListRemoveBack, nil, at, 5)
	report(row.ListRemoveBack, nil, at, 4)
	report(row.ListRemove, nil, at, 3)
	report(row.ListMove, nil, at, 2)
	for range 7 {
		report(row.ListNext, nil, at, 2)
	}
	report(row.ListPrev, nil, at, 2)
	report(row.ListPrev, nil, lies(2), 2) // not followed
	r := only(t, rows(), row.List)
	has(t, r, map[row.Value]int64{
		row.Made: 1, row.Watched: 1, row.MaxLen: 6, row.MaxElem: 8, row.Front: 1, row.Back: 3, row.Middle: 2, row.Puts: 6, row.Deletes: 4,
		row.RemovedFront: 1, row.RemovedMiddle: 1, row.Moved: 1, row.Steps: 7, row.Backward: 2, row.AllocBytes: 6 * (48 + 8),
	})
	if r.Type != "int" || r.H[row.Len][row.Bucket(6)] != 1 {
		t.Errorf("of %q, lengths %v", r.Type, r.H[row.Len])
	}
}

// TestListOfPointers: a pointer in an interface is not boxed; a list without reported
// operations has no length.
func TestListOfPointers(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.MakeList, pcs, lies(1))
	report(row.MakeList, pcs, lies(2))
	report(row.ListPushBack, nil, lies(1), 0, intPointer)
	r := only(t, rows(), row.List)
	has(t, r, map[row.Value]int64{row.Made: 2, row.Watched: 1, row.AllocBytes: 48})
	if n := known(r); n != 1 {
		t.Errorf("%d lengths are known, want 1", n)
	}
}

// known returns the number of known lengths of a row.
func known(r row.Row) (n int64) {
	for _, times := range r.H[row.Len] {
		n += times
	}
	return n
}

// TestSearch: slices that are searched repeatedly are distinguished from those that are
// searched once.
func TestSearch(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	a, b := [4]uint64{1, 2, 3, 4}, [4]uint64{5, 6, 7, 8}
	for range 5 {
		report(row.Searched, pcs, intPointer, sys.AddrOf(&a[0]), 4, 2, 0)
	}
	report(row.Searched, pcs, intPointer, sys.AddrOf(&b[0]), 4, 4, notFound|byFunc)
	b[0] = 9 // another slice, at the same address
	report(row.Searched, pcs, intPointer, sys.AddrOf(&b[0]), 4, 4, notFound)
	report(row.Searched, pcs, intPointer, 0, 0, 0, notFound) // an empty slice
	r := only(t, rows(), row.Search)
	runtime.KeepAlive(&a)
	has(t, r, map[row.Value]int64{
		row.Made: 7, row.Compared: 18, row.Misses: 2, row.ByFunc: 1, row.SearchedAgain: 5, row.SearchedIn: 3, row.MaxLen: 4, row.MaxElem: 8,
	})
	if r.Type != "int" {
		t.Errorf("the type is %q", r.Type)
	}
}

// TestSearchThinned: a slice seen once, at a rate of one in four, counts as four.
func TestSearchThinned(t *testing.T) {
	rows := counting(t, all)
	a := [1]uint64{1}
	args := [8]uintptr{intPointer, sys.AddrOf(&a[0]), 1, 1, 0}
	Report(uint32(row.Searched)|2<<8, &args, here())
	r := only(t, rows(), row.Search)
	has(t, r, map[row.Value]int64{row.Made: 4, row.Compared: 4, row.SearchedAgain: 0, row.SearchedIn: 4})
}

// TestShift: the positions of insertions and deletions, and the number of elements moved.
func TestShift(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.Shifted, pcs, stringPointer, 10, 0, 2, 0)        // in front: 10 move
	report(row.Shifted, pcs, stringPointer, 10, 10, 1, inOrder) // at the end: 0
	report(row.Shifted, pcs, stringPointer, 10, 4, 1, inOrder)  // in the middle: 6
	report(row.Shifted, pcs, stringPointer, 10, 4, 3, deletes)  // 3
	report(row.Shifted, pcs, stringPointer, 10, 0, 10, deletes) // all: 0
	has(t, only(t, rows(), row.Shift), map[row.Value]int64{
		row.Made: 5, row.Front: 1, row.Back: 2, row.Middle: 2, row.Puts: 3, row.Deletes: 2, row.Moved: 19, row.Copied: 19 * 16, row.InOrder: 2, row.MaxLen: 10,
	})
}

// TestSort: a sorted slice to which elements were appended is distinguished from one that is
// refilled.
func TestSort(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	s := make([]uint64, 300)
	for i := range s {
		s[i] = uint64(i) + 1
	}
	at := sys.AddrOf(&s[0])
	sort := func(n uintptr) {
		report(row.SortBegins, nil, at, n, 8)
		report(row.Sorted, pcs, intPointer, 0, at, n, 1000, 60, 3)
	}
	sort(256)
	sort(257) // again
	sort(260) // again
	s[0] = 77
	sort(260)
	report(row.SortBegins, nil, at, 520, 4) // other elements at the same address
	report(row.Sorted, pcs, sys.TypeOf((*int32)(nil)), 0, at, 520, 1000, 0, 0)
	sort(280)
	r := only(t, rows(), row.Sort)
	runtime.KeepAlive(&s)
	has(t, r, map[row.Value]int64{
		row.Made: 6, row.NS: 6000, row.Again: 2, row.AgainNS: 2000, row.AgainMore: 1 + 3, row.AgainElements: 257 + 260, row.Gets: 300, row.Misses: 15,
		row.MaxLen: 520, row.Unseen: 0, row.Steps: 256 + 257 + 260 + 260 + 520 + 280, row.Compared: 256*8 + 257*9 + 260*9 + 260*9 + 520*10 + 280*9,
	})
}

// TestSortOfOther: a sort of something other than a slice is counted, without further data.
func TestSortOfOther(t *testing.T) {
	rows := counting(t, all)
	report(row.Sorted, here(), sys.TypeOf(struct{ a, b int }{}), lies(1), 0, 1000, 5000, 0, 0)
	has(t, only(t, rows(), row.Sort), map[row.Value]int64{row.Made: 1, row.NS: 5000, row.Unseen: 1, row.Again: 0})
}

// TestKeys: the lengths of string keys in lookups, and keys that no lookup finds.
func TestKeys(t *testing.T) {
	rows := counting(t, all)
	m := [2]uint64{2, 4711}
	at := sys.AddrOf(&m[0])
	report(row.MakeMap, here(), at, 100, sys.TypeOf(map[string]int{}))
	report(row.MapPut, nil, at, 0, 100)
	report(row.MapGet, nil, at, 1, 50)
	report(row.MapNaN, nil, at)
	report(row.MapNaN, nil, lies(2)) // not followed
	r := only(t, rows(), row.Map)
	runtime.KeepAlive(&m)
	has(t, r, map[row.Value]int64{row.Gets: 1, row.Puts: 1, row.HashedBytes: 150, row.NaNs: 1})
}

// TestSampled: the words read from a slice lie within it, whatever its size.
func TestSampled(t *testing.T) {
	var word uint64
	at := sys.AddrOf(&word)
	word = math.MaxUint64
	one := sampled(at, 8)
	word = 5
	if one == sampled(at, 8) {
		t.Error("another word, and the same hash")
	}
	if sampled(at, 7) != 7 {
		t.Error("what is shorter than a word was read")
	}
}
