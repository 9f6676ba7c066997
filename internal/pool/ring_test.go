package pool

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// ringPool returns a small ring whose numbers begin again after 300 chunks. over receives the
// overwritten numbers.
func ringPool(t *testing.T, heap bool, bytes int64, over func([]int64)) *Pool {
	t.Helper()
	f := newFile(t)
	p, err := New(Options{File: f, Heap: heap, Ring: RingOf(bytes, over), lap: 300})
	if errors.Is(err, sys.ErrNoMap) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// fill takes a chunk, writes its stamp into all of it, and releases it.
func fill(t *testing.T, p *Pool, idx int64, stamp uint64) {
	t.Helper()
	w := p.Words(idx)
	if len(w) != ChunkSize/8 {
		t.Fatalf("chunk %d has %d words", idx, len(w))
	}
	for i, v := range w {
		if v != 0 {
			t.Fatalf("word %d of chunk %d is %#x before anybody wrote to it", i, idx, v)
		}
		w[i] = stamp
	}
	p.Advance(idx, Open)
}

func leave(t *testing.T, p *Pool, idx int64) {
	t.Helper()
	p.Advance(idx, Leaving)
	if err := p.Save(idx, idx+1, true); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(idx, idx+1); err != nil {
		t.Fatal(err)
	}
	p.Advance(idx, Gone)
	p.Retire(idx)
}

// TestRing goes round a ring several times, and round its numbers, with one chunk that stays open.
// Chunks are handed out zeroed, the file never grows beyond the ring, and holds the last chunks
// written.
func TestRing(t *testing.T) {
	for _, heap := range []bool{false, true} {
		t.Run(map[bool]string{false: "disk", true: "heap"}[heap], func(t *testing.T) {
			const ring = 64 // chunks
			var overwritten []int64
			var rounds []int // how many were overwritten after each
			p := ringPool(t, heap, ring*ChunkSize, func(idx []int64) {
				overwritten = append(overwritten, idx...)
				rounds = append(rounds, len(overwritten))
			})
			held, why := p.Take()
			if why != 0 {
				t.Fatal(why)
			}
			fill(t, p, held, 1<<40)
			kept, why := p.TakeKept()
			if why != 0 || !p.Kept(kept) || p.Kept(held) {
				t.Fatal(kept, why)
			}
			fill(t, p, kept, 1<<41)
			var taken []int64 // in this order
			stamp := map[int64]uint64{}
			number, turn := held, uint32(1)
			for n := uint64(1); n <= 1000; n++ {
				idx, why := p.Take()
				for why != 0 {
					if err := p.Extend(); err != nil {
						t.Fatal(err)
					}
					idx, why = p.Take()
				}
				if number++; number > 300 {
					number, turn = 2, turn+1 // 1 is the open chunk's
				}
				at, lap := p.Place(idx)
				if at < 1 || at > ring+2*keptAhead || lap != turn || idx != number {
					t.Fatalf("chunk %d, the %d-th, is at place %d in lap %d, want number %d, lap %d", idx, n, at, lap, number, turn)
				}
				fill(t, p, idx, n)
				stamp[at] = n
				if fresh := p.Fresh(nil); !slices.Contains(fresh, idx) {
					t.Fatalf("chunk %d is not among the new ones: %v", idx, fresh)
				}
				leave(t, p, idx)
				taken = append(taken, idx)
			}
			if len(overwritten) < 1000-ring {
				t.Errorf("only %d were overwritten", len(overwritten))
			}
			for i, n := range rounds {
				from := 0
				if i > 0 {
					from = rounds[i-1]
				}
				if !slices.Equal(slices.Sorted(slices.Values(overwritten[from:n])), slices.Sorted(slices.Values(taken[from:n]))) {
					t.Fatalf("%v were overwritten, the oldest are %v", overwritten[from:n], taken[from:n])
				}
			}
			if p.State(held) != Open || p.Words(held)[9] != 1<<40 {
				t.Error("the open chunk is not what it was")
			}
			live := p.Live(nil)
			if !slices.Contains(live, held) || !slices.Contains(live, kept) || len(live) > ring+1 {
				t.Errorf("%d chunks are there, the held and the kept one among them: %t, %t", len(live), slices.Contains(live, held), slices.Contains(live, kept))
			}
			if heap {
				for _, idx := range []int64{held, kept} {
					if err := p.Save(idx, idx+1, false); err != nil {
						t.Fatal(err)
					}
				}
			}
			at, _ := p.Place(held)
			stamp[at] = 1 << 40
			at, _ = p.Place(kept)
			stamp[at] = 1 << 41
			b := filetest.Read(t, p.file.f.Name())
			if most := (1 + ring + 2*keptAhead) * ChunkSize; len(b) > most {
				t.Errorf("the file has %d bytes, want at most %d", len(b), most)
			}
			missing := 0
			for at, want := range stamp {
				c := b[at*ChunkSize : (at+1)*ChunkSize]
				first := binary.LittleEndian.Uint64(c)
				for i := 0; i < ChunkSize; i += 8 {
					if v := binary.LittleEndian.Uint64(c[i:]); v != first {
						t.Fatalf("place %d begins with %d and has %d at %d", at, first, v, i)
					}
				}
				if first == 0 {
					missing++ // prepared for the next
				} else if first != want {
					t.Errorf("place %d has %d, want %d", at, first, want)
				}
			}
			if missing > ring/4 {
				t.Errorf("%d chunks are empty, at most a quarter of the ring is prepared", missing)
			}
		})
	}
}

// TestRingOfUnits checks a ring whose places are reused three by three.
func TestRingOfUnits(t *testing.T) {
	r, err := newRing(&Options{Ring: RingOf(3*maxLots*ChunkSize, nil), States: make([]uint32, 1)}, 1<<24)
	if err != nil || r.lotSize != 3 || r.want%3 != 0 || r.lap%3 != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	p, err := New(Options{File: newFile(t), Heap: true, Ring: RingOf(63*ChunkSize, nil), lap: 300, lot: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 600 {
		idx, why := p.Take()
		for why != 0 {
			if err := p.Extend(); err != nil {
				t.Fatal(err)
			}
			idx, why = p.Take()
		}
		fill(t, p, idx, 7)
		p.Fresh(nil)
		leave(t, p, idx)
	}
}

// TestRingWithoutAddresses asks for more addresses than there are.
func TestRingWithoutAddresses(t *testing.T) {
	if _, err := newRing(&Options{Ring: RingOf(1<<30, nil)}, 20_000); !errors.Is(err, ErrNoSpace) {
		t.Errorf("%v, want ErrNoSpace", err)
	}
	if r, err := newRing(&Options{Ring: RingOf(64<<30, nil), States: make([]uint32, 1)}, 1<<24); err != nil || r.lap > format.RingNumbers {
		t.Errorf("%+v, %v", r, err)
	}
}
