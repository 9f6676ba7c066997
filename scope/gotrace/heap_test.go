//go:build !scope_off

package gotrace

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
)

// heapBlocks is a collect.Recording that keeps the heap's blocks.
type heapBlocks struct {
	t      *testing.T
	ring   int64
	full   bool
	fact   string
	frames map[uint32]string
	stacks map[uint32][]uint32
	blocks []format.Samples
}

func newHeapBlocks(t *testing.T) *heapBlocks {
	return &heapBlocks{t: t, frames: map[uint32]string{}, stacks: map[uint32][]uint32{}}
}

func (k *heapBlocks) Block(typ format.BlockType, p []byte) bool {
	if k.full {
		return false
	}
	switch typ {
	case format.BlockFrame:
		f, err := format.DecodeFrame(p)
		if err != nil {
			k.t.Error(err)
		}
		k.frames[f.ID] = f.Function
	case format.BlockStack:
		s, err := format.DecodeStack(p)
		if err != nil {
			k.t.Error(err)
		}
		k.stacks[s.ID] = s.Frames
	case format.BlockSamples:
		s, err := new(format.SamplesReader).Decode(p)
		if err != nil || len(p) > 60_000 || s.Thread != 0 {
			k.t.Errorf("%v; a block of %d bytes of thread %d", err, len(p), s.Thread)
		}
		k.blocks = append(k.blocks, s)
	}
	return true
}

func (k *heapBlocks) Fact(_, value string) { k.fact = value }
func (k *heapBlocks) Work(f func())        { f() }
func (k *heapBlocks) Ring() int64          { return k.ring }

// of sums up a counter over the stacks whose innermost function is allocates: the number of
// samples, their sum, and the sum of each stack's last.
func (k *heapBlocks) of(counter string) (n int, sum, level int64) {
	last := map[uint32]int64{}
	for _, b := range k.blocks {
		if b.Counter != counter {
			continue
		}
		for _, x := range b.List {
			if fs := k.stacks[x.Stack]; len(fs) > 0 && strings.HasSuffix(k.frames[fs[0]], ".allocates") {
				n++
				sum += x.Weight
				last[x.Stack] = x.Weight
			}
		}
	}
	for _, v := range last {
		level += v
	}
	return n, sum, level
}

var kept [][]byte

const blockSize = 64 << 10

//go:noinline
func allocates(n int) {
	for range n {
		kept = append(kept, make([]byte, blockSize))
	}
}

// collected makes the profile complete: it shows everything allocated and freed.
func collected() {
	for range 3 {
		runtime.GC()
	}
}

// every makes the profile sample each allocation.
func every(t *testing.T) {
	old := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	t.Cleanup(func() { runtime.MemProfileRate, kept = old, nil })
}

// TestHeapReadings: earlier allocations are not the recording's, but count as in use; what found
// no room is written later; what did not change is not written again, except in a ring.
func TestHeapReadings(t *testing.T) {
	every(t)
	for _, ring := range []int64{0, 1 << 20} {
		kept = nil
		collected()
		allocates(2)
		collected()
		k := newHeapBlocks(t)
		k.ring = ring
		h := newHeap(k, perf.NewOwnNamer(k), 1, mostPlaces)
		h.read(forStop)
		_, alloc, _ := k.of(format.AllocBytes)
		_, _, inUse := k.of(format.InUseBytes)
		if alloc != 0 || inUse < 2*blockSize || inUse > 2*blockSize+4096 {
			t.Fatalf("at the start %d were allocated and %d are in use", alloc, inUse)
		}
		k.full = true
		h.next = time.Time{}
		allocates(5)
		collected()
		h.read(forBeat)
		k.full = false
		allocates(5)
		kept = append([][]byte(nil), kept[:4]...)
		collected()
		h.read(forStop)
		if _, alloc, _ = k.of(format.AllocBytes); alloc < 10*blockSize || alloc > 10*blockSize+4096 {
			t.Errorf("%d bytes were allocated, want 10 blocks of %d, and what append did", alloc, blockSize)
		}
		if _, _, inUse = k.of(format.InUseBytes); inUse != 4*blockSize {
			t.Errorf("%d bytes are in use, want 4 blocks of %d", inUse, blockSize)
		}
		k.blocks = nil
		h.read(forStop)
		again, _, inUse := k.of(format.InUseBytes)
		_, alloc, _ = k.of(format.AllocBytes)
		if (again > 0) != (ring > 0) || ring > 0 && inUse != 4*blockSize || alloc != 0 {
			t.Errorf("ring of %d: then %d samples have %d bytes in use, and others %d allocated", ring, again, inUse, alloc)
		}
	}
}

// TestHeapTooLarge: a profile of more places is not read, and the trace records that.
func TestHeapTooLarge(t *testing.T) {
	k := newHeapBlocks(t)
	every(t)
	allocates(1)
	collected()
	h := newHeap(k, perf.NewOwnNamer(k), 1, 0)
	h.read(forStop)
	h.read(forStop)
	if len(k.blocks) != 0 || !strings.HasPrefix(k.fact, "off: more than 0 allocation sites") {
		t.Errorf("%d blocks; %q", len(k.blocks), k.fact)
	}
}

// TestHeapSwitchedOff: if the program has switched the heap profile off, there is none.
func TestHeapSwitchedOff(t *testing.T) {
	old := runtime.MemProfileRate
	runtime.MemProfileRate = 0
	defer func() { runtime.MemProfileRate = old }()
	if _, err := startHeap(newHeapBlocks(t), nil); err == nil || err.Error() != "switched off by the program (runtime.MemProfileRate is 0)" {
		t.Error(err)
	}
}

// TestEstimate compares with what runtime/pprof computes from the same samples.
func TestEstimate(t *testing.T) {
	for _, test := range []struct {
		rate           float64
		objects, bytes int64
		want           [2]int64
	}{
		{1, 3, 300, [2]int64{3, 300}},
		{512 << 10, 0, 0, [2]int64{0, 0}},
		{512 << 10, 1, 16, [2]int64{32768, 524296}},
		{512 << 10, 4, 4 << 20, [2]int64{4, 4850786}},
	} {
		if got := (&heap{rate: test.rate}).estimate(test.objects, test.bytes); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

//go:noinline
func byPath(path uint32, depth int) {
	switch {
	case depth == 0:
		kept = append(kept, make([]byte, 32))
	case path&1 == 0:
		byPath(path>>1, depth-1)
	default:
		byPath(path>>1, depth-1)
	}
}

// BenchmarkHeapReading reads a profile of 10,000 stacks of 20 calls. The first reading looks up
// their names.
func BenchmarkHeapReading(b *testing.B) {
	old := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate, kept = old, nil }()
	k := newHeapBlocks(nil)
	runtime.MemProfileRate = 1
	for i := range uint32(10_000) {
		byPath(i, 20)
	}
	runtime.MemProfileRate = old
	collected()
	h := newHeap(k, perf.NewOwnNamer(k), 1, mostPlaces)
	begin := time.Now()
	h.read(forStop)
	first := time.Since(begin)
	for b.Loop() {
		h.read(forStop)
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
	b.ReportMetric(float64(len(h.places)), "places")
}
