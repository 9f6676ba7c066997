package clock

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// exact converts as docs/format.md specifies, in big integers.
func (s *piece) exact(t int64) int64 {
	n := new(big.Int).Mul(big.NewInt(t-s.T0), new(big.Int).SetUint64(s.dn))
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
				at = s.T0 + rnd.Int64N(1<<50)
			}
			got := s.Nanos(at)
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
	c, bad := New(&h, calibs)
	if bad != 0 || len(c.pieces) != 50 {
		t.Fatalf("%d pieces, %d bad", len(c.pieces), bad)
	}
	v := NewConverter(&c)
	var times []int64
	for at := int64(0); at < ticks+2e10; at += rnd.Int64N(1e7) {
		times = append(times, at)
	}
	for _, s := range c.pieces {
		times = append(times, s.T0-1, s.T0, s.T0+1)
	}
	at := map[int64]int64{}
	for _, x := range times {
		at[x] = v.Nanos(x)
		if n := c.Nanos(x); n != at[x] {
			t.Fatalf("%d ticks are %d and %d ns", x, at[x], n)
		}
	}
	last := int64(-1 << 62)
	for x := range int64(1000) {
		n := c.Nanos(calibs[0].Ticks - 500 + x)
		if n < last {
			t.Fatalf("%d ns after %d", n, last)
		}
		last = n
	}
	for _, k := range calibs {
		if got := c.Nanos(k.Ticks); got != k.Mono-h.StartMono {
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
		c, bad := New(&h, tc.calibs)
		if len(c.pieces) != tc.pieces || bad != tc.bad {
			t.Errorf("%s: %d pieces, %d bad; want %d and %d", tc.name, len(c.pieces), bad, tc.pieces, tc.bad)
		}
	}
	h.Clock = format.ClockMonotonic
	if c, _ := New(&h, []format.Calib{{Ticks: 5000, Mono: 1}}); c.Nanos(1234) != 234 || c.Nanos(999) != -1 {
		t.Error("the monotonic clock's ticks are not ns")
	}
}

// TestBend checks that a bent clock equals the old one up to delivered, never goes back, and equals the
// new one a period later.
func TestBend(t *testing.T) {
	const rate = 2_300_000_000
	h := format.Header{Clock: format.ClockTSC, StartTicks: 1e12, StartMono: 5e9, TickRate: rate}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var calibs []format.Calib
		old, _ := New(&h, nil)
		for second := int64(1); second < 12; second++ {
			// Each reading is off by up to 100 ns, the rate in the header by 10 ppm.
			calibs = append(calibs, format.Calib{Ticks: 1e12 + second*rate, Mono: 5e9 + second*1_000_010_000 + rnd.Int64N(200)})
			fresh, bad := New(&h, calibs)
			if bad != 0 {
				t.Fatal(bad)
			}
			delivered := old.Nanos(1e12 + second*rate + rnd.Int64N(rate/2))
			bent := old.Bend(fresh, delivered, rate)
			last := int64(-1)
			for ticks := int64(1e12); ticks < 1e12+(second+3)*rate; ticks += rate/200 + rnd.Int64N(1000) {
				ns := bent.Nanos(ticks)
				if ns < last {
					t.Fatalf("seed %d, second %d: the clock goes back from %d to %d", seed, second, last, ns)
				}
				last = ns
				if was := old.Nanos(ticks); was < delivered && ns != was {
					t.Fatalf("seed %d, second %d: %d was delivered as %d, now %d", seed, second, ticks, was, ns)
				}
				if is := fresh.Nanos(ticks); ticks > 1e12+second*rate+2*rate && (ns < is-1 || ns > is+1) {
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
	old, _ := New(&h, nil)
	fresh, _ := New(&h, []format.Calib{{Ticks: 1e9, Mono: 3e9}})
	if got := old.Bend(fresh, 5e8, 1e9); got.Nanos(1e9) != 3e9 {
		t.Errorf("after a step of two seconds the clock returns %d, want %d", got.Nanos(1e9), int64(3e9))
	}
}
