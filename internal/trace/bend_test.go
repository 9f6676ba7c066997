package trace

import (
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestBend checks that a bent clock equals the old one up to told, never goes back, and equals the
// new one a period later.
func TestBend(t *testing.T) {
	const rate = 2_300_000_000
	h := format.Header{Clock: format.ClockTSC, StartTicks: 1e12, StartMono: 5e9, TickRate: rate}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var calibs []format.Calib
		old, _ := newClock(&h, nil)
		for second := int64(1); second < 12; second++ {
			// Each reading is off by up to 100 ns, the rate in the header by 10 ppm.
			calibs = append(calibs, format.Calib{Ticks: 1e12 + second*rate, Mono: 5e9 + second*1_000_010_000 + rnd.Int64N(200)})
			fresh, bad := newClock(&h, calibs)
			if bad != 0 {
				t.Fatal(bad)
			}
			told := old.nanos(1e12 + second*rate + rnd.Int64N(rate/2))
			bent := old.bend(fresh, told, rate)
			last := int64(-1)
			for ticks := int64(1e12); ticks < 1e12+(second+3)*rate; ticks += rate/200 + rnd.Int64N(1000) {
				ns := bent.nanos(ticks)
				if ns < last {
					t.Fatalf("seed %d, second %d: the clock goes back from %d to %d", seed, second, last, ns)
				}
				last = ns
				if was := old.nanos(ticks); was < told && ns != was {
					t.Fatalf("seed %d, second %d: %d was told as %d, now %d", seed, second, ticks, was, ns)
				}
				if is := fresh.nanos(ticks); ticks > 1e12+second*rate+2*rate && (ns < is-1 || ns > is+1) {
					t.Fatalf("seed %d, second %d: %d is %d, want %d", seed, second, ticks, ns, is)
				}
			}
			old = bent
		}
	}
}

// TestBendStep checks that a step is not smoothed over like a calibration.
func TestBendStep(t *testing.T) {
	h := format.Header{Clock: format.ClockTSC, StartTicks: 0, StartMono: 0, TickRate: 1e9}
	old, _ := newClock(&h, nil)
	fresh, _ := newClock(&h, []format.Calib{{Ticks: 1e9, Mono: 3e9}})
	if got := old.bend(fresh, 5e8, 1e9); got.nanos(1e9) != 3e9 {
		t.Errorf("after a step of two seconds the clock tells %d, want %d", got.nanos(1e9), int64(3e9))
	}
}
