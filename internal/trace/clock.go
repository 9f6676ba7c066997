package trace

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// clock converts ticks to ns from the trace's start: piecewise linear between knots, in integers,
// rounded down. Equal ticks give equal ns on every machine and in every reader, and later ticks
// never give earlier ns.
type clock struct {
	pieces []piece // by t0; the first also covers the time before it
}

// piece covers the time from t0 to the next piece's t0:
//
//	ns = n0 + floor((ticks-t0) * dn / dt)
type piece struct {
	t0, t1 int64 // [t0, t1)
	n0     int64
	dn, dt uint64
	factor uint64 // floor(dn<<56 / dt)
	near   uint64 // times less than near after t0 are converted by factor
}

func newPiece(t0, n0 int64, dn, dt uint64) piece {
	s := piece{t0: t0, t1: 1<<63 - 1, n0: n0, dn: dn, dt: dt}
	if dn>>8 < dt { // else the factor has more than 64 bits
		s.factor, _ = bits.Div64(dn>>8, dn<<56, dt)
		s.near = 1 << 48
	}
	return s
}

// endAt ends the piece where the next one begins.
func (s *piece) endAt(t1 int64) {
	s.t1 = t1
	s.near = min(s.near, uint64(t1-s.t0))
}

func (c *clock) last() piece { return c.pieces[len(c.pieces)-1] }

// farAway bounds the results, so that sums of two of them fit an int64.
const farAway = 1 << 61

// nanos converts t.
func (c *clock) nanos(t int64) int64 {
	i := sort.Search(len(c.pieces), func(k int) bool { return c.pieces[k].t0 > t })
	return c.pieces[max(i-1, 0)].nanos(t)
}

func (s *piece) nanos(t int64) int64 {
	if d := uint64(t - s.t0); d < s.near {
		return s.quick(d)
	}
	return s.slow(t)
}

// quick multiplies where slow divides. The factor is too small by less than 1, the product by less
// than d>>56 < 1. So the quotient is exact or one too small, which the remainder shows.
func (s *piece) quick(d uint64) int64 {
	hi, lo := bits.Mul64(d, s.factor)
	q := hi<<8 | lo>>56
	if d*s.dn-q*s.dt >= s.dt {
		q++
	}
	return s.n0 + int64(q)
}

// converter converts times that come almost sorted: it keeps the piece of the last one.
type converter struct {
	piece
	c *clock
}

func newConverter(c *clock) converter { return converter{c.pieces[0], c} }

func (v *converter) nanos(t int64) int64 {
	if d := uint64(t - v.t0); d < v.near {
		return v.quick(d)
	}
	return v.far(t)
}

// far finds the piece of t.
func (v *converter) far(t int64) int64 {
	i := sort.Search(len(v.c.pieces), func(k int) bool { return v.c.pieces[k].t0 > t })
	v.piece = v.c.pieces[max(i-1, 0)]
	return v.piece.nanos(t)
}

// slow is nanos by division, for times before the first knot and for times that only a corrupt
// trace has.
func (s *piece) slow(t int64) int64 {
	neg := t < s.t0
	d := uint64(t - s.t0)
	if neg {
		d = -d
	}
	hi, lo := bits.Mul64(d, s.dn)
	if hi >= s.dt {
		if neg {
			return -farAway
		}
		return farAway
	}
	q, r := bits.Div64(hi, lo, s.dt)
	if neg && r != 0 {
		q++
	}
	if q > farAway {
		q = farAway
	}
	if neg {
		return s.n0 - int64(q)
	}
	return min(s.n0+int64(q), farAway)
}

// rateClock counts from t0 at a fixed rate.
func rateClock(t0, rate int64) clock {
	return clock{[]piece{newPiece(t0, 0, 1e9, uint64(rate))}}
}

// newClock builds the clock of a trace. The knots are the header's start and the calibrations, by
// ticks. A calibration less than 0.1 s after a knot is not used: the slope of so short a stretch is
// mostly the uncertainty of its two readings, and the last slope is extrapolated. bad counts
// calibrations that go backwards; they are left out.
func newClock(h *format.Header, calibs []format.Calib) (c clock, bad int64) {
	c = rateClock(h.StartTicks, h.TickRate)
	if h.Clock == format.ClockMonotonic {
		return rateClock(h.StartTicks, 1e9), 0
	}
	calibs = slices.Clone(calibs)
	slices.SortStableFunc(calibs, func(a, b format.Calib) int { return cmp.Compare(a.Ticks, b.Ticks) })
	least := max(h.TickRate/10, 1)
	t0, n0 := h.StartTicks, int64(0)
	first := true
	for _, k := range calibs {
		if k.Ticks-t0 < least {
			continue
		}
		n := k.Mono - h.StartMono
		if k.Mono < h.StartMono || n <= n0 || n >= farAway {
			bad++
			continue
		}
		s := newPiece(t0, n0, uint64(n-n0), uint64(k.Ticks-t0))
		if first {
			c.pieces[0], first = s, false
		} else {
			c.pieces[len(c.pieces)-1].endAt(t0)
			c.pieces = append(c.pieces, s)
		}
		t0, n0 = k.Ticks, n
	}
	return c, bad
}
