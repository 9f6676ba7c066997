package trace

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// exact converts as docs/format.md specifies, in big integers.
func (s *piece) exact(t int64) int64 {
	n := new(big.Int).Mul(big.NewInt(t-s.t0), new(big.Int).SetUint64(s.dn))
	q := new(big.Int).Div(n, new(big.Int).SetUint64(s.dt)) // Euclidean: rounds down for dt > 0
	q.Add(q, big.NewInt(s.n0))
	if !q.IsInt64() {
		return farAway
	}
	return q.Int64()
}

func TestClockExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		dt := 1 + rnd.Uint64N(1<<rnd.UintN(60))
		dn := 1 + rnd.Uint64N(1<<rnd.UintN(60))
		s := newPiece(rnd.Int64N(1<<rnd.UintN(60)+1), rnd.Int64N(1<<40), dn, dt)
		for range 5 {
			at := rnd.Int64N(1<<rnd.UintN(60) + 1)
			if rnd.IntN(2) == 0 {
				at = s.t0 + rnd.Int64N(1<<50)
			}
			got := s.nanos(at)
			if want := s.exact(at); got != want && want < farAway/2 && want > -farAway/2 {
				t.Fatalf("%+v: %d ticks are %d ns, want %d", s, at, got, want)
			}
		}
	}
}

// TestClockMonotonic checks that later ticks never give earlier ns, across the knots too, and that
// a converter equals the clock, in any order of calls.
func TestClockMonotonic(t *testing.T) {
	h := format.Header{Clock: format.ClockTSC, StartTicks: 1e9, StartMono: 777, TickRate: 2_999_999_999}
	var calibs []format.Calib
	rnd := rand.New(rand.NewPCG(3, 4))
	ticks, mono := h.StartTicks, h.StartMono
	for range 50 {
		ticks += 3e8 + rnd.Int64N(6e9)
		mono += 1e8 + rnd.Int64N(2e9)
		calibs = append(calibs, format.Calib{Ticks: ticks, Mono: mono})
	}
	rnd.Shuffle(len(calibs), func(i, j int) { calibs[i], calibs[j] = calibs[j], calibs[i] })
	c, bad := newClock(&h, calibs)
	if bad != 0 || len(c.pieces) != 50 {
		t.Fatalf("%d pieces, %d bad", len(c.pieces), bad)
	}
	v := newConverter(&c)
	var times []int64
	for at := int64(0); at < ticks+2e10; at += rnd.Int64N(1e7) {
		times = append(times, at)
	}
	for _, s := range c.pieces {
		times = append(times, s.t0-1, s.t0, s.t0+1)
	}
	at := map[int64]int64{}
	for _, x := range times {
		at[x] = v.nanos(x)
		if n := c.nanos(x); n != at[x] {
			t.Fatalf("%d ticks are %d and %d ns", x, at[x], n)
		}
	}
	last := int64(-1 << 62)
	for x := range int64(1000) {
		n := c.nanos(calibs[0].Ticks - 500 + x)
		if n < last {
			t.Fatalf("%d ns after %d", n, last)
		}
		last = n
	}
	for _, k := range calibs {
		if got := c.nanos(k.Ticks); got != k.Mono-h.StartMono {
			t.Errorf("at a calibration: %d ns, want %d", got, k.Mono-h.StartMono)
		}
	}
}

func TestNewClock(t *testing.T) {
	h := format.Header{Clock: format.ClockTSC, StartTicks: 1000, StartMono: 100, TickRate: 1000}
	for _, tc := range []struct {
		name   string
		calibs []format.Calib
		pieces int
		bad    int64
	}{
		{"none", nil, 1, 0},
		{"too near to the start", []format.Calib{{Ticks: 1099, Mono: 200}}, 1, 0},
		{"far enough", []format.Calib{{Ticks: 1100, Mono: 200}}, 1, 0},
		{"two", []format.Calib{{Ticks: 2000, Mono: 200}, {Ticks: 3000, Mono: 300}}, 2, 0},
		{"near to each other", []format.Calib{{Ticks: 2000, Mono: 200}, {Ticks: 2099, Mono: 300}}, 1, 0},
		{"backwards", []format.Calib{{Ticks: 2000, Mono: 200}, {Ticks: 3000, Mono: 150}}, 1, 1},
		{"standing", []format.Calib{{Ticks: 2000, Mono: 200}, {Ticks: 3000, Mono: 200}}, 1, 1},
		{"before the start", []format.Calib{{Ticks: 500, Mono: 200}}, 1, 0},
		{"too far", []format.Calib{{Ticks: 2000, Mono: 1<<63 - 1}}, 1, 1},
		{"overflow", []format.Calib{{Ticks: 2000, Mono: -1 << 63}}, 1, 1},
	} {
		c, bad := newClock(&h, tc.calibs)
		if len(c.pieces) != tc.pieces || bad != tc.bad {
			t.Errorf("%s: %d pieces, %d bad; want %d and %d", tc.name, len(c.pieces), bad, tc.pieces, tc.bad)
		}
	}
	h.Clock = format.ClockMonotonic
	if c, _ := newClock(&h, []format.Calib{{Ticks: 5000, Mono: 1}}); c.nanos(1234) != 234 || c.nanos(999) != -1 {
		t.Error("the monotonic clock's ticks are not ns")
	}
}
