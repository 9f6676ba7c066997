package sys

import (
	"math"
	"testing"
	"unsafe"
)

func TestValue(t *testing.T) {
	type small uint8
	for _, c := range []struct {
		v    any
		size uintptr
		want uint64
	}{
		{uint8(200), 1, 200},
		{small(7), 1, 7},
		{int8(-1), 1, 255},
		{true, 1, 1},
		{uint16(60000), 2, 60000},
		{int32(-2), 4, 1<<32 - 2},
		{float32(1), 4, uint64(math.Float32bits(1))},
		{int64(-3), 8, 1<<64 - 3},
		{math.Pi, 8, math.Float64bits(math.Pi)},
		{uintptr(9), unsafe.Sizeof(uintptr(0)), 9},
	} {
		if got := Value(&c.v, c.size); got != c.want {
			t.Errorf("Value of %T %v is %#x, want %#x", c.v, c.v, got, c.want)
		}
	}
	type name string
	var s any = name("text")
	if got := Text(&s); got != "text" {
		t.Errorf("Text is %q", got)
	}
	x := 5
	var p any = &x
	if got := Object(&p); got != uintptr(unsafe.Pointer(&x)) {
		t.Errorf("Object is %#x, want %p", got, &x)
	}
}

// TestNameSlot checks that neighbouring constants do not collide: their
// addresses differ by less than the table's size.
func TestNameSlot(t *testing.T) {
	const size = 1 << 9
	seen := map[int]bool{}
	for a := uintptr(0x4a0123); a < 0x4a0123+size; a++ {
		s := NameSlot(a, size)
		if s < 0 || s >= size || seen[s] {
			t.Fatalf("the slot of %#x is %d, which was used: %t", a, s, seen[s])
		}
		seen[s] = true
	}
}
