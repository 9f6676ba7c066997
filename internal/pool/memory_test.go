package pool

import (
	"errors"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// TestAllow takes chunks while memory runs short and recovers; the program uses all of it but
// total. The heap's chunks grow to a quarter of that, and no further.
func TestAllow(t *testing.T) {
	p, err := New(Options{File: newFile(t), Heap: true, Left: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h := p.back.(*heap)
	took := int64(1)
	take := func() format.Loss {
		for {
			err = p.Extend()
			idx, why := takeAll(p)
			if took += int64(len(idx)); len(idx) == 0 {
				return why
			}
		}
	}
	check := func(when string, total, most int64, lost format.Loss) {
		t.Helper()
		if total != noMemoryLimit {
			total -= h.memory()
		}
		p.Allow(total)
		why := take()
		if h.memory() > most || why != lost || errors.Is(err, errMemory) != (lost == format.LossSpace) {
			t.Errorf("%s: %d bytes in memory, lost by %v: %v; want at most %d and %v", when, h.memory(), why, err, most, lost)
		}
	}
	check("at first", 64<<20, 16<<20, format.LossBuffer)
	check("the program has grown", 4<<20, 16<<20, format.LossSpace)
	if took*ChunkSize*heapFactor < 12<<20 {
		t.Errorf("only %d chunks were to be had", took)
	}
	if err := p.Drop(1, p.Bump()); err != nil {
		t.Fatal(err)
	}
	check("and what it had is written", 6<<20, 2<<20, format.LossSpace)
	check("the program has shrunk", 256<<20, 64<<20, format.LossBuffer)
	check("no limit", noMemoryLimit, maxKept*ChunkSize*heapFactor, format.LossBuffer)
	if _, err := New(Options{File: newFile(t), Heap: true, Left: 1 << 20}); !IsNoSpace(err) {
		t.Errorf("with a megabyte: %v", err)
	}
}

// TestAllowFile grows a file that is itself memory, as on a tmpfs.
func TestAllowFile(t *testing.T) {
	p, f := newFake(t, 0)
	p.inMemory = true
	p.Allow(100<<20 - p.Bytes())
	var err error
	for range 100 {
		takeAll(p)
		if err = p.Extend(); err != nil {
			break
		}
	}
	if got := p.end.Load() * ChunkSize; got > 26<<20 || got < 16<<20 || !errors.Is(err, errMemory) || !IsNoSpace(err) {
		t.Errorf("the file has %d bytes, of which it may have a quarter of 100 MiB: %v", got, err)
	}
	if len(f.extended) == 0 {
		t.Error("nothing was prepared")
	}
}

// TestMemoryIsUsedAgain writes out many times what the heap may hold: the memory comes from chunks
// that are gone, and these have none any more.
func TestMemoryIsUsedAgain(t *testing.T) {
	if sys.Race {
		t.Skip("the race detector's build uses none again")
	}
	p, err := New(Options{File: newFile(t), Heap: true, Left: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	had := map[*uint64]bool{}
	chunks := 0
	for range 50 {
		idx, _ := takeAll(p)
		for _, i := range idx {
			w := p.Words(i)
			for k, v := range w {
				if v != 0 {
					t.Fatalf("word %d of chunk %d is %#x before anybody has written it", k, i, v)
				}
			}
			w[0], w[len(w)-1] = uint64(i), uint64(i)
			had[&w[0]] = true
		}
		chunks += len(idx)
		for _, i := range idx { // prepared ones lie between them
			if err := p.Drop(i, i+1); err != nil {
				t.Fatal(err)
			}
		}
		if p.Words(idx[0]) != nil {
			t.Fatalf("chunk %d is gone and has memory", idx[0])
		}
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
	}
	if len(had)*4 > chunks {
		t.Errorf("%d chunks had %d pieces of memory", chunks, len(had))
	}
}
