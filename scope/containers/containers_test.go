package containers

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/custom"
)

// listen installs a listener, and returns what it receives.
func listen(t *testing.T) *[]string {
	t.Helper()
	heard := &[]string{}
	custom.Listening.Store(&custom.Listener{
		Born: func(above int, s *custom.Spec) uintptr {
			var pcs [1]uintptr
			runtime.Callers(above+2, pcs[:])
			f, _ := runtime.CallersFrames(pcs[:]).Next()
			*heard = append(*heard, fmt.Sprintf("born %+v for %s", *s, f.Function[strings.LastIndexByte(f.Function, '/')+1:]))
			return 7
		},
		Report: func(number uintptr, op custom.Op, a, b, c int) {
			*heard = append(*heard, fmt.Sprint(number, " ", op, " ", a, " ", b, " ", c))
		},
	})
	t.Cleanup(func() { custom.Listening.Store(nil) })
	return heard
}

// table is a user's container.
type table struct{ follow Instance }

func newTable() *table {
	return &table{New(Spec{Name: "table", Table: true, Slots: 8, SlotBytes: 16, Hinted: true})}
}

func (t *table) use() {
	t.follow.Grow(8, 16, 9)
	t.follow.Get(3, true)
	t.follow.Get(4, false)
	t.follow.Put(1, 10)
	t.follow.Delete(2, 9)
	t.follow.Chain(5, 6)
	t.follow.End()
}

// TestInstance: the listener receives all calls, and the caller of the constructor.
func TestInstance(t *testing.T) {
	heard := listen(t)
	newTable().use()
	want := []string{"born {Name:table Table:true Slots:8 SlotBytes:16 Hinted:true} for containers.TestInstance",
		"7 0 8 16 9", "7 1 3 0 0", "7 2 4 0 0", "7 3 1 10 0", "7 4 2 9 0", "7 5 5 6 0", "7 6 0 0 0"}
	if !slices.Equal(*heard, want) {
		t.Errorf("heard %q, want %q", *heard, want)
	}
}

// TestNobodyListens: without a listener nothing is reported or allocated, also not later for
// a container created before.
func TestNobodyListens(t *testing.T) {
	x := &table{}
	if n := testing.AllocsPerRun(100, func() {
		x.follow = New(Spec{Name: "table", Slots: 8})
		x.use()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	heard := listen(t)
	x.use()
	if len(*heard) != 0 {
		t.Errorf("heard %q", *heard)
	}
}

// BenchmarkNobodyListens measures a call in a program that does not count.
func BenchmarkNobodyListens(b *testing.B) {
	x := newTable()
	for b.Loop() {
		x.follow.Get(1, true)
	}
}
