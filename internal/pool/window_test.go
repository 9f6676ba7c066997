package pool

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// TestWindow moves the bump at a rate and checks the window that Extend keeps: 0.1 s of it, at
// least 4 MiB and at most 64 MiB.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name             string
		window           int64 // before, in chunks
		used             int64 // chunks in the last second
		want             int64
		wantLess, wantUp int64 // allowed on a slow machine
	}{
		{"idle", minWindow, 0, minWindow, 0, 0},
		{"idle again", 400, 0, 300, 0, 0},
		{"idle for long", minWindow + 1, 0, minWindow, 0, 0},
		{"slow", minWindow, 100, minWindow, 0, 0},
		{"fast", minWindow, 5000, 500, 100, 1},
		{"slower", 1000, 5000, 750, 0, 0},
		{"faster than can be", minWindow, 1 << 20, maxWindow, 0, 0},
	} {
		p, f := newFake(t, 0)
		p.window = c.window
		p.next.Store(c.used)
		p.used = 0
		p.end.Store(c.used)
		p.lay.(*linear).unprepared.Store(c.used)
		p.asked = time.Now().Add(-time.Second)
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
		if p.window < c.want-c.wantLess || p.window > c.want+c.wantUp {
			t.Errorf("%s: %d chunks in a second, the window was %d and is %d, want %d", c.name, c.used, c.window, p.window, c.want)
		}
		end := c.used
		for _, e := range f.extended {
			if e[0] != end || e[1]-e[0] > maxStep || e[1] <= e[0] {
				t.Errorf("%s: extended from %d to %d, the end was at %d", c.name, e[0], e[1], end)
			}
			end = e[1]
		}
		if end != c.used+p.window || p.end.Load() != end {
			t.Errorf("%s: prepared up to %d, the end is %d, want %d", c.name, end, p.end.Load(), c.used+p.window)
		}
	}
}

// TestSmallSteps checks that the window is not extended by system calls for a chunk or two, and
// that the last chunks below the limit are prepared nevertheless.
func TestSmallSteps(t *testing.T) {
	p, f := newFake(t, 0)
	p.asked = time.Now().Add(-time.Second) // or the rate looks like a burst
	for range minStep - 2 {
		p.Take()
	}
	if err := p.Extend(); err != nil || len(f.extended) != 0 {
		t.Errorf("%d chunks used, extended %v: %v", p.Bump(), f.extended, err)
	}
	p.asked = time.Now().Add(-time.Second)
	for range 2 {
		p.Take()
	}
	if err := p.Extend(); err != nil || len(f.extended) != 1 {
		t.Errorf("%d chunks used, extended %v: %v", p.Bump(), f.extended, err)
	}
	const limit = minWindow + 3
	p, f = newFake(t, limit*ChunkSize)
	for range minStep {
		p.Take()
	}
	if err := p.Extend(); err != nil || p.end.Load() != limit {
		t.Errorf("prepared up to %d, the limit is %d: %v (%v)", p.end.Load(), limit, err, f.extended)
	}
}

// TestWake checks when the flusher is woken: when half of the window is used,
// once per 16 MiB, and when there is nothing left.
func TestWake(t *testing.T) {
	woken := func(p *Pool) bool {
		select {
		case <-p.Wake():
			return true
		default:
			return false
		}
	}
	p, _ := newFake(t, 0)
	at := int64(-1)
	for at < 0 {
		idx, why := p.Take()
		if why != 0 {
			t.Fatalf("not woken before the window was empty")
		}
		if woken(p) {
			at = idx
		}
	}
	if at != minWindow/2 {
		t.Errorf("woken by chunk %d, want %d", at, minWindow/2)
	}
	for p.Bump() < minWindow-keepForBlocks {
		p.Take()
	}
	woken(p)
	if p.Take(); !woken(p) {
		t.Error("not woken by a writer that found nothing")
	}

	p, _ = newFake(t, 0)
	p.window = maxWindow
	if err := p.Extend(); err != nil {
		t.Fatal(err)
	}
	at = -1
	for at < 0 {
		idx, why := p.Take()
		if why == format.LossWindow {
			t.Fatal("not woken")
		}
		if woken(p) {
			at = idx
		}
	}
	if at != wakeEvery {
		t.Errorf("woken by chunk %d of a long window, want %d", at, wakeEvery)
	}
}

// TestLow checks the low-water mark of the window.
func TestLow(t *testing.T) {
	p, _ := newFake(t, 0)
	if want := int64(minWindow-1) * ChunkSize; p.Low() != want {
		t.Errorf("at first %d bytes, want %d", p.Low(), want)
	}
	for range 20 {
		p.Take()
	}
	want := int64(minWindow-21) * ChunkSize
	if p.Low() != want {
		t.Errorf("after 20 chunks %d bytes, want %d", p.Low(), want)
	}
	if err := p.Extend(); err != nil {
		t.Fatal(err)
	}
	p.Take()
	if p.Low() != want {
		t.Errorf("after the window grew again %d bytes, want %d still", p.Low(), want)
	}
}

// TestG36Wake makes records find no chunk: the flusher is woken once, however many they are, and
// again if there were chunks in between. The reason is available at once, and is that of the
// flusher's last attempt.
func TestG36Wake(t *testing.T) {
	var dry atomic.Uint32
	dry.Store(99) // left by the last pool
	p, err := New(Options{File: newFile(t), Heap: true, Dry: &dry})
	if err != nil {
		t.Fatal(err)
	}
	f := useFake(p)
	wakes := func() (n int) {
		for range 100 {
			if _, why := p.Take(); why != p.Dry() || why == 0 {
				t.Errorf("lost by %v, Dry returns %v", why, p.Dry())
			}
			select {
			case <-p.Wake():
				n++
			default:
			}
		}
		return n
	}
	for round := range 3 {
		if p.Dry() != 0 || p.Short() {
			t.Fatalf("round %d: there is room, and Dry returns %v", round, p.Dry())
		}
		for p.Bump() < p.end.Load()-keepForBlocks {
			p.Take()
		}
		select {
		case <-p.Wake(): // signalled by the takes
		default:
		}
		if n := wakes(); n != 1 || p.Dry() != format.LossWindow || !p.Short() {
			t.Errorf("round %d: woken %d times, Dry returns %v", round, n, p.Dry())
		}
		if _, why := p.TakeForBlocks(); why != 0 {
			t.Errorf("round %d: nothing for a block: %v", round, why)
		}
		<-p.Wake() // signalled by the block, for the last half
		f.extendErr = errors.New("any")
		if err := p.Extend(); !errors.Is(err, f.extendErr) || p.Dry() != format.LossIO {
			t.Errorf("round %d: after an error Dry returns %v: %v", round, p.Dry(), err)
		}
		if n := wakes(); n != 0 {
			t.Errorf("round %d: woken %d times after an error", round, n)
		}
		f.extendErr = nil
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
	}
	p.limit, p.spare = p.Bump(), 0
	if n := wakes(); n != 0 || p.Dry() != format.LossLimit || p.Short() {
		t.Errorf("at the limit woken %d times, Dry returns %v", n, p.Dry())
	}
	p.Shut()
	p.ShutRecords()
	if _, why := p.Take(); why != format.LossStop {
		t.Errorf("after Shut lost by %v", why)
	}
}
