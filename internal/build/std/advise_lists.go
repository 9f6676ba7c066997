package std

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Hooks for lists, and for uses of slices by packages slices and sort.

// choosing has the runtime's functions that sample uses. Callers of a generic function share
// its code, so a place includes a function's callers.
var choosing = code{dir: "runtime", imports: []string{"unsafe", "internal/runtime/sys"}, text: `// scopeviewChoose returns the rate and place bits of a use's event, or 0 if it is skipped.
//
//go:linkname scopeviewChoose
func scopeviewChoose() uint32 {
	h := uint64(sys.GetCallerPC())
	if framepointer_enabled {
		var pcs [5]uintptr
		var wrong bool
		n := scopeviewWalk(getg(), &wrong, unsafe.Pointer(getfp()), pcs[:])
		for _, pc := range pcs[:n] {
			h = (h ^ uint64(pc)) * 0xff51afd7ed558ccd
		}
	}
	place := uint32(h * 0x9e3779b97f4a7c15 >> 52)
	rate := scopeviewRates[place]
	if rate != 0 && cheaprand()&(1<<rate-1) != 0 {
		return 0
	}
	return uint32(rate)<<8 | (place+1)<<16
}

// scopeviewEnds has a hash of the length and the result of the last binary search, by goroutine.
var scopeviewEnds [1024]uint64

func scopeviewEnd(n, i int) (*uint64, uint64) {
	id := getg().goid
	return &scopeviewEnds[id%uint64(len(scopeviewEnds))], ((id*0x9e3779b97f4a7c15^uint64(n))*0xff51afd7ed558ccd ^ uint64(i)) * 0x9e3779b97f4a7c15
}

//go:linkname scopeviewFound
func scopeviewFound(n, i int) {
	at, end := scopeviewEnd(n, i)
	*at = end
}

// scopeviewWasFound reports whether the goroutine's last binary search was in n elements, and ended at i.
//
//go:linkname scopeviewWasFound
func scopeviewWasFound(n, i int) bool {
	at, end := scopeviewEnd(n, i)
	return *at == end
}`}

// chooses declares these functions in another package.
func chooses(dir string) code {
	return code{dir: dir, imports: []string{"unsafe"}, text: `//go:linkname scopeviewChoose runtime.scopeviewChoose
func scopeviewChoose() uint32

//go:linkname scopeviewFound runtime.scopeviewFound
func scopeviewFound(n, i int)

//go:linkname scopeviewWasFound runtime.scopeviewWasFound
func scopeviewWasFound(n, i int) bool`}
}

// neverThinned is the number of elements from which a sort is always reported: the cost is
// small in comparison.
const neverThinned = 256

// sorting has the functions that report a sort. A nil *E passes the type of elements E.
func sorting(dir string) code {
	return code{dir: dir, imports: []string{"unsafe"}, text: fmt.Sprintf(`// scopeviewSort is a sort; it is reported if what is not 0.
type scopeviewSort struct {
	what        uint32
	pairs, down uint32
	began       int64
}

func scopeviewSortOf(data unsafe.Pointer, n int, size uintptr) (s scopeviewSort) {
	if n < 2 {
		return s
	}
	if n >= %[1]d {
		s.what = 1 << 31
		if data != nil {
			scopeviewNote(%[2]d, uintptr(data), uintptr(n), size, 0, 0, 0)
		}
	} else if s.what = scopeviewChoose(); s.what == 0 {
		return s
	}
	s.began = scopeviewClock()
	return s
}

// ended reports a sort. e has the type of elements in slices, the slice in sort.
func (s *scopeviewSort) ended(e any, data unsafe.Pointer, n int) {
	took := scopeviewClock() - s.began
	w := (*[2]uintptr)(unsafe.Pointer(&e))
	scopeviewReport(s.what&^(1<<31)|%[3]d, w[0], w[1], uintptr(data), uintptr(n), uintptr(took), uintptr(s.pairs), uintptr(s.down))
}`, neverThinned, row.SortBegins, row.Sorted)}
}

