package perf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/unwind"
)

// words returns a record of the kernel.
func words(typ Kind, misc uint16, list ...uint64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, uint32(typ)), misc), uint16(headSize+8*len(list)))
	for _, w := range list {
		b = le.AppendUint64(b, w)
	}
	return b
}

func pair(low, high uint32) uint64 { return uint64(high)<<32 | uint64(low) }

// framed is code in which every function has a frame and calls itself.
type framed struct{}

func (framed) Arch() string                               { return "amd64" }
func (framed) Function(uint64) (from, to uint64, ok bool) { return 0, 1 << 40, true }
func (framed) Code(_ uint64, n int) []byte                { return append(make([]byte, n-2), 0xff, 0xd0) } // an indirect call
func (framed) Stub(uint64) bool                           { return false }
func (framed) Begin(uint64) bool                          { return true }
func (framed) Rule(uint64) unwind.Rule                    { return unwind.Rule{How: unwind.ByPointer} }

func TestParseEvents(t *testing.T) {
	who, tail := pair(10, 11), []uint64{pair(10, 11), 5000, 3, 77}
	end := func(list ...uint64) []uint64 { return append(list, tail...) }
	const misc = 2 // user mode
	var b []byte
	for _, r := range [][]byte{
		words(KindSample, misc, 77, 0x500, who, 4000, 3, 250, 4, contextUser, 0x500, 0x601, 0x701),
		words(KindSample, miscKernel, 77, 0x900, who, 4001, 3, 250, 5, contextKernel, 0xffff_8000, contextUser, 0x500, 0x601),
		words(KindSample, miscHypervisor, 77, 1, who, 4002, 3, 1, 0),
		words(KindSample, misc, 77, 0x500, who, 4003, 3, 1, 0),
		words(KindSample, misc, 77, 0x500, who, 4004, 3, 1, 1<<61), // its stated length is too large
		words(KindSample, misc, 77, 0x500),                         // too short
		words(KindFork, 0, end(pair(20, 10), pair(21, 11), 0)...),
		words(kindExit, 0, end(pair(20, 10), pair(21, 11), 0)...),
		words(kindExit, 0, tail...), // without its body
		words(KindLost, 0, end(78, 9)...),
		words(KindLost, 0, end(78, 1<<63+9)...), // more than the kernel can count
		words(KindThrottle, 0, end(4900, 79, 80)...),
		words(KindSwitch, miscOut|miscPreempt, tail...),
		words(KindMap, 0, end(who, 0x1000, 0x200, 0x30, 0, 0, 0, 0, 'a')...),
		words(KindName, miscExec, end(who, 'a')...),
		words(99, 0, tail...), // of a later kernel
		{9, 0, 0},             // cut off
	} {
		b = append(b, r...)
	}
	var got []string
	Parse(b, func(e *Event) {
		x := fmt.Sprintf("%d of %d/%d at %d by %d", e.Kind, e.PID, e.TID, e.Time, e.ID)
		switch e.Kind {
		case KindSample:
			x += fmt.Sprintf(" cpu %d kernel %v period %d %#x", e.CPU, e.Kernel(), e.Period, e.PCs(nil, framed{}, &unwind.Cache{}))
		case KindFork, kindExit:
			x += fmt.Sprintf(" parent %d", e.Parent)
		case KindLost:
			x += fmt.Sprintf(" lost %d", e.Lost)
		case KindMap:
			x += fmt.Sprintf(" %#x %#x %#x %s", e.Addr, e.Size, e.Offset, e.File)
		case KindName:
			x += fmt.Sprintf(" exec %v", e.Exec())
		case KindSwitch:
			x += fmt.Sprintf(" how %d", e.How())
		}
		got = append(got, x)
	})
	want := []string{
		"9 of 10/11 at 4000 by 77 cpu 3 kernel false period 250 [0x500 0x600 0x700]",
		"9 of 10/11 at 4001 by 77 cpu 3 kernel true period 250 [0xffffffffffffffff 0x500 0x600]",
		"9 of 10/11 at 4002 by 77 cpu 3 kernel true period 1 [0xffffffffffffffff]",
		"9 of 10/11 at 4003 by 77 cpu 3 kernel false period 1 [0x500]",
		"7 of 20/21 at 5000 by 77 parent 10",
		"4 of 20/21 at 5000 by 77 parent 10",
		"2 of 10/11 at 5000 by 78 lost 9",
		"2 of 10/11 at 5000 by 78 lost 9",
		"5 of 10/11 at 5000 by 79",
		"14 of 10/11 at 5000 by 77 how 2",
		"10 of 10/11 at 5000 by 77 0x1000 0x200 0x30 a",
		"3 of 10/11 at 5000 by 77 exec true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestStackOfSample: a sample has as many words of the stack as are valid, and the register if it
// holds a return address.
func TestStackOfSample(t *testing.T) {
	body := func(list ...uint64) (b []byte) {
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	for _, c := range []struct {
		in    []byte
		words []byte
	}{
		{body(2, 0x7ff0, 8, 0x401000, 8), body(0x401000)}, {body(2, 0x401000, 0), nil}, {body(0, 0), nil}, {nil, nil},
		{body(2, 0x7ff0, 16, 1, 2, 8), body(1)}, {body(2, 0x7ff0, 8, 0x401000, 0), nil}, {body(2, 0x7ff0, 1<<60, 1, 2), nil}, {body(2, 0x7ff0, 8, 1), nil},
	} {
		var e Event
		e.stack(c.in)
		if !bytes.Equal(e.words, c.words) || e.link != 0 && runtime.GOARCH != "arm64" {
			t.Errorf("%x: %x and %#x, want %x", c.in, e.words, e.link, c.words)
		}
	}
}

// TestCutChain: a chain of the kernel's maximum length may lack callers, a shorter one lacks none.
func TestCutChain(t *testing.T) {
	for _, less := range []int{0, 1} {
		e := Event{Kind: KindSample, Chain: []uint64{contextUser}}
		for i := range longestChain() - less {
			e.Chain = append(e.Chain, uint64(0x1000+i))
		}
		got := e.PCs(nil, framed{}, &unwind.Cache{})
		if cut := got[len(got)-1] == unwind.Truncated; cut != (less == 0) || slices.Contains(got, unwind.UnknownCaller) {
			t.Errorf("%d addresses less than the longest: cut off %v, %#x", less, cut, got)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add(words(KindSample, miscKernel, 77, 0x900, 0, 4000, 3, 250, 1, 0x500))
	f.Add(words(KindMap, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
	f.Add(words(KindLost, 0, 1, 2, 3, 4, 5, 6))
	f.Fuzz(func(t *testing.T, b []byte) {
		Parse(b, func(e *Event) {
			if e.Kind == KindSample && (e.Period < 0 || e.CPU >= 1<<31) || e.Lost < 0 || len(e.PCs(nil, framed{}, &unwind.Cache{})) > len(e.Chain)+3 {
				t.Errorf("%+v", e)
			}
		})
	})
}
