//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"testing"
	"unsafe"
)

func pair()      { t := tsc(); defer sink(t) }
func sink(int64) { tsc() }

func BenchmarkFloor(b *testing.B) {
	for b.Loop() {
		pair()
	}
}

type h struct{ loc, start int64 }

func (x h) end() { EndFast(x.loc, x.start, 0, nil) }

//go:noinline
func begin() h {
	l, s := BeginFast(1<<40, 1)
	return h{l, s}
}

func scope() { defer begin().end() }

// BenchmarkPair measures a begin and an end alone, in a chunk that stays in the
// cache.
func BenchmarkPair(b *testing.B) {
	f, err := NewFast()
	if err != nil {
		b.Fatal(err)
	}
	mem, _ := reserve[uint64](1 << 16)
	base := uintptr(unsafe.Pointer(&mem[0]))
	f.Setup(base, 1<<18, 2600000000, CPUAuto)
	b.Log(f.NoSwitch)
	f.Run(1)
	defer f.Run(0)
	var hdr [8]uint64
	hdr[0] = 1
	n := 2000
	for b.Loop() {
		if n++; n > 2000 {
			f.Install(&hdr, base+1<<16, 1<<16, 1)
			f.Anchor()
			n = 0
		}
		scope()
	}
}
