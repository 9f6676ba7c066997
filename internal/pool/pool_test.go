package pool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// fake is a backing without memory, with results set by the test.
type fake struct {
	extended    [][2]int64
	extendErr   error
	avail, size int64
	freeErr     error
	closed      int64
	held        int64
}

func (f *fake) spare() (int64, error)           { return maxSpare, nil }
func (f *fake) memory() int64                   { return f.held }
func (f *fake) words(idx int64) []uint64        { return nil }
func (f *fake) rearm(idx, n int64) error        { return nil }
func (f *fake) save(s extent, final bool) error { return nil }
func (f *fake) drop(s extent) error             { return nil }
func (f *fake) grow(at, n int64) error          { return nil }

func (f *fake) detach(idx, n int64) error   { return nil }
func (f *fake) wipe(at, n int64) error      { return nil }
func (f *fake) evict(idx, at int64)         {}
func (f *fake) close(size int64) error      { f.closed = size; return nil }
func (f *fake) free() (int64, int64, error) { return f.avail, f.size, f.freeErr }
func (f *fake) attach(idx, at, n int64) error {
	if f.extendErr == nil {
		f.extended = append(f.extended, [2]int64{idx, idx + n})
	}
	return f.extendErr
}

// newFake makes a pool over a fake with much room.
func newFake(t *testing.T, limit int64) (*Pool, *fake) {
	t.Helper()
	p, err := New(Options{File: newFile(t), Limit: limit, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	return p, useFake(p)
}

// useFake gives a pool a fake with much room, which is the file itself.
func useFake(p *Pool) *fake {
	f := &fake{avail: 1 << 50, size: 1 << 50}
	p.back, p.copies = f, nil
	if l, ok := p.lay.(*linear); ok {
		l.owned = false
	}
	return f
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "pool"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// takeAll takes chunks for records until there are none.
func takeAll(p *Pool) (idx []int64, why format.Loss) {
	for {
		i, why := p.Take()
		if why != 0 {
			return idx, why
		}
		idx = append(idx, i)
	}
}

// TestTake empties a window from several goroutines: each chunk goes to one of them, two are left
// for blocks, and after those there is none.
func TestTake(t *testing.T) {
	p, _ := newFake(t, 0)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var got []int64
	for range 4 {
		wg.Go(func() {
			idx, why := takeAll(p)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, idx...)
			if why != format.LossWindow {
				t.Errorf("nothing left because of %v, want window", why)
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, idx := range got {
		if idx != int64(i)+1 { // chunk 0 is the file header
			t.Fatalf("chunk %d was handed out as the %dth", idx, i)
		}
	}
	if len(got) != minWindow-1-keepForBlocks {
		t.Errorf("%d chunks for records, want %d", len(got), minWindow-1-keepForBlocks)
	}
	for i := range keepForBlocks {
		if idx, why := p.TakeForBlocks(); why != 0 || idx != int64(len(got)+1+i) {
			t.Errorf("for blocks: chunk %d, loss %v", idx, why)
		}
	}
	if _, why := p.TakeForBlocks(); why != format.LossWindow {
		t.Errorf("an empty window gave a chunk for blocks (%v)", why)
	}
	if p.Bump() != minWindow || p.Bytes() != minWindow*ChunkSize || p.Low() != 0 {
		t.Errorf("bump %d, %d bytes, low %d", p.Bump(), p.Bytes(), p.Low())
	}
}

// TestLimit checks the arithmetic of a trace's limit: the chunks for records, those for blocks
// beyond that, and that not one byte more is prepared.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		bytes           int64
		records, blocks int64 // chunk 0 not counted
	}{
		{1 << 20, 7, 8},
		{1<<20 + ChunkSize - 1, 7, 8},
		{2 << 20, 23, 8},
		{32 << 20, 503, 8},
		{64 << 20, 1007, 16},
		{1 << 30, 16127, 256},
	} {
		p, f := newFake(t, c.bytes)
		var records, blocks int64
		var why format.Loss
		for why != format.LossLimit {
			var idx []int64
			idx, why = takeAll(p)
			records += int64(len(idx))
			if err := p.Extend(); err != nil {
				t.Fatal(err)
			}
		}
		if full := p.Full(); full != format.LossLimit {
			t.Errorf("limit %d: full because of %v, want limit", c.bytes, full)
		}
		for {
			if _, why = p.TakeForBlocks(); why != 0 {
				break
			}
			blocks++
		}
		if why != format.LossLimit {
			t.Errorf("limit %d: no more for blocks because of %v, want limit", c.bytes, why)
		}
		if records != c.records || blocks != c.blocks {
			t.Errorf("limit %d: %d chunks for records and %d for blocks, want %d and %d", c.bytes, records, blocks, c.records, c.blocks)
		}
		if n := len(f.extended); n > 0 && f.extended[n-1][1] > c.bytes/ChunkSize {
			t.Errorf("limit %d: prepared chunks up to %d", c.bytes, f.extended[n-1][1])
		}
		if p.Span() != c.bytes/ChunkSize*ChunkSize {
			t.Errorf("limit %d: a span of %d bytes", c.bytes, p.Span())
		}
	}
}

// TestSpacious takes the chunks that numerous blocks may have: the rest is for records and other
// blocks.
func TestSpacious(t *testing.T) {
	take := func(p *Pool) (n int64) {
		for p.Spacious() {
			if _, why := p.TakeForBlocks(); why != 0 {
				t.Fatalf("after %d chunks: spacious, and %v", n, why)
			}
			n++
		}
		return n
	}
	p, _ := newFake(t, 0)
	if n := take(p); n != minWindow-1-keepForRecords {
		t.Errorf("%d chunks of a window", n)
	}
	if got, _ := takeAll(p); len(got) != keepForRecords-keepForBlocks {
		t.Errorf("%d chunks are left for records", len(got))
	}
	if err := p.Extend(); err != nil || !p.Spacious() {
		t.Errorf("a new window is not spacious: %v", err)
	}
	p, _ = newFake(t, 4<<20)
	if n := take(p); n != minWindow-1-keepForRecords {
		t.Errorf("%d chunks of a trace with a limit", n)
	}
	if err := p.Extend(); err != nil {
		t.Fatal(err)
	}
	if n := take(p); n != 0 {
		t.Errorf("%d more chunks, of what is left to the limit", n)
	}
	p = ringPool(t, true, 4<<20, func([]int64) {})
	if n := take(p); n < 8 {
		t.Errorf("%d chunks of a small ring's first window", n)
	}
	if got, _ := takeAll(p); len(got) < 1 {
		t.Error("nothing is left for records of a small ring")
	}
	p.ShutRecords()
	if err := p.Extend(); err != nil || !p.Spacious() {
		t.Errorf("nothing for blocks when records get no more: %v", err)
	}
}

// TestReasons makes extending fail in every way and checks the reason of lost records, before and
// after extending works again.
func TestReasons(t *testing.T) {
	p, f := newFake(t, 0)
	if why := p.Full(); why != 0 {
		t.Errorf("a new pool is full because of %v", why)
	}
	takeAll(p)
	f.extendErr = errors.New("any")
	if err := p.Extend(); !errors.Is(err, f.extendErr) {
		t.Errorf("Extend: %v", err)
	}
	if _, why := p.Take(); why != format.LossIO || p.Full() != format.LossIO {
		t.Errorf("after an error lost by %v, full by %v, want io", why, p.Full())
	}
	f.extendErr = nil
	// The room that must stay free, 5 % or 1 GiB, is exact to the byte.
	for _, c := range []struct {
		size, spare int64
	}{{1 << 30, 1 << 30 / 20}, {1 << 40, 1 << 30}} {
		f.size = c.size
		f.avail = c.spare + minStep*ChunkSize - 1
		err := p.Extend()
		if !errors.Is(err, ErrNoSpace) || !IsNoSpace(err) {
			t.Errorf("%d of %d bytes free: %v, want ErrNoSpace", f.avail, f.size, err)
		}
		if _, why := p.Take(); why != format.LossSpace || p.Full() != format.LossSpace {
			t.Errorf("lost by %v, full by %v, want space", why, p.Full())
		}
	}
	f.size, f.avail = 1<<40, 1<<30+minWindow*ChunkSize
	if err := p.Extend(); err != nil {
		t.Errorf("with just enough room: %v", err)
	}
	if _, why := p.Take(); why != 0 || p.Full() != 0 {
		t.Errorf("with room again lost by %v, full by %v", why, p.Full())
	}
	f.freeErr, f.avail = errors.New("unknown"), 0
	takeAll(p)
	if err := p.Extend(); err != nil {
		t.Errorf("where the room is unknown: %v", err)
	}
	p.Shut()
	if _, why := p.Take(); why != format.LossStop {
		t.Errorf("after Shut lost by %v, want stop", why)
	}
	if _, why := p.TakeForBlocks(); why != format.LossStop {
		t.Errorf("after Shut no room for blocks because of %v, want stop", why)
	}
}

// TestStates checks that a chunk's state and its owner, which share a word, do not change each
// other, and that Close leaves the table as New expects it.
func TestStates(t *testing.T) {
	states := make([]uint32, 1<<10)
	p, f := newFake(t, 0)
	p.states = states
	states[5] = 7<<8 | Open
	for _, s := range []uint32{Sealed, Leaving, Gone} {
		if !p.Advance(5, s) || p.Advance(5, s) || p.Advance(5, Open) {
			t.Errorf("the state did not go on to %d, or went back", s)
		}
		if got := p.State(5); got != s || states[5] != 7<<8|s {
			t.Errorf("state %d became %d, word %#x", s, got, states[5])
		}
	}
	for _, idx := range []int64{-1, 1 << 10, 1 << 62, -1 << 62} {
		if got := p.State(idx); got != Free {
			t.Errorf("chunk %d, which is none, is in state %d", idx, got)
		}
	}
	for range 10 {
		p.Take()
	}
	if err := p.Close(); err != nil || f.closed != 11*ChunkSize {
		t.Errorf("closed at %d: %v", f.closed, err)
	}
	if i := slices.IndexFunc(states, func(w uint32) bool { return w != 0 }); i >= 0 {
		t.Errorf("the word of chunk %d is %#x after Close", i, states[i])
	}
}
