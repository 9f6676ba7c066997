package perf

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// words makes a record of the kernel's.
func words(typ uint32, misc uint16, list ...uint64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, typ), misc), uint16(headSize+8*len(list)))
	for _, w := range list {
		b = le.AppendUint64(b, w)
	}
	return b
}

func TestHits(t *testing.T) {
	who, tail := uint64(11)<<32|10, []uint64{11<<32 | 10, 5000, 3, 77}
	var b []byte
	b = append(b, words(typeSample, 2, 77, 0x500, who, 4000, 3, 250, 4, contextUser, 0x500, 0x601, 0x701)...)
	b = append(b, words(typeSample, miscKernel, 77, ^uint64(0)-1<<30, who, 4001, 3, 250, 4, contextKernel, ^uint64(0)-1<<30, contextUser, 0x500)...)
	b = append(b, words(typeSample, miscKernel, 77, 1, who, 4002, 3, 1, 0)...)
	b = append(b, words(typeSample, 2, 77, 0x500, who, 4003, 3, 1, 0)...)
	b = append(b, words(typeSample, 2, 77, 0x500, who, 4004, 3, 1, 1<<61)...) // it says that it is long
	b = append(b, words(typeSample, 2, 77, 0x500)...)                         // it is too short
	b = append(b, words(typeLost, 0, append([]uint64{77, 9}, tail...)...)...)
	b = append(b, words(typeExit, 0, append([]uint64{9<<32 | 10, 12<<32 | 11, 0}, tail...)...)...)
	b = append(b, words(typeExit, 0, tail...)...)
	b = append(b, words(99, 0, tail...)...)
	b = append(b, 9, 0, 0) // it is cut off
	var got []string
	h := hits{
		hit: func(x *hit) {
			got = append(got, fmt.Sprintf("%d %d/%d at %d cpu %d kernel %v period %d %#x", x.id, x.pid, x.tid, x.time, x.cpu, x.kernel, x.period, x.pcs))
		},
		lost: func(id uint64, n int64) { got = append(got, fmt.Sprintf("lost %d of %d", n, id)) },
		died: func(pid, tid uint32) { got = append(got, fmt.Sprintf("died %d/%d", pid, tid)) },
	}
	h.parse(b)
	want := []string{
		"77 10/11 at 4000 cpu 3 kernel false period 250 [0x500 0x600 0x700]",
		"77 10/11 at 4001 cpu 3 kernel true period 250 [0xffffffffffffffff 0x500]",
		"77 10/11 at 4002 cpu 3 kernel true period 1 [0xffffffffffffffff]",
		"77 10/11 at 4003 cpu 3 kernel false period 1 [0x500]",
		"lost 9 of 77", "died 10/11",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func FuzzHits(f *testing.F) {
	f.Add(words(typeSample, 2, 77, 0x500, 0, 4000, 3, 250, 2, contextUser, 0x500))
	f.Add(words(typeLost, 0, 1, 2, 3, 4, 5, 6))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := hits{
			hit: func(x *hit) {
				if len(x.pcs) == 0 || x.period < 0 || x.cpu >= 1<<31 {
					t.Errorf("%+v", x)
				}
			},
			lost: func(_ uint64, n int64) {
				if n < 0 {
					t.Errorf("%d lost", n)
				}
			},
			died: func(uint32, uint32) {},
		}
		h.parse(b)
	})
}

func TestFindCounter(t *testing.T) {
	for _, test := range []struct {
		c   Counter
		err string
	}{
		{Counter{"task-clock", 50_000}, ""}, {Counter{"page-faults", 1}, ""}, {Counter{"branch-misses", 1 << 40}, ""},
		{Counter{"page-faults", 0}, "after 0 there can't be a sample"},
		{Counter{"cycles", 1 << 63}, "after 9223372036854775808 there can't be a sample"},
		{Counter{"task-clock", 49_999}, "a sample after 49999 ns would cost much of them; the least is 50000"},
		{Counter{"faults", 1}, "there is no counter of this name; there are task-clock, page-faults, minor-faults, major-faults, context-switches, cpu-migrations, cycles, instructions, cache-references, cache-misses, branches, branch-misses"},
	} {
		_, err := test.c.find()
		if got := fmt.Sprint(err); got != test.err && !(err == nil && test.err == "") {
			t.Errorf("%v: %s", test.c, got)
		}
	}
}

// callerPC is the return address within its caller.
//
//go:noinline
func callerPC() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

//go:noinline
func outerOfHere() (pc uintptr) { return innerOfHere() }

func innerOfHere() uintptr { return callerPC() }

// An address has all functions that were inlined there, whoever comes next.
func TestFramesAt(t *testing.T) {
	list := framesAt(uint64(outerOfHere()) - 1)
	if len(list) != 2 || list[0].Function != "github.com/scopeview/scopeview/internal/perf.innerOfHere" || !list[0].Inlined ||
		list[1].Function != "github.com/scopeview/scopeview/internal/perf.outerOfHere" || list[1].Inlined || list[1].Start == 0 || list[1].Line != list[1].Start {
		t.Errorf("%+v", list)
	}
	for pc, want := range map[uint64]string{kernelPC: "[kernel]", 1: "<Unknown>", 1 << 60: "<Unknown>"} {
		if list := framesAt(pc); len(list) != 1 || list[0].Function != want {
			t.Errorf("%#x: %+v", pc, list)
		}
	}
}
