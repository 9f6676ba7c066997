package trace

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// clock turns ticks into ns from the trace's start: piecewise linear between
// knots, in integers, rounded down. Equal ticks give equal ns on every machine
// and in every reader, and later ticks never give earlier ns.
type clock struct {
	segs []segment // by t0; the first also serves what is before it
}

// segment is the stretch from t0 to the next segment's t0:
//
//	ns = n0 + floor((ticks-t0) * dn / dt)
type segment struct {
	t0, t1 int64 // [t0, t1)
	n0     int64
	dn, dt uint64
	factor uint64 // floor(dn<<56 / dt); 0 where that does not fit
}

func newSegment(t0, n0 int64, dn, dt uint64) segment {
	s := segment{t0: t0, t1: 1<<63 - 1, n0: n0, dn: dn, dt: dt}
	if dn>>8 < dt { // else the quotient has more than 64 bits
		s.factor, _ = bits.Div64(dn>>8, dn<<56, dt)
	}
	return s
}

// farAway bounds the results, so that sums of two of them fit an int64.
const farAway = 1 << 61

// nanos converts t. hint, if not nil, is the segment that the caller's last
// time was in: times come almost sorted.
func (c *clock) nanos(t int64, hint *int) int64 {
	i := 0
	if hint != nil {
		i = *hint
	}
	s := &c.segs[i]
	if t < s.t0 || t >= s.t1 {
		i = sort.Search(len(c.segs), func(k int) bool { return c.segs[k].t0 > t })
		i = max(i-1, 0)
		if hint != nil {
			*hint = i
		}
		s = &c.segs[i]
	}
	d := uint64(t - s.t0)
	if d < 1<<48 && s.factor != 0 {
		// A multiplication for the division: the factor is too small by less
		// than 1, the product by less than d>>56 < 1, so the quotient is exact
		// or one too small, and the remainder tells which.
		hi, lo := bits.Mul64(d, s.factor)
		q := hi<<8 | lo>>56
		if d*s.dn-q*s.dt >= s.dt {
			q++
		}
		return s.n0 + int64(q)
	}
	return s.slow(t)
}

// slow is nanos by division, for times before the first knot and for what only
// a corrupt trace holds.
func (s *segment) slow(t int64) int64 {
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
	return clock{[]segment{newSegment(t0, 0, 1e9, uint64(rate))}}
}

// newClock builds the clock of a trace. The knots are the header's start and
// the calibrations, by ticks, but not those that follow a knot by less than a
// tenth of a second: the slope of so short a stretch is mostly the uncertainty
// of its two readings, and the last slope is extrapolated. bad counts
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
		s := newSegment(t0, n0, uint64(n-n0), uint64(k.Ticks-t0))
		if first {
			c.segs[0], first = s, false
		} else {
			c.segs[len(c.segs)-1].t1 = t0
			c.segs = append(c.segs, s)
		}
		t0, n0 = k.Ticks, n
	}
	return c, bad
}
