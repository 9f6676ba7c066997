package outside

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// made makes a record of the kernel's.
func made(kind uint32, misc uint16, words ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, misc)
	b = binary.LittleEndian.AppendUint16(b, uint16(headSize+8*len(words)))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func pair(low, high uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func never(uint64) bool { return false }

func TestParse(t *testing.T) {
	id := []uint64{pair(10, 11), 5000, 3, 77} // pid and tid, time, cpu, identifier
	var b []byte
	b = append(b, made(typeSample, miscKernel, 77, 0x900, pair(10, 11), 4000, 3, 250, 5, contextKernel, 0xffff_8000, contextUser, 0x500, 0x601)...)
	b = append(b, made(typeFork, 0, append([]uint64{pair(20, 10), pair(21, 11), 0}, id...)...)...)
	b = append(b, made(typeLost, 0, append([]uint64{77, 9}, id...)...)...)
	b = append(b, made(typeSwitch, miscOut|miscPreempt, id...)...)
	b = append(b, made(99, 0, id...)...)                                                       // of a later kernel
	b = append(b, made(typeSample, 0, 1, 2)...)                                                // too short
	b = append(b, made(typeSample, miscUser, 77, 0x900, pair(10, 11), 4000, 3, 250, 1<<60)...) // says it is long
	b = append(b, 9, 0, 0)                                                                     // cut off
	var got []string
	parse(b, func(e *event) {
		got = append(got, fmt.Sprintf("%d pid %d tid %d at %d cpu %d id %d period %d lost %d parent %d kernel %v %#x", e.kind, e.pid, e.tid, e.time, e.cpu, e.id, e.period, e.lost, e.parent, e.kernel, e.pcs(never)))
	})
	want := []string{
		"9 pid 10 tid 11 at 4000 cpu 3 id 77 period 250 lost 0 parent 0 kernel true [0xffffffffffffffff 0x4ff 0x600]",
		"7 pid 20 tid 21 at 5000 cpu 3 id 77 period 0 lost 0 parent 10 kernel false []",
		"2 pid 10 tid 11 at 5000 cpu 3 id 77 period 0 lost 9 parent 0 kernel false []",
		"14 pid 10 tid 11 at 5000 cpu 3 id 77 period 0 lost 0 parent 0 kernel false []",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUserStack: of a sample in user mode the leaf's address is exact, of callers it lies in
// the call.
func TestUserStack(t *testing.T) {
	e := event{ip: 0x500, chain: []uint64{contextUser, 0x500, 0x601, 0}}
	if got := e.pcs(never); !slices.Equal(got, []uint64{0x500, 0x600}) {
		t.Errorf("%#x", got)
	}
	// The caller of a function without a frame comes in between; of any other it is no address.
	e.caller = 0x551
	for frameless, want := range map[uint64][]uint64{0x500: {0x500, 0x550, 0x600}, 0x600: {0x500, 0x600}} {
		if got := e.pcs(func(pc uint64) bool { return pc == frameless }); !slices.Equal(got, want) {
			t.Errorf("without a frame at %#x: %#x, want %#x", frameless, got, want)
		}
	}
	e = event{ip: 0x500}
	if got := e.pcs(never); !slices.Equal(got, []uint64{0x500}) {
		t.Errorf("without a chain: %#x", got)
	}
}

// TestSpace: what is mapped later covers what was there.
func TestSpace(t *testing.T) {
	var s space
	s.put(mapping{100, 200, 0, "a"})
	s.put(mapping{300, 400, 50, "b"})
	s.put(mapping{150, 350, 1000, "c"})
	s.put(mapping{5, 5, 0, "none"})
	other := s.copyOf()
	other.put(mapping{0, 1000, 0, "d"})
	for pc, want := range map[uint64]string{99: " 0", 100: "a 0", 149: "a 49", 150: "c 1000", 349: "c 1199", 350: "b 100", 399: "b 149", 400: " 0"} {
		file, off := s.find(pc)
		if got := fmt.Sprint(file, " ", off); got != want {
			t.Errorf("%d: %q, want %q", pc, got, want)
		}
	}
}

func TestParseCounter(t *testing.T) {
	for text, want := range map[string]string{
		"task-clock": "{task-clock 10000000}", "task-clock:1ms": "{task-clock 1000000}", "page-faults": "{page-faults 1}", "cycles": "{cycles 1000000}",
		"page-faults:100": "{page-faults 100}", "nothing": "there is no counter", "task-clock:5": "behind the colon", "cycles:0": "behind the colon", "task-clock:1us": "the least is",
	} {
		c, err := ParseCounter(text)
		if got := fmt.Sprint(c); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestCallerOf: the caller lies where the stack pointer points to, or in a register.
func TestCallerOf(t *testing.T) {
	words := func(list ...uint64) (b []byte) {
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	for _, c := range []struct {
		in   []byte
		want uint64
	}{
		{words(2, 0x7ff0, 8, 0x401000, 8), 0x401000}, {words(2, 0x401000, 0), 0x401000}, {words(0, 0), 0}, {nil, 0},
		{words(2, 0x7ff0, 8, 0x401000, 0), 0}, {words(2, 0x7ff0, 1<<60, 1, 2), 0}, {words(2, 0x7ff0, 8, 1), 0},
	} {
		if got := callerOf(c.in); got != c.want {
			t.Errorf("%x: %#x, want %#x", c.in, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(made(typeSample, miscKernel, 77, 0x900, 0, 4000, 3, 250, 1, 0x500))
	f.Add(made(typeMmap2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
	f.Fuzz(func(t *testing.T, b []byte) {
		parse(b, func(e *event) { e.pcs(never) })
	})
}
