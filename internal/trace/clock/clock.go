// Package clock converts the ticks of a trace to ns.
package clock

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// Clock converts ticks to ns from the trace's start: piecewise linear between knots, in integers,
// rounded down. Equal ticks give equal ns on every machine and in every reader, and later ticks
// never give earlier ns.
type Clock struct {
	pieces []piece // by T0; the first also covers the time before it
}

// piece covers the time from T0 to the next piece's T0:
//
//	ns = n0 + floor((ticks-T0) * dn / dt)
type piece struct {
	T0, t1 int64 // [T0, t1)
	n0     int64
	dn, dt uint64
	factor uint64 // floor(dn<<56 / dt)
	Near   uint64 // times less than Near after T0 are converted by factor
}

func newPiece(t0, n0 int64, dn, dt uint64) piece {
	s := piece{T0: t0, t1: 1<<63 - 1, n0: n0, dn: dn, dt: dt}
	if dn>>8 < dt { // else the factor has more than 64 bits
		s.factor, _ = bits.Div64(dn>>8, dn<<56, dt)
		s.Near = 1 << 48
	}
	return s
}

// endAt ends the piece where the next one begins.
func (s *piece) endAt(t1 int64) {
	s.t1 = t1
	s.Near = min(s.Near, uint64(t1-s.T0))
}

// EndsAs reports whether c and d give the same times behind their last knots.
func (c *Clock) EndsAs(d *Clock) bool { return c.last() == d.last() }

func (c *Clock) last() piece { return c.pieces[len(c.pieces)-1] }

// farAway bounds the results, so that sums of two of them fit an int64.
const farAway = 1 << 61

// Nanos converts t.
func (c *Clock) Nanos(t int64) int64 {
	i := sort.Search(len(c.pieces), func(k int) bool { return c.pieces[k].T0 > t })
	return c.pieces[max(i-1, 0)].Nanos(t)
}

func (s *piece) Nanos(t int64) int64 {
	if d := uint64(t - s.T0); d < s.Near {
		return s.Quick(d)
	}
	return s.slow(t)
}

// Quick multiplies where slow divides. The factor is too small by less than 1, the product by less
// than d>>56 < 1. So the quotient is exact or one too small, which the remainder shows.
func (s *piece) Quick(d uint64) int64 {
	hi, lo := bits.Mul64(d, s.factor)
	q := hi<<8 | lo>>56
	if d*s.dn-q*s.dt >= s.dt {
		q++
	}
	return s.n0 + int64(q)
}

// Converter converts times that come almost sorted: it keeps the piece of the last one.
type Converter struct {
	piece
	c *Clock
}

// NewConverter returns a converter of the times of c.
func NewConverter(c *Clock) Converter { return Converter{c.pieces[0], c} }

// Nanos converts t.
func (v *Converter) Nanos(t int64) int64 {
	if d := uint64(t - v.T0); d < v.Near {
		return v.Quick(d)
	}
	return v.far(t)
}

// far finds the piece of t.
func (v *Converter) far(t int64) int64 {
	i := sort.Search(len(v.c.pieces), func(k int) bool { return v.c.pieces[k].T0 > t })
	v.piece = v.c.pieces[max(i-1, 0)]
	return v.piece.Nanos(t)
}

// slow is nanos by division, for times before the first knot and for times that only a corrupt
// trace has.
func (s *piece) slow(t int64) int64 {
	neg := t < s.T0
	d := uint64(t - s.T0)
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

// AtRate counts from t0 at a fixed rate.
func AtRate(t0, rate int64) Clock {
	return Clock{[]piece{newPiece(t0, 0, 1e9, uint64(rate))}}
}

// New builds the clock of a trace. The knots are the header's start and the calibrations, by
// ticks. A calibration less than 0.1 s after a knot is not used: the slope of so short a stretch is
// mostly the uncertainty of its two readings, and the last slope is extrapolated. bad counts
// calibrations that go backwards; they are left out.
func New(h *format.Header, calibs []format.Calib) (c Clock, bad int64) {
	c = AtRate(h.StartTicks, h.TickRate)
	if h.Clock == format.ClockMonotonic {
		return AtRate(h.StartTicks, 1e9), 0
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

// Ticks returns the first tick that is not before ns.
func (c *Clock) Ticks(ns int64) int64 {
	from, to := int64(0), int64(format.MaxTicks)
	for from < to {
		if mid := (from + to) / 2; c.Nanos(mid) < ns {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}

// maxBend is the largest correction of a clock, in ns: a larger one is a step, or a trace that
// another program wrote.
const maxBend = 1e6 // ns

// Bend returns a clock that equals c up to delivered, and within a period reaches to, which has more
// calibrations. Until the next calibration, times are extrapolated. The calibration corrects them
// by some ns, in the first second of a recording by some µs. Without bending, a Follower that has
// delivered earlier times would deliver scopes that begin before the end of the previous one.
func (c *Clock) Bend(to Clock, delivered, period int64) Clock {
	last := &c.pieces[len(c.pieces)-1]
	at := last.ticksAt(delivered)
	now := c.Nanos(at)
	if step := to.Nanos(at) - now; step > maxBend || step < -maxBend {
		return to
	}
	pieces := slices.Clone(c.pieces)
	for len(pieces) > 1 && pieces[len(pieces)-1].T0 >= at {
		pieces = pieces[:len(pieces)-1]
	}
	if end := &pieces[len(pieces)-1]; end.T0 < at {
		end.endAt(at)
	} else {
		pieces = pieces[:0]
	}
	then := to.Nanos(at + period)
	if then <= now {
		return to
	}
	bent := newPiece(at, now, uint64(then-now), uint64(period))
	bent.endAt(at + period)
	straight := to.pieces[len(to.pieces)-1]
	return Clock{append(pieces, bent, newPiece(at+period, then, straight.dn, straight.dt))}
}

// ticksAt returns a tick from which on s gives at least ns.
func (s *piece) ticksAt(ns int64) int64 {
	if ns <= s.n0 {
		return s.T0
	}
	hi, lo := bits.Mul64(uint64(ns-s.n0), s.dt)
	if hi >= s.dn {
		return farAway
	}
	q, _ := bits.Div64(hi, lo, s.dn)
	return s.T0 + int64(min(q, farAway)) + 1
}