// sortingAny finds the slice in an interface for package sort, if it has one.
var sortingAny = code{dir: "sort", imports: []string{"internal/abi", "unsafe"}, text: `func scopeviewSortIn(v any, n int) scopeviewSort {
	t := abi.TypeOf(v)
	if t.Kind() != abi.Slice {
		return scopeviewSortOf(nil, n, 0)
	}
	slice := (*struct {
		data unsafe.Pointer
		len  int
	})((*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1])
	if n > slice.len { // its Len is not the slice's
		return scopeviewSortOf(nil, n, 0)
	}
	return scopeviewSortOf(slice.data, n, t.Elem().Size())
}`}

// aroundSort returns the edits around the call that sorts in a function.
func aroundSort(file, function, call, begins, more, ends string) []edit {
	instead := "var scopeviewThis scopeviewSort; if scopeviewCounter != nil { scopeviewThis = " + begins + more + " }; " + call + "; if scopeviewThis.what != 0 { " + ends + " }"
	if call == "stable(data, data.Len())" { // a method of the program is called once, as before
		instead = "length := data.Len(); " + strings.Replace(instead, call, "stable(data, length)", 1)
	}
	return []edit{{file: file, function: function, at: call, insert: instead, instead: true}}
}

const (
	elements   = "any((*E)(nil))"
	sortsOfX   = "scopeviewSortIn(x)"
	endOfX     = "scopeviewSortEnd(&scopeviewThis, x)"
	descending = "; if scopeviewThis.what != 0 { scopeviewThis.pairs, scopeviewThis.down = scopeviewDescents(x) }"
)

// sortingSlices has the functions that report sorts in package slices, whose files do not
// all import unsafe.
var sortingSlices = code{dir: "slices", imports: []string{"cmp", "unsafe"}, text: `func scopeviewSortIn[E any](x []E) scopeviewSort {
	return scopeviewSortOf(unsafe.Pointer(unsafe.SliceData(x)), len(x), unsafe.Sizeof(*new(E)))
}

func scopeviewSortEnd[E any](s *scopeviewSort, x []E) {
	s.ended(` + elements + `, unsafe.Pointer(unsafe.SliceData(x)), len(x))
}

// scopeviewDescents returns how many neighbours it compared, about 64 spread over x, and how many of
// them are in the wrong order.
func scopeviewDescents[E cmp.Ordered](x []E) (pairs, down uint32) {
	for i, step := 0, max(1, (len(x)-1)/64); i < len(x)-1; i += step {
		pairs++
		if cmp.Less(x[i+1], x[i]) {
			down++
		}
	}
	return pairs, down
}`}

// searching has the functions that report package slices' searches and shifts.
var searching = code{dir: "slices", imports: []string{"unsafe"}, text: fmt.Sprintf(`// scopeviewSearched reports a search: e has the type of elements, looked is the number of elements compared.
//
//go:noinline
func scopeviewSearched(e any, data unsafe.Pointer, n, looked int, found, function bool) {
	if what := scopeviewChoose(); what != 0 {
		how := uintptr(0)
		if !found {
			how = 1
		}
		if function {
			how |= 2
		}
		scopeviewReport(what|%d, *(*uintptr)(unsafe.Pointer(&e)), uintptr(data), uintptr(n), uintptr(looked), how, 0, 0)
	}
}

// scopeviewIndex is Index, and reports hits and misses from one place of the code.
func scopeviewIndex[E comparable](s []E, v E) int {
	at, looked := -1, len(s)
	for i := range s {
		if v == s[i] {
			at, looked = i, i+1
			break
		}
	}
	scopeviewSearched(any((*E)(nil)), unsafe.Pointer(unsafe.SliceData(s)), len(s), looked, at >= 0, false)
	return at
}

func scopeviewIndexFunc[E any](s []E, f func(E) bool) int {
	at, looked := -1, len(s)
	for i := range s {
		if f(s[i]) {
			at, looked = i, i+1
			break
		}
	}
	scopeviewSearched(any((*E)(nil)), unsafe.Pointer(unsafe.SliceData(s)), len(s), looked, at >= 0, true)
	return at
}

// scopeviewShifted reports m elements inserted into n at i, or deleted there.
//
//go:noinline
func scopeviewShifted(e any, n, i, m int, deleted bool) {
	if what := scopeviewChoose(); what != 0 {
		how := uintptr(0)
		if deleted {
			how = 1
		}
		if scopeviewWasFound(n, i) {
			how |= 2
		}
		scopeviewReport(what|%d, *(*uintptr)(unsafe.Pointer(&e)), uintptr(n), uintptr(i), uintptr(m), how, 0, 0)
	}
}`, row.Searched, row.Shifted)}

