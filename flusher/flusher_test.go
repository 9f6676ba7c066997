package flusher

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// newPool returns a pool, and a descriptor of its file.
func newPool(t *testing.T, heap bool) (*pool.Pool, *os.File) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "pool"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pool.New(pool.Options{File: f, Heap: heap, Limit: 1 << 30})
	if err != nil {
		if !heap {
			f.Close()
			t.Skipf("files can't be mapped here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); f.Close() })
	return p, f
}

func start(c Config) *Flusher {
	f := New(c)
	f.Start()
	return f
}

func perBacking(t *testing.T, f func(t *testing.T, heap bool)) {
	t.Run("disk", func(t *testing.T) { f(t, false) })
	t.Run("heap", func(t *testing.T) { f(t, true) })
}

// take takes n chunks, and stores its number into each.
func take(t *testing.T, p *pool.Pool, n int) (idx []int64) {
	t.Helper()
	for range n {
		i, why := p.Take()
		if why != 0 {
			t.Fatalf("no chunk because of %v", why)
		}
		atomic.StoreUint64(&p.Words(i)[0], uint64(i))
		p.Advance(i, Open)
		idx = append(idx, i)
	}
	return idx
}

func states(p *pool.Pool) (s []uint32) {
	for i := int64(1); i < p.Bump(); i++ {
		s = append(s, p.State(i))
	}
	return s
}

// TestRounds follows chunks from open to gone. No open chunk leaves, a sealed one is marked
// for one whole round before its memory is dropped, and an open chunk between others does not
// delay them.
func TestRounds(t *testing.T) {
	const o, s, l, g = Open, Sealed, Leaving, Gone
	perBacking(t, func(t *testing.T, heap bool) {
		p, _ := newPool(t, heap)
		notYet := int64(4)
		f := New(Config{Pool: p, Whole: func(idx int64) bool { return idx != notYet }})
		take(t, p, 6)
		check := func(want ...uint32) {
			t.Helper()
			if got := states(p); !slices.Equal(got, want) {
				t.Fatalf("the chunks' states are %v, want %v", got, want)
			}
		}
		f.leave()
		check(o, o, o, o, o, o)
		p.Advance(1, s)
		p.Advance(2, s)
		p.Advance(4, s) // sealed, with an incomplete record
		f.leave()
		check(l, l, o, s, o, o)
		p.Advance(5, s)
		f.leave()
		check(g, g, o, s, l, o)
		if got := f.present(); !slices.Equal(got, []int64{3, 4, 5, 6}) {
			t.Errorf("%v are not gone, want 3 to 6", got)
		}
		notYet = 0
		p.Advance(3, s)
		f.leave()
		check(g, g, l, l, g, o)
		f.leave()
		check(g, g, g, g, g, o)
		if got := f.present(); !slices.Equal(got, []int64{6}) {
			t.Errorf("%v are not gone, want 6", got)
		}
		if err := f.Err(); err != nil {
			t.Error(err)
		}
		if heap && (p.Words(1) != nil || p.Words(6) == nil) {
			t.Error("a gone chunk is in memory, or an open one is not")
		}
	})
}

// TestLeave: the file has the words that Leave wrote into chunks that have left, and not
// those of other chunks.
func TestLeave(t *testing.T) {
	perBacking(t, func(t *testing.T, heap bool) {
		p, file := newPool(t, heap)
		f := New(Config{Pool: p, Leave: func(idx int64) { p.Words(idx)[1] = 7 }})
		take(t, p, 3)
		p.Advance(1, Sealed)
		f.leave()
		p.Advance(2, Sealed)
		f.leave()
		for idx, left := range map[int64]bool{1: true, 2: false} {
			var b [pool.ChunkSize]byte
			// A heap's chunk that has not left may be missing in the file.
			if _, err := file.ReadAt(b[:], idx*pool.ChunkSize); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if got := b[8] == 7; got != left {
				t.Errorf("chunk %d has what Leave wrote: %t, want %t", idx, got, left)
			}
			if left && b[0] != byte(idx) {
				t.Errorf("chunk %d begins with %d", idx, b[0])
			}
		}
	})
}

// TestExpire: a chunk expires when it has been open for ten seconds, and not before.
func TestExpire(t *testing.T) {
	perBacking(t, func(t *testing.T, heap bool) {
		p, _ := newPool(t, heap)
		var expired []int64
		f := New(Config{Pool: p, Expire: func(idx int64) { expired = append(expired, idx) }})
		take(t, p, 2)
		now := time.Now()
		for _, c := range []struct {
			after time.Duration
			want  []int64
		}{
			{0, nil},
			{old, nil},
			{old + time.Second, []int64{1, 2}},
			{old + 2*time.Second, []int64{2}}, // chunk 1 was sealed meanwhile
			{2*old + 3*time.Second, []int64{2, 3}},
		} {
			expired = nil
			f.age(now.Add(c.after))
			if !slices.Equal(expired, c.want) {
				t.Errorf("after %v expired %v, want %v", c.after, expired, c.want)
			}
			if c.after == old+time.Second {
				p.Advance(1, Sealed)
				take(t, p, 1)
			}
		}
		if err := f.Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestFileIsUpToDate: a round updates the file with chunks that are still being written. The
// file of a heap pool is a copy, that of a mapped one is its memory.
func TestFileIsUpToDate(t *testing.T) {
	perBacking(t, func(t *testing.T, heap bool) {
		p, file := newPool(t, heap)
		f := start(Config{Pool: p, Every: time.Millisecond})
		defer f.Stop()
		idx := take(t, p, 1)[0]
		for v := uint64(1); v < 20; v++ {
			atomic.StoreUint64(&p.Words(idx)[5], v)
			var b [8]byte
			for deadline := time.Now().Add(20 * time.Second); uint64(b[0]) != v; time.Sleep(100 * time.Microsecond) {
				if _, err := file.ReadAt(b[:], idx*pool.ChunkSize+40); err != nil && err != io.EOF || time.Now().After(deadline) {
					t.Fatalf("the chunk has %d, the file %d: %v", v, b[0], err)
				}
			}
		}
	})
}

// TestStartStop: Stop joins both goroutines, at rest and while chunks come and go, and the
// window keeps up with the writer.
func TestStartStop(t *testing.T) {
	perBacking(t, func(t *testing.T, heap bool) {
		before := runtime.NumGoroutine()
		for range 20 {
			p, _ := newPool(t, heap)
			f := start(Config{Pool: p, Every: time.Millisecond})
			got := 0
			for deadline := time.Now().Add(20 * time.Second); got < 400 && time.Now().Before(deadline); {
				idx, why := p.Take()
				if why == format.LossWindow {
					runtime.Gosched()
					continue
				}
				if why != 0 {
					t.Fatalf("lost by %v: %v", why, f.Err())
				}
				got++
				p.Advance(idx, Sealed)
			}
			f.Stop()
			if got < 400 || f.Err() != nil {
				t.Fatalf("got %d chunks: %v", got, f.Err())
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines, before %d", n, before)
		}
	})
}

// TestWriteFails: a heap's chunk that can't be written keeps its state, and the error is
// reported.
func TestWriteFails(t *testing.T) {
	p, file := newPool(t, true)
	f := New(Config{Pool: p})
	take(t, p, 1)
	p.Advance(1, Sealed)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.leave()
		if p.State(1) != Leaving || p.Words(1) == nil {
			t.Fatalf("the chunk is in state %d, in memory: %t", p.State(1), p.Words(1) != nil)
		}
	}
	if err := f.Err(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the error is %v, want that the file is closed", err)
	}
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		idx  []int64
		want []run
	}{
		{nil, nil},
		{[]int64{5}, []run{{5, 6}}},
		{[]int64{1, 2, 3}, []run{{1, 4}}},
		{[]int64{1, 3, 4, 9}, []run{{1, 2}, {3, 5}, {9, 10}}},
	} {
		if got := runs(c.idx); !slices.Equal(got, c.want) {
			t.Errorf("runs(%v) = %v, want %v", c.idx, got, c.want)
		}
	}
}

// TestCost: a round's CPU time is counted if the goroutine stayed on its thread, and its wall
// time as unknown if not.
func TestCost(t *testing.T) {
	var c Cost
	runtime.LockOSThread()
	t0 := time.Now()
	c.Round(func() {
		for time.Since(t0) < 2*time.Millisecond {
		}
	})
	wall := time.Since(t0)
	runtime.UnlockOSThread()
	cpu, unknown := c.CPU()
	if cpu+unknown <= 0 || cpu > int64(wall)+int64(time.Microsecond) {
		t.Errorf("a round of %v took %d ns of CPU time, and %d unknown", wall, cpu, unknown)
	}
}

// TestAlone: Alone and a round never run at the same time.
func TestAlone(t *testing.T) {
	p, _ := newPool(t, true)
	var busy, both atomic.Int64
	work := func() {
		if busy.Add(1) > 1 {
			both.Add(1)
		}
		time.Sleep(100 * time.Microsecond)
		busy.Add(-1)
	}
	rounds := make(chan struct{}, 1000)
	f := start(Config{Pool: p, Every: time.Millisecond, Round: func(time.Time) { work(); rounds <- struct{}{} }})
	defer f.Stop()
	for len(rounds) < 20 {
		f.Alone(work)
	}
	if both.Load() > 0 {
		t.Errorf("%d times both were at work", both.Load())
	}
}

// written is a ring whose oldest chunks were written while the window was extended.
type written struct {
	Pool
	states  map[int64]uint32
	lacking int64
	retired int64
}

func (p *written) State(idx int64) uint32            { return p.states[idx] }
func (p *written) Advance(idx int64, to uint32) bool { p.states[idx] = to; return true }
func (p *written) Fresh(dst []int64) []int64         { return dst }
func (p *written) Retire(int64)                      { p.retired++ }
func (p *written) Extend() error                     { p.lacking = max(0, p.lacking-p.retired); return nil }

// TestEvictOldest: if the window lacks chunks and the oldest have been written meanwhile, it
// gets their places, and newer chunks in memory stay. Chunks being written have no place to
// give, so the next ones are dropped.
func TestEvictOldest(t *testing.T) {
	for _, c := range []struct {
		state uint32
		want  []int64
	}{{Gone, nil}, {Leaving, []int64{4, 5}}} {
		p := &written{states: map[int64]uint32{}, lacking: 2}
		var got []int64
		f := New(Config{Pool: p, Every: time.Hour, Overwriting: Overwrite(Overwriting{
			Lacking: func() int64 { return p.lacking }, Kept: func(int64) bool { return false },
			Evict: func(idx []int64) { got = append(got, idx...); p.lacking = 0 }, AtOnce: 4,
		})})
		for idx := int64(1); idx <= 8; idx++ {
			f.chunks, p.states[idx] = append(f.chunks, idx), Sealed
			if idx <= 3 {
				f.writing, p.states[idx] = append(f.writing, idx), c.state
			}
		}
		f.Overwriting.evict(f)
		if !slices.Equal(got, c.want) {
			t.Errorf("the oldest are in state %d: evicted %d, want %d", c.state, got, c.want)
		}
	}
}
