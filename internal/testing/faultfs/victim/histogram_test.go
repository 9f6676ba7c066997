//go:build linux

package victim

import (
	"testing"
	"time"
)

// TestHistogram checks that a time is counted in a bucket that is at most an eighth
// wide, and quantiles against times that are known.
func TestHistogram(t *testing.T) {
	for ns := uint64(1); ns < 1<<40; ns += 1 + ns/7 {
		b := bucket(ns)
		if upper(b) < ns || b > 0 && upper(b-1) >= ns || upper(b)-ns > ns/8 {
			t.Fatalf("%d ns are in bucket %d, up to %d", ns, b, upper(b))
		}
	}
	var h Histogram
	for range 9989 {
		h[bucket(100)]++
	}
	for range 10 {
		h[bucket(2000)]++
	}
	before := h
	h[bucket(1e9)]++
	for _, c := range []struct {
		p        float64
		from, to time.Duration
	}{{.5, 100, 112}, {.99, 100, 112}, {.999, 2000, 2250}, {1, 1e9, 1125e6}} {
		if got := h.At(c.p); got < c.from || got > c.to {
			t.Errorf("of %v are at most %v, want %v to %v", c.p, got, c.from, c.to)
		}
	}
	if h.N() != 10_000 || h.Over(time.Microsecond) != 11 || h.Sub(&before).N() != 1 || h.Sub(&before).At(.5) < 1e9 {
		t.Errorf("%v", &h)
	}
}
