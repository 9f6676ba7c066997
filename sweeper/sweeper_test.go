package sweeper

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// book adds up what was reported.
type book struct {
	mu     sync.Mutex
	full   bool
	counts int // number of calls of Counts
	frames map[uint32]Frame
	stacks map[uint32]Stack
	calls  map[uint16]int64
	weight map[uint16]int64
	others int64
}

func newBook() *book {
	return &book{frames: map[uint32]Frame{}, stacks: map[uint32]Stack{}, calls: map[uint16]int64{}, weight: map[uint16]int64{}}
}

func (b *book) config(t *testing.T, every time.Duration) Config {
	room := func(enter func()) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.full {
			enter()
		}
		return !b.full
	}
	return Config{
		Every: every,
		Frame: func(f *Frame) bool {
			return room(func() {
				if _, twice := b.frames[f.ID]; twice {
					t.Errorf("frame %+v was reported before", f)
				}
				b.frames[f.ID] = *f
			})
		},
		Stack: func(s *Stack) bool {
			return room(func() {
				if _, twice := b.stacks[s.ID]; twice {
					t.Errorf("stack %+v was reported before", s)
				}
				b.stacks[s.ID] = Stack{ID: s.ID, Cut: s.Cut, Frames: slices.Clone(s.Frames)}
			})
		},
		Counts: func(cs []Count) bool {
			return room(func() {
				b.counts++
				for _, c := range cs {
					if _, ok := b.stacks[c.Stack]; !ok && c.Stack != 0 {
						t.Errorf("stack %d is counted and was not reported", c.Stack)
					}
					if c.Stack == 0 {
						b.others += c.Calls
					}
					b.calls[c.Name] += c.Calls
					b.weight[c.Name] += c.Weight
				}
			})
		},
	}
}

// idle returns a Sweeper whose goroutine does not run: the test sweeps.
func idle(t *testing.T, b *book) *Sweeper {
	return &Sweeper{Config: b.config(t, 0), pool: newPool(make(chan struct{}, 1))}
}

func caller() []uintptr {
	pc, _, _, _ := runtime.Caller(0)
	return []uintptr{pc}
}

// TestWaitsForARecord: a record that is reserved and not stored delays those
// after it, and nothing else.
func TestWaitsForARecord(t *testing.T) {
	b := newBook()
	s := idle(t, b)
	pcs := caller()
	s.Put(2, 10, pcs)
	place := s.pool.stripes[stripeOf(pcs)].place.Add(3) // reserved
	s.Put(2, 20, pcs)
	s.sweep()
	if n, _ := s.Counted(); n != 1 {
		t.Fatalf("%d counted before a record that is not ready, want 1", n)
	}
	c := s.pool.chunks[place>>32].Load()
	at := place&(1<<32-1) - 3
	c.words[at+1], c.words[at+2] = 5, uint64(pcs[0])
	atomic.StoreUint64(&c.words[at], readyBit|1<<16|3)
	s.sweep()
	s.report()
	if n, _ := s.Counted(); n != 3 || b.calls[2] != 2 || b.weight[2] != 30 || b.calls[3] != 1 || b.weight[3] != 5 {
		t.Errorf("%d counted, reported %v and %v", n, b.calls, b.weight)
	}
	if len(b.stacks) != 1 {
		t.Errorf("%d stacks were reported, want one: both names have the same", len(b.stacks))
	}
}

// TestFull: without sweeps, memory is limited, further records are lost, and all
// others are counted later; the chunks can be reused and are released.
func TestFull(t *testing.T) {
	b := newBook()
	s := idle(t, b)
	pcs := caller()
	for round := range 2 {
		kept, lost := int64(0), 0
		for lost < 1000 {
			switch why := s.Put(2, 1, pcs); why {
			case nil:
				kept++
			case ErrFull:
				lost++
			default:
				t.Fatal(why)
			}
		}
		if most := int64(maxChunks * chunkWords / 3); kept > most || kept < most-2*maxChunks {
			t.Errorf("%d records were kept, want a little less than %d", kept, most)
		}
		before, _ := s.Counted()
		s.sweep()
		if n, _ := s.Counted(); n-before != kept {
			t.Errorf("round %d: %d counted, want %d", round, n-before, kept)
		}
	}
	for i := range s.pool.chunks {
		if c := s.pool.chunks[i].Load(); c != nil && c.words != [chunkWords]uint64{} {
			t.Fatalf("chunk %d is not zeros", i)
		}
	}
	s.pool.trim()
	have := 0
	for i := range s.pool.chunks {
		if s.pool.chunks[i].Load() != nil {
			have++
		}
	}
	if have > keepFree+1 {
		t.Errorf("%d chunks are kept", have)
	}
}

