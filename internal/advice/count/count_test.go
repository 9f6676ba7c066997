package count

import (
	"bytes"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// counting starts counting, and returns a function that stops it and returns the rows.
func counting(t *testing.T, p params) (rows func() []row.Row) {
	t.Helper()
	p.Path = filepath.Join(t.TempDir(), "p.raw")
	if err := start(p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Stop(); reset() })
	return func() []row.Row {
		t.Helper()
		if err := Stop(); err != nil {
			t.Fatal(err)
		}
		b := filetest.Read(t, p.Path)
		runs, notes, err := row.Read(bytes.NewReader(b))
		if err != nil || len(notes) > 0 || len(runs) != 1 {
			t.Fatal(runs, notes, err)
		}
		return slices.DeleteFunc(runs[0].Rows, func(r row.Row) bool { return r.Kind == row.Alloc }) // a test's own allocations are sampled at random
	}
}

// all samples nothing.
var all = params{Depth: Depth, Memory: 1 << 20, Share: 1}

func report(e row.Event, pcs []uintptr, a ...uintptr) {
	var args [8]uintptr
	copy(args[:], a)
	Report(uint32(e), &args, pcs)
}

// here returns a call stack outside the recorder.
func here() []uintptr {
	var pcs [4]uintptr
	n := runtime.Callers(3, pcs[:]) // outside this package
	return pcs[:n]
}

var intType = sys.TypeOf(0)

// mapped is the memory of followed objects: their contents are read.
var mapped [1 << 17]uint64

// lies returns the address of object i, 64 bytes from the next.
func lies(i int) uintptr { return sys.AddrOf(&mapped[8*i]) }