// listing has the functions that report package container/list's operations. They read
// values only where these are valid: a nil element still panics where it did.
var listing = code{dir: "container/list", imports: []string{"unsafe"}, text: fmt.Sprintf(`//go:noinline
func scopeviewMade(l *List) {
	if what := scopeviewChoose(); what != 0 {
		scopeviewReport(what|%[1]d, uintptr(unsafe.Pointer(l)), 0, 0, 0, 0, 0, 0)
	}
}

//go:noinline
func scopeviewPut(what uint32, l *List, v any) {
	scopeviewUse(what, uintptr(unsafe.Pointer(l)), uintptr(l.len), *(*uintptr)(unsafe.Pointer(&v)))
}

//go:noinline
func scopeviewInserted(before bool, l *List, v any, mark *Element) {
	what := uint32(%[2]d)
	switch {
	case before && l.root.next == mark:
		what = %[3]d
	case before:
		what = %[4]d
	case l.root.prev == mark:
		what = %[5]d
	}
	scopeviewPut(what, l, v)
}

//go:noinline
func scopeviewRemoved(l *List, e *Element) {
	what := uint32(%[6]d)
	if l.root.next == e {
		what = %[7]d
	} else if l.root.prev == e {
		what = %[8]d
	}
	scopeviewUse(what, uintptr(unsafe.Pointer(l)), uintptr(l.len), 0)
}

//go:noinline
func scopeviewMoved(l *List) { scopeviewUse(%[9]d, uintptr(unsafe.Pointer(l)), uintptr(l.len), 0) }

//go:noinline
func scopeviewWalked(what uint32, e *Element) {
	if e != nil && e.list != nil {
		scopeviewUse(what, uintptr(unsafe.Pointer(e.list)), uintptr(e.list.len), 0)
	}
}`, row.MakeList, row.ListInsertAfter, row.ListPushFront, row.ListInsertBefore, row.ListPushBack, row.ListRemove, row.ListRemoveFront, row.ListRemoveBack, row.ListMove)}

// inList returns an edit of a list's method, which reports it while operations are reported.
func inList(function, at, call string) edit {
	return edit{file: "container/list/list.go", function: function, at: at, insert: "if scopeviewWatching != 0 { " + call + " }; "}
}

// foundAt returns an edit that stores the place where a binary search ended.
func foundAt(file, function, at string) edit {
	return edit{file: file, function: function, at: at, insert: "if scopeviewCounter != nil { scopeviewFound(n, i) }; "}
}

const nanKey = "(typ.Key.Kind() == abi.Float64 && *(*float64)(key) != *(*float64)(key) || typ.Key.Kind() == abi.Float32 && *(*float32)(key) != *(*float32)(key))"

