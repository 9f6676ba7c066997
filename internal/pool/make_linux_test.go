package pool

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestMade checks that, with a late flusher, callers that find no chunk prepare one, until the
// allowed memory is used up; each chunk goes to one caller, with zero memory. When their chunks are
// written out there is memory again. On a disk, and in a ring, callers prepare none.
func TestMade(t *testing.T) {
	const slots = 300
	for name, open := range map[string]func(t *testing.T) *Pool{
		"heap": func(t *testing.T) *Pool {
			p, err := New(Options{File: newFile(t), Heap: true, Memory: slots * ChunkSize})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			return p
		},
		"shm":  func(t *testing.T) *Pool { p, _ := newShmPool(t, Options{}, "", slots); return p },
		"disk": func(t *testing.T) *Pool { return newDiskPool(t, newFile(t), testLimit) },
		"ring": func(t *testing.T) *Pool {
			p, _ := newShmPool(t, Options{Ring: RingOf(64<<20, nil)}, "", slots)
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			var mu sync.Mutex
			burst := func() (all []int64) {
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						got, why := takeAll(p)
						if why != format.LossBuffer && (p.Copies() && p.Ring() == 0 || why != format.LossWindow) {
							t.Errorf("nothing left because of %v", why)
						}
						for _, idx := range got {
							w := p.Words(idx)
							for i := range w {
								if w[i] != 0 {
									t.Errorf("chunk %d is handed out with %#x in word %d", idx, w[i], i)
									break
								}
								atomic.StoreUint64(&w[i], uint64(idx))
							}
							p.Advance(idx, Sealed)
						}
						mu.Lock()
						defer mu.Unlock()
						all = append(all, got...)
					})
				}
				wg.Wait()
				return all
			}
			all := burst()
			if name == "disk" || name == "ring" {
				if p.Made() != 0 || len(all) >= minWindow {
					t.Errorf("%d chunks, %d made", len(all), p.Made())
				}
				return
			}
			// Chunk 0 and those for blocks are left. Of the callers that compete for the last ones
			// some may get none.
			if n := int64(len(all)); n > slots-1-keepForBlocks || n < slots-1-keepForBlocks-4 || p.Made() < n-minWindow {
				t.Errorf("%d chunks of %d, %d of them made", n, slots, p.Made())
			}
			live := p.Live(nil)
			slices.Sort(all)
			if slices.Sort(live); !slices.Equal(live, all) {
				t.Errorf("%d chunks are said to have been handed out, not the %d that were", len(live), len(all))
			}
			for round := range 3 {
				for _, idx := range all {
					if err := p.Drop(idx, idx+1); err != nil {
						t.Fatal(err)
					}
					p.Advance(idx, Gone)
				}
				if err := p.Extend(); err != nil {
					t.Fatal(err)
				}
				if all = burst(); len(all) < slots-8 {
					t.Errorf("round %d: %d chunks when there is room again", round, len(all))
				}
				for _, idx := range all {
					if w := p.Words(idx); w[0] != uint64(idx) || w[len(w)-1] != uint64(idx) {
						t.Fatalf("chunk %d has what is another's", idx)
					}
				}
			}
		})
	}
}
