package pool

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkTake hands out chunks of a backing that does nothing, one by one.
func BenchmarkTake(b *testing.B) {
	for _, ring := range []bool{false, true} {
		b.Run(map[bool]string{false: "linear", true: "ring"}[ring], func(b *testing.B) {
			p := benchPool(b, ring)
			var fresh []int64
			b.ResetTimer()
			for range b.N {
				if _, why := p.Take(); why == 0 {
					continue
				}
				if ring {
					fresh = p.Fresh(fresh[:0])
					for _, idx := range fresh {
						p.Retire(idx)
					}
				}
				if err := p.Extend(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchPool(b *testing.B, ring bool) *Pool {
	f, err := os.Create(filepath.Join(b.TempDir(), "pool"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	o := Options{File: f, Heap: true}
	if ring {
		o.Ring = RingOf(64<<20, nil)
	}
	p, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	useFake(p) // as if the flusher were in time
	return p
}