// listsTable has the hooks for lists and for uses of slices.
var listsTable = []hook{
	adviceHook("lists", Containers, "lists of container/list, from New or their first use, and for a share of the time the operations on them", []edit{
		{file: "container/list/list.go", function: "List.Init", at: "l.root.next = &l.root", insert: "if scopeviewCounter != nil { scopeviewMade(l) }; "},
		inList("List.PushFront", "return l.insertValue(", fmt.Sprintf("scopeviewPut(%d, l, v)", row.ListPushFront)),
		inList("List.PushBack", "return l.insertValue(", fmt.Sprintf("scopeviewPut(%d, l, v)", row.ListPushBack)),
		inList("List.InsertBefore", "return l.insertValue(", "scopeviewInserted(true, l, v, mark)"),
		inList("List.InsertAfter", "return l.insertValue(", "scopeviewInserted(false, l, v, mark)"),
		inList("List.Remove", "l.remove(e)", "scopeviewRemoved(l, e)"),
		inList("List.MoveToFront", "l.move(e, ", "scopeviewMoved(l)"),
		inList("List.MoveToBack", "l.move(e, ", "scopeviewMoved(l)"),
		inList("List.MoveBefore", "l.move(e, ", "scopeviewMoved(l)"),
		inList("List.MoveAfter", "l.move(e, ", "scopeviewMoved(l)"),
		inList("Element.Next", "if p := e.next;", fmt.Sprintf("scopeviewWalked(%d, e)", row.ListNext)),
		inList("Element.Prev", "if p := e.prev;", fmt.Sprintf("scopeviewWalked(%d, e)", row.ListPrev)),
	}, []variable{counterIn("container/list"), watching("container/list")}, choosing, reports("container/list"), chooses("container/list"), listing),
	adviceHook("searches", Containers, "searches in slices by slices.Index, Contains and those with a function", []edit{
		{file: "slices/slices.go", function: "Index", at: "for i := range s {", insert: "if scopeviewCounter != nil { return scopeviewIndex(s, v) }; "},
		{file: "slices/slices.go", function: "IndexFunc", at: "for i := range s {", insert: "if scopeviewCounter != nil { return scopeviewIndexFunc(s, f) }; "},
	}, []variable{counterIn("slices")}, choosing, reports("slices"), chooses("slices"), searching),
	adviceHook("shifts", Containers, "elements that slices.Insert and Delete move, and whether a binary search found the place", []edit{
		{file: "slices/slices.go", function: "Insert", at: "n := len(s)", insert: "if scopeviewCounter != nil { scopeviewShifted(" + elements + ", len(s), i, m, false) }; "},
		{file: "slices/slices.go", function: "Delete", at: "oldlen := len(s)", insert: "if scopeviewCounter != nil { scopeviewShifted(" + elements + ", len(s), i, j-i, true) }; "},
		foundAt("slices/sort.go", "BinarySearch", "return i, i < n"),
		foundAt("slices/sort.go", "BinarySearchFunc", "return i, i < n"),
		foundAt("sort/search.go", "Search", "return i"),
		foundAt("sort/search.go", "Find", "return i, i < n"),
	}, []variable{counterIn("slices"), counterIn("sort")}, choosing, reports("slices"), chooses("slices"), chooses("sort"), searching),
	adviceHook("sorts", Algorithms, "sorts by package slices and package sort: of how many elements, and how long they take", concat(
		aroundSort("slices/sort.go", "Sort", "pdqsortOrdered(x, 0, n, bits.Len(uint(n)))", sortsOfX, descending, endOfX),
		aroundSort("slices/sort.go", "SortFunc", "pdqsortCmpFunc(x, 0, n, bits.Len(uint(n)), cmp)", sortsOfX, "", endOfX),
		aroundSort("slices/sort.go", "SortStableFunc", "stableCmpFunc(x, len(x), cmp)", sortsOfX, "", endOfX),
		aroundSort("sort/slice.go", "Slice", "pdqsort_func(lessSwap{less, swap}, 0, length, limit)", "scopeviewSortIn(x, length)", "", "scopeviewThis.ended(x, nil, length)"),
		aroundSort("sort/slice.go", "SliceStable", "stable_func(lessSwap{less, swap}, rv.Len())", "scopeviewSortIn(x, rv.Len())", "", "scopeviewThis.ended(x, nil, rv.Len())"),
		aroundSort("sort/sort.go", "Sort", "pdqsort(data, 0, n, limit)", "scopeviewSortIn(data, n)", "", "scopeviewThis.ended(data, nil, n)"),
		aroundSort("sort/sort.go", "Stable", "stable(data, data.Len())", "scopeviewSortIn(data, length)", "", "scopeviewThis.ended(data, nil, length)"),
	), []variable{counterIn("slices"), counterIn("sort")}, choosing, reports("slices"), chooses("slices"), sorting("slices"), sortingSlices, reports("sort"), chooses("sort"), sorting("sort"), sortingAny),
	adviceHook("mapnan", Containers, "stores in maps with keys that are not equal to themselves", []edit{
		{file: "internal/runtime/maps/runtime.go", function: "runtime_mapassign", at: "if race.Enabled {",
			insert: "if scopeviewWatching != 0 && " + nanKey + " { scopeviewUse(" + number(row.MapNaN) + ", uintptr(unsafe.Pointer(m)), 0, 0) }; "},
	}, maps, reports("internal/runtime/maps")),
}