// only returns the only row of a kind.
func only(t *testing.T, rows []row.Row, k row.Kind) row.Row {
	t.Helper()
	var found []row.Row
	for _, r := range rows {
		if r.Kind == k {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d rows of %v, want 1: %+v", len(found), k, rows)
	}
	return found[0]
}

// TestGrow follows a slice from its first append through three arrays, while another slice
// reuses the first one's memory.
func TestGrow(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	var last [16]int // ten elements are in use
	for i := range 10 {
		last[i] = 1
	}
	at := sys.AddrOf(&last[0])
	report(row.GrowSlice, pcs, 0, lies(1), 0, 1, 0, 4, intType)
	report(row.GrowSlice, pcs, lies(1), lies(2), 4, 5, 4, 8, intType)
	report(row.GrowSlice, pcs, lies(2), at, 8, 9, 8, 16, intType)
	report(row.MakeSlice, pcs, lies(3), 0, 2, intType)
	report(row.MakeSlice, pcs, lies(3), 3, 3, intType) // the one before has died
	r := only(t, rows(), row.Slice)
	runtime.KeepAlive(&last)
	for v, want := range map[row.Value]int64{
		row.Made: 3, row.Hinted: 2, row.Grown: 2, row.Copied: (4 + 8) * 8, row.GrownBytes: (4 + 8) * 8, row.MaxLen: 10, row.MinLen: 3,
		row.MaxCap: 16, row.MaxHint: 3, row.MinHint: 2, row.MaxElem: 8, row.Exact: 2, row.Unseen: 0,
	} {
		if r.V[v] != want {
			t.Errorf("%v is %d, want %d", v, r.V[v], want)
		}
	}
	if r.Type != "int" {
		t.Errorf("the type is %q", r.Type)
	}
}

// TestUnseen: a growing slice with an unseen creation is followed from then on, unless
// creations of its type were skipped.
func TestUnseen(t *testing.T) {
	rows := counting(t, all)
	report(row.GrowSlice, here(), lies(1), lies(2), 4, 5, 4, 8, intType)
	c.skipped[typeHash(intType)] = 1
	report(row.GrowSlice, here(), lies(3), lies(4), 4, 5, 4, 8, intType)
	if r := only(t, rows(), row.Slice); r.V[row.Made] != 1 || r.V[row.Unseen] != 1 || r.V[row.Copied] != 32 {
		t.Errorf("%+v", r.V)
	}
}

// TestFull: when the memory is used up new objects are counted, and not followed.
func TestFull(t *testing.T) {
	p := all
	p.Memory = 1 // there is a minimum
	rows := counting(t, p)
	room := len(c.tables[row.Slice].entries)
	for i := range room + 5 {
		report(row.MakeSlice, here(), lies(i), 1, 1, intType)
	}
	if lost := c.tables[row.Slice].full.Load(); lost != 5 {
		t.Errorf("%d were lost, want 5", lost)
	}
	if r := only(t, rows(), row.Slice); r.V[row.Made] != int64(room) {
		t.Errorf("%d are followed, want %d", r.V[row.Made], room)
	}
}

// TestThinOut: the sampling rate of a place with many creations is halved, repeatedly.
func TestThinOut(t *testing.T) {
	counting(t, params{Depth: Depth, Memory: 1 << 20, Share: 0.1})
	for i := range 2*Full + 10 {
		var a [8]uintptr
		a[0], a[1], a[2], a[3] = lies(i), 1, 1, intType
		Report(uint32(row.MakeSlice)|uint32(c.rates[7])<<8|8<<16, &a, nil)
	}
	if c.rates[7] != 2 {
		t.Errorf("the rate is %d, want 2", c.rates[7])
	}
}

// TestDepth: with a depth of 0 a kind has one row.
func TestDepth(t *testing.T) {
	p := all
	p.Depth = 0
	rows := counting(t, p)
	report(row.MakeSlice, here(), lies(1), 1, 1, intType)
	report(row.MakeSlice, here(), lies(2), 1, 1, intType)
	if r := only(t, rows(), row.Slice); r.V[row.Made] != 2 || len(r.Stack) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestMapAgain: a map on the stack is first reported when it grows. At the address of a dead
// map it is another one.
func TestMapAgain(t *testing.T) {
	rows := counting(t, all)
	m := [2]uint64{20, 4711}
	at, typ := sys.AddrOf(&m[0]), sys.TypeOf(map[int32]int64{})
	for range 3 {
		report(row.GrowMap, here(), at, 8, 8, 8, typ)
		report(row.GrowMap, here(), at, 14, 14, 16, typ)
	}
	r := only(t, rows(), row.Map)
	runtime.KeepAlive(&m)
	if r.V[row.Made] != 3 || r.V[row.Unseen] != 3 || r.V[row.Grown] != 6 || r.V[row.MaxCap] != 32 {
		t.Errorf("%+v", r.V)
	}
}

// TestMap follows a map through its growth and operations.
func TestMap(t *testing.T) {
	rows := counting(t, all)
	m := [2]uint64{20, 4711} // the beginning of a map: entries, seed
	at := sys.AddrOf(&m[0])
	typ := sys.TypeOf(map[int32]int64{})
	report(row.MakeMap, here(), at, 0, typ)
	report(row.GrowMap, nil, at, 8, 8, 8, typ)
	report(row.GrowMap, nil, at, 14, 14, 16, typ)
	for range 3 {
		report(row.MapGet, nil, at, 14)
	}
	report(row.MapPut, nil, at, 25)
	report(row.MapGet, nil, 0x9999, 14) // not followed
	r := only(t, rows(), row.Map)
	runtime.KeepAlive(&m)
	for v, want := range map[row.Value]int64{
		row.Made: 1, row.Grown: 2, row.Moved: 22, row.MaxElem: 8, row.MaxKey: 4, row.MaxLen: 26, row.MaxCap: 32, row.Gets: 3, row.Puts: 1,
		row.Exact: 1, row.Watched: 1, row.WatchedLen: 20 * 13, row.WatchedCap: 32 * 13,
	} {
		if r.V[v] != want {
			t.Errorf("%v is %d, want %d", v, r.V[v], want)
		}
	}
}

// TestOtherMap: if creations were skipped, a map with another seed is another one: its
// operations and growth don't count for the first one.
func TestOtherMap(t *testing.T) {
	for _, passed := range []bool{false, true} {
		rows := counting(t, all)
		m := [2]uint64{5, 4711}
		at := sys.AddrOf(&m[0])
		typ := sys.TypeOf(map[int32]int64{})
		report(row.MakeMap, here(), at, 0, typ)
		want := int64(1)
		if passed {
			c.skipped[0], want = 1, 0
		}
		m[1] = 815
		report(row.MapGet, nil, at, 5)
		report(row.GrowMap, nil, at, 8, 8, 8, typ)
		r := only(t, rows(), row.Map)
		runtime.KeepAlive(&m)
		if r.V[row.Made] != 1 || r.V[row.Gets] != want || r.V[row.Grown] != want {
			t.Errorf("creations were passed over: %v: %d made, %d looked up, %d grown; want 1, %d, %d", passed, r.V[row.Made], r.V[row.Gets], r.V[row.Grown], want, want)
		}
		reset()
	}
}
