package count

import (
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// TestReportAllocatesNothing: Report runs where an allocation may be starting.
func TestReportAllocatesNothing(t *testing.T) {
	counting(t, all)
	pcs := here()
	at := lies(1)
	slice := []int{1, 2, 3}
	mapType := sys.TypeOf(map[int]int{})
	events := []struct {
		what row.Event
		a    [8]uintptr
	}{
		{row.MakeSlice, [8]uintptr{at, 1, 1, intType}},
		{row.MakeSlice, [8]uintptr{at, 1, 1, intType}}, // the one before has died
		{row.GrowSlice, [8]uintptr{at, lies(2), 1, 2, 1, 2, intType}},
		{row.MakeMap, [8]uintptr{at, 10, mapType}},
		{row.MakeMap, [8]uintptr{at, 10, mapType}},
		{row.GrowMap, [8]uintptr{at, 8, 8, 8, mapType}},
		{row.MapGet, [8]uintptr{at, 8}},
		{row.MapNaN, [8]uintptr{at}},
		{row.MakeList, [8]uintptr{at}},
		{row.MakeList, [8]uintptr{at}},
		{row.ListPushBack, [8]uintptr{at, 1, intType}},
		{row.Searched, [8]uintptr{intPointer, at, 1, 1}},
		{row.Searched, [8]uintptr{intPointer, at, 1, 1}},
		{row.Shifted, [8]uintptr{intPointer, 10, 2, 1}},
		{row.SortBegins, [8]uintptr{at, 2, 8}},
		{row.Sorted, [8]uintptr{intPointer, 0, at, 2, 100}},
		{row.Sorted, [8]uintptr{sys.TypeOf([]int{}), sys.AddrOf(&slice), 0, 3, 100}},
		{row.Sorted, [8]uintptr{sys.TypeOf([]int{}), sys.AddrOf(&slice), 0, 1000, 100}}, // with another Len
	}
	for i := range events {
		e := &events[i]
		if n := testing.AllocsPerRun(100, func() { Report(uint32(e.what), &e.a, pcs) }); n != 0 {
			t.Errorf("event %d, of %d: %.0f allocations", e.what, i, n)
		}
	}
}
