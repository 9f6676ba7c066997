package gotrace

import (
	"math/rand/v2"
	"testing"
)

// TestLately: lookups yield the map's values, also for goroutines that come and go and for those
// that share an entry of the cache.
func TestLately(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var l Lately[int]
	m := map[uint64]*int{}
	for n := range 100_000 {
		id := uint64(rnd.IntN(3))*latelyMost + uint64(rnd.IntN(5))
		switch rnd.IntN(4) {
		case 0:
			delete(m, id)
			l.Forget(id)
		case 1:
			m[id] = &n
			l.Forget(id)
		}
		if got := l.Of(m, id); got != m[id] {
			t.Fatalf("of goroutine %d is found %v, want %v", id, got, m[id])
		}
	}
}
