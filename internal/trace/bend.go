package trace

import (
	"math/bits"
	"slices"
)

// maxBend is the largest correction of a clock, in ns: a larger one is a step, or a trace that
// another program wrote.
const maxBend = 1e6 // ns

// bend returns a clock that equals c up to told, and within a period reaches to, which has more
// calibrations. Until the next calibration, times are extrapolated. The calibration corrects them
// by some ns, in the first second of a recording by some µs. Without bending, a Follower that has
// delivered earlier times would deliver scopes that begin before the end of the previous one.
func (c *clock) bend(to clock, told, period int64) clock {
	last := &c.pieces[len(c.pieces)-1]
	at := last.ticksAt(told)
	now := c.nanos(at)
	if step := to.nanos(at) - now; step > maxBend || step < -maxBend {
		return to
	}
	pieces := slices.Clone(c.pieces)
	for len(pieces) > 1 && pieces[len(pieces)-1].t0 >= at {
		pieces = pieces[:len(pieces)-1]
	}
	if end := &pieces[len(pieces)-1]; end.t0 < at {
		end.endAt(at)
	} else {
		pieces = pieces[:0]
	}
	then := to.nanos(at + period)
	if then <= now {
		return to
	}
	bent := newPiece(at, now, uint64(then-now), uint64(period))
	bent.endAt(at + period)
	straight := to.pieces[len(to.pieces)-1]
	return clock{append(pieces, bent, newPiece(at+period, then, straight.dn, straight.dt))}
}

// ticksAt returns a tick from which on s gives at least ns.
func (s *piece) ticksAt(ns int64) int64 {
	if ns <= s.n0 {
		return s.t0
	}
	hi, lo := bits.Mul64(uint64(ns-s.n0), s.dt)
	if hi >= s.dn {
		return farAway
	}
	q, _ := bits.Div64(hi, lo, s.dn)
	return s.t0 + int64(min(q, farAway)) + 1
}
