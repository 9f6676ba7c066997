package count

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// values compares some values of a row.
func values(t *testing.T, r row.Row, want map[row.Value]int64) {
	t.Helper()
	for v, n := range want {
		if r.V[v] != n {
			t.Errorf("%v of %v is %d, want %d", v, r.Kind, r.V[v], n)
		}
	}
}

// TestConcat: only a long chain of steps counts as building a string.
func TestConcat(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.ConcatStrings, pcs, 10, 0, 1, 0)
	report(row.ConcatStrings, pcs, 20, 10, Built-1, 0)
	report(row.ConcatStrings, pcs, 30, 20, Built, 0)
	report(row.ConcatStrings, pcs, 40, 30, 255, 1)
	values(t, only(t, rows(), row.Concat), map[row.Value]int64{
		row.Made: 4, row.Grown: 2, row.Copied: 50, row.AllocBytes: 70, row.Front: 1, row.MaxLen: 40, row.MinLen: 10,
	})
}

// TestConvertAndBox: the allocations, and their types.
func TestConvertAndBox(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.ConvertString, pcs, 100, intType, 0)
	report(row.ConvertString, pcs, 50, intType, 1)
	report(row.BoxValue, pcs, 8, intType)
	got := rows()
	values(t, only(t, got, row.Convert), map[row.Value]int64{row.Made: 2, row.Allocs: 2, row.AllocBytes: 150, row.OfRunes: 1, row.MinLen: 50})
	box := only(t, got, row.Box)
	values(t, box, map[row.Value]int64{row.Made: 1, row.Allocs: 1, row.AllocBytes: 8})
	if box.Type != "int" {
		t.Errorf("the type is %q", box.Type)
	}
}

// TestRegexp: only repeated compilations count with their time.
func TestRegexp(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.CompileRegexp, pcs, 12, 0, 5000)
	report(row.CompileRegexp, pcs, 12, 1, 4000)
	values(t, only(t, rows(), row.Compile), map[row.Value]int64{row.Made: 2, row.Recompiled: 1, row.RecompiledBytes: 12, row.NS: 4000, row.MaxLen: 12})
}

// TestBuffer follows a bytes.Buffer through two arrays, the second of which is first
// reported as a slice.
func TestBuffer(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	var last [64]uint64
	at, byteType := sys.AddrOf(&last[0]), sys.TypeOf(byte(0))
	report(row.MakeSlice, pcs, lies(1), 10, 64, byteType)
	report(row.GrowSlice, pcs, 0, at, 0, 128, 0, 128, byteType)
	report(row.BufferGrow, nil, lies(1), at, 60, 64, 128, byteType)
	r := only(t, rows(), row.Slice)
	runtime.KeepAlive(&last)
	values(t, r, map[row.Value]int64{row.Made: 1, row.Hinted: 1, row.Grown: 1, row.Copied: 60, row.GrownBytes: 64, row.MaxCap: 128, row.MaxLen: 60})
}

// TestBufferPassedOver: a buffer whose creation was skipped is not followed from its growth
// on, and a slice that died at its new array's address is counted.
func TestBufferPassedOver(t *testing.T) {
	rows := counting(t, all)
	byteType := sys.TypeOf(byte(0))
	c.skipped[typeHash(byteType)] = 1
	report(row.MakeSlice, here(), lies(2), 3, 3, byteType)
	report(row.BufferGrow, nil, lies(1), lies(2), 60, 64, 128, byteType)
	values(t, only(t, rows(), row.Slice), map[row.Value]int64{row.Made: 1, row.MaxLen: 3, row.Grown: 0})
}

// TestReadAll: the number of pieces, and their bytes.
func TestReadAll(t *testing.T) {
	rows := counting(t, all)
	report(row.ReadAll, here(), 5000, 4)
	values(t, only(t, rows(), row.Slice), map[row.Value]int64{row.Made: 1, row.Exact: 1, row.Grown: 4, row.Copied: 5000, row.GrownBytes: 5000})
}

// TestFiles: a small write that follows another one counts with its time, except for
// waiting.
func TestFiles(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.WriteFile, pcs, 10, 10, 0, 300)           // the first
	report(row.WriteFile, pcs, 20, 20, 1, 300)           // counts
	report(row.WriteFile, pcs, 20, 20, 1, 1e9)           // counts; the time includes waiting
	report(row.WriteFile, pcs, SmallIO, SmallIO, 1, 300) // is large
	report(row.ReadFile, pcs, 10, 4096, 1, 300)          // there was no more data
	report(row.ReadFile, pcs, 1, 1, 1, 200)              // counts
	got := rows()
	values(t, only(t, got, row.Output), map[row.Value]int64{row.Made: 4, row.LenBytes: 50 + SmallIO, row.Small: 2, row.SmallBytes: 40, row.NS: 300 + longestIO})
	values(t, only(t, got, row.Input), map[row.Value]int64{row.Made: 2, row.LenBytes: 11, row.Small: 1, row.SmallBytes: 1, row.NS: 200})
}

// TestPool: a pool's row is the place of its first Get.
func TestPool(t *testing.T) {
	rows := counting(t, all)
	pool := lies(1)
	report(row.PoolPut, here(), pool) // not followed yet
	report(row.PoolGet, here(), pool, 1, 700)
	report(row.PoolGet, nil, pool, 0)
	report(row.PoolPut, nil, pool)
	values(t, only(t, rows(), row.Pool), map[row.Value]int64{row.Made: 1, row.Gets: 2, row.Misses: 1, row.Puts: 1, row.NS: 700})
}

// TestHeap: large objects are all sampled, so Go's profile has them, with their call stack,
// and their frees. If the rate has changed nothing is known.
func TestHeap(t *testing.T) {
	c.rows.depth = Depth
	defer reset()
	w := &writer{heap: heap{rate: samplingRate()}}
	go new(bytes.Buffer).Grow(8 << 20) // without a known call stack
	found := false
	for end := time.Now().Add(10 * time.Second); !found && time.Now().Before(end); {
		runtime.GC()
		for _, r := range w.allocations() {
			if strings.HasPrefix(w.frames.text[r.stack[0]], "bytes.") {
				found = r.V[row.Made] == 1 && r.V[row.Allocs] == 1 && r.V[row.AllocBytes] >= 8<<20 && r.V[row.Frees] == 1 && r.V[row.LenBytes] == 0
			}
		}
	}
	if !found {
		t.Error("what was allocated, and died, is not known")
	}
	w.heap.rate++
	if rows := w.allocations(); rows != nil || w.heap.unknown == 0 {
		t.Errorf("the rate has changed, and %d rows are known", len(rows))
	}
}

// TestScaled: a sampled object represents all objects like it.
func TestScaled(t *testing.T) {
	for _, x := range []struct {
		objects, bytes int64
		rate           int
		least, most    float64
	}{
		{0, 0, 512 << 10, 1, 1},
		{3, 3 * 8, 1, 1, 1},
		{1, 512 << 10, 512 << 10, 1.58, 1.59},
		{10, 10 * 1024, 512 << 10, 512, 513},
		{1, 64 << 20, 512 << 10, 1, 1.01},
	} {
		if got := scaled(x.objects, x.bytes, x.rate); got < x.least || got > x.most {
			t.Errorf("%d objects of %d bytes at %d: %g, want %g to %g", x.objects, x.bytes, x.rate, got, x.least, x.most)
		}
	}
}