// TestNoRoom: records for which the trace had no room are reported later, once.
func TestNoRoom(t *testing.T) {
	b := newBook()
	s := idle(t, b)
	s.Put(2, 1, caller())
	s.sweep()
	b.full = true
	if s.report() || s.rest() != 1 {
		t.Error("reported without room")
	}
	b.full = false
	s.Put(2, 1, caller())
	s.sweep()
	for range 2 {
		if !s.report() || s.rest() != 0 || b.calls[2] != 2 || b.weight[2] != 2 {
			t.Errorf("reported %v, and %d remain", b.calls, s.rest())
		}
	}
	if b.counts != 1 {
		t.Errorf("%d count blocks, want one: a round without changes writes nothing", b.counts)
	}

	b.full = true
	late := New(b.config(t, time.Hour))
	late.Start()
	late.Put(2, 1, caller())
	lost := late.Stop()
	if n, _ := late.Counted(); lost != 1 || n != 0 {
		t.Errorf("%d lost and %d counted of one that found no room", lost, n)
	}
	if why := late.Put(2, 1, caller()); why != ErrStopped {
		t.Errorf("after Stop: %v", why)
	}
}

// TestOtherStacks: beyond the limit, calls count for their name.
func TestOtherStacks(t *testing.T) {
	b := newBook()
	s := idle(t, b)
	for i := range uint64(maxEntries + 500) {
		s.table.add(2|1<<16, 1, []uint64{i})
	}
	s.table.add(3|1<<16, 5, []uint64{1 << 40})
	if s.table.others != 501 || len(s.table.entries) != maxEntries+2 {
		t.Errorf("%d others in %d entries", s.table.others, len(s.table.entries))
	}
	if !s.report() || b.calls[2] != maxEntries+500 || b.calls[3] != 1 || b.weight[3] != 5 || b.others != 501 || len(b.stacks) != maxEntries {
		t.Errorf("reported %v, %d of others, %d stacks", b.calls, b.others, len(b.stacks))
	}
}

// TestTable compares the table with a map.
func TestTable(t *testing.T) {
	var s table
	want := map[[3]uint64]int64{}
	for i := range uint64(100_000) {
		k := [3]uint64{i % 7, i * i % 101, i % 3}
		want[k]++
		s.add(k[0]|2<<16, int64(i), k[1:])
	}
	for i := range s.entries {
		e := &s.entries[i]
		pcs := s.pcs(e)
		k := [3]uint64{uint64(s.name(e)), pcs[0], pcs[1]}
		if want[k] != e.calls {
			t.Fatalf("%v: %d calls, want %d", k, e.calls, want[k])
		}
		delete(want, k)
	}
	if len(want) != 0 {
		t.Errorf("%d are missing", len(want))
	}
}

// TestManyCallers: records stored during sweeps are counted or lost.
func TestManyCallers(t *testing.T) {
	b := newBook()
	s := New(b.config(t, time.Millisecond))
	s.Start()
	const workers, calls = 8, 50_000
	var lost atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range calls {
				var mem sys.PCs
				if s.Put(uint16(2+w), 3, sys.Callers(&mem, false)) != nil {
					lost.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := s.Stop(); n != 0 {
		t.Errorf("%d had no room", n)
	}
	var sum, weight int64
	for name, n := range b.calls {
		sum += n
		weight += b.weight[name]
	}
	if n, _ := s.Counted(); sum != n || sum+lost.Load() != workers*calls || weight != 3*sum {
		t.Errorf("reported %d with weight %d, counted %d, lost %d of %d", sum, weight, n, lost.Load(), workers*calls)
	}
	t.Logf("%d lost", lost.Load())
}

// BenchmarkSweep measures how fast records of ten callers are counted.
func BenchmarkSweep(b *testing.B) {
	var s table
	pcs := make([]uint64, 10)
	for b.Loop() {
		pcs[3]++
		pcs[3] %= 100
		s.add(2|10<<16, 1, pcs)
	}
}
