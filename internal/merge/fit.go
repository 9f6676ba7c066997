package merge

import (
	"cmp"
	"math"
	"slices"
)

// maxDrift is the largest relative difference of two clocks' rates: quartz differs by less.
const maxDrift = 100e-6

// point is a bound, at time t of one clock, of the difference d to the other.
type point struct{ t, d float64 }

// fit is a line between bounds: add + slope × t, added to one clock, gives the other.
type fit struct {
	add, slope float64
	err        float64 // its largest error; if violated, half of the bounds' overlap
	violated   bool    // no line is between all bounds
}

// bounds limit lines: these lie above all lows and below all highs. Only the points of both that
// some line can touch are kept.
type bounds struct{ lows, highs []point }

// fitted returns the line that is farthest from all bounds. Its error is the largest distance,
// between two times, of other lines within the bounds and no steeper than maxDrift. A line without
// drift is preferred if it has at least half the room, since most clocks have almost no drift.
func fitted(lows, highs []point, from, to float64) fit {
	b := bounds{hull(lows, 1), hull(highs, -1)}
	best := highest(b.room, -maxDrift, maxDrift)
	if still := b.room(0); still >= 0 && still >= b.room(best)/2 {
		best = 0
	}
	f := fit{slope: best, add: (b.low(best) + b.high(best)) / 2}
	if room := b.room(best); room < 0 {
		f.violated, f.err = true, -room/2
		return f
	}
	// The possible slopes lie around it: room is concave.
	least, most := b.last(best, -maxDrift), b.last(best, maxDrift)
	for _, t := range []float64{from, to} {
		up := func(s float64) float64 { return b.high(s) + s*t }
		down := func(s float64) float64 { return -b.low(s) - s*t }
		at := f.add + f.slope*t
		f.err = max(f.err, up(highest(up, least, most))-at, down(highest(down, least, most))+at)
	}
	return f
}

// low and high are the limits of add for a line of a slope.
func (b *bounds) low(slope float64) float64 {
	most := math.Inf(-1)
	for _, p := range b.lows {
		most = max(most, p.d-slope*p.t)
	}
	return most
}

func (b *bounds) high(slope float64) float64 {
	least := math.Inf(1)
	for _, p := range b.highs {
		least = min(least, p.d-slope*p.t)
	}
	return least
}

// room is high less low; below 0 no line of that slope is possible.
func (b *bounds) room(slope float64) float64 { return b.high(slope) - b.low(slope) }

// last returns the last slope, from a possible one towards limit, up to which all are possible.
func (b *bounds) last(possible, limit float64) float64 {
	if b.room(limit) >= 0 {
		return limit
	}
	for range 60 {
		if mid := (possible + limit) / 2; b.room(mid) >= 0 {
			possible = mid
		} else {
			limit = mid
		}
	}
	return possible
}

// highest returns the argument at which a concave function is highest.
func highest(f func(float64) float64, from, to float64) float64 {
	for range 100 {
		a, b := from+(to-from)/3, to-(to-from)/3
		if f(a) < f(b) {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// hull returns the points that a line above all of them can touch (side 1), or one below
// all of them (side −1), by time.
func hull(points []point, side float64) (kept []point) {
	points = slices.SortedFunc(slices.Values(points), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(b.d*side, a.d*side))
	})
	for i, p := range points {
		if i > 0 && p.t == points[i-1].t {
			continue
		}
		for len(kept) > 1 {
			a, b := kept[len(kept)-2], kept[len(kept)-1]
			if side*((b.d-a.d)*(p.t-a.t)-(p.d-a.d)*(b.t-a.t)) > 0 {
				break
			}
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, p)
	}
	return kept
}
