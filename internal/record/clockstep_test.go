//go:build !scope_off

package record

import (
	"testing"

	"github.com/scopeview/scopeview/internal/sys"
)

// TestStepped passes readings a second apart, of a counter of 2.5 GHz.
func TestStepped(t *testing.T) {
	const second, rate = 1_000_000_000, 2_500_000_000
	for _, c := range []struct {
		name  string
		ticks []int64 // between the readings
		want  []bool
	}{
		{"steady", []int64{rate, rate, rate}, []bool{false, false, false}},
		{"within 40 ppm", []int64{rate, rate + rate/25000, rate}, []bool{false, false, false}},
		{"another rate, reported once", []int64{rate, rate + rate/1000, rate + rate/1000, rate + rate/1000}, []bool{false, true, false, false}},
		{"a step forward", []int64{rate, 3 * rate, rate, rate}, []bool{false, true, false, false}},
		{"a step back", []int64{rate, -rate, rate, rate}, []bool{false, true, false, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{rate: rate}
			now := sys.Reading{Ticks: 1 << 40, Mono: 1 << 40, Bracket: 80}
			r.stepped(now)
			r.last = now
			for i, d := range c.ticks {
				now.Ticks += d
				now.Mono += second
				if got := r.stepped(now); got != c.want[i] {
					t.Errorf("reading %d: stepped is %v, want %v", i+1, got, c.want[i])
				}
				r.last = now
			}
		})
	}
}
