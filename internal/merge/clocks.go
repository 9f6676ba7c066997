package merge

import (
	"math"
	"slices"
)

// sameWithin is the largest difference between the wall clocks of two inputs of one monotonic
// clock, in ns: one may have been set between their starts.
const sameWithin = int64(1e9)

// sameReading is the largest difference between two inputs about one moment of one monotonic clock,
// in ns: each has calibrations of its own.
const sameReading = int64(100e3)

// sameBoot reports whether two inputs seem to be of one boot of one machine.
func (in *input) sameBoot(o *input) bool {
	if in.boot != "" && o.boot != "" {
		return in.boot == o.boot
	}
	return in.host != "" && in.host == o.host
}

// sameClock reports whether two inputs seem to have one monotonic clock. The same boot is not
// enough: a time namespace has a clock of its own, and so has each copy of a machine resumed from
// one snapshot. Their wall clocks differ, unless they were not set since.
func (in *input) sameClock(o *input) bool {
	return in.sameBoot(o) && in.least-o.most < sameWithin && o.least-in.most < sameWithin
}

// tally counts the pairs of requests and callers of two inputs that seem to have one clock.
type tally struct {
	fit   int   // the request lies within its caller
	early int   // the request begins before its caller: impossible by one clock
	late  int   // it ends after its caller, possible if the caller does not wait
	most  int64 // ns by which a request is outside its caller
}

// refuted reports whether the two inputs can't have one clock.
func (y *tally) refuted() bool { return y.early > y.fit }

// contradicted reports whether the clock is in doubt.
func (y *tally) contradicted() bool { return y.early > 0 || y.fit == 0 && y.late > 0 }

// tallies has the tallies by the numbers of the two inputs, the smaller first.
type tallies map[[2]int]*tally

func (m tallies) of(a, b *input) *tally {
	if y := m[[2]int{min(a.place, b.place), max(a.place, b.place)}]; y != nil {
		return y
	}
	return &tally{}
}

// compare uses the pairs to check inputs that seem to have one clock.
func (m *merger) compare(x *links) tallies {
	seen := tallies{}
	x.each(func(p, c timed) {
		if !m.inputs[p.input].sameClock(m.inputs[c.input]) {
			return
		}
		key := [2]int{min(p.input, c.input), max(p.input, c.input)}
		if seen[key] == nil {
			seen[key] = &tally{}
		}
		y, early, late := seen[key], p.start-c.start, c.stop-p.stop
		switch {
		case early > sameReading:
			y.early++
			y.most = max(y.most, early)
		case late > sameReading:
			y.late++
			y.most = max(y.most, late)
		default:
			y.fit++
		}
	})
	return seen
}

// groups sorts the inputs by their clocks. If pairs refute that a boot has one clock, its boot id
// proves nothing: only inputs whose pairs show it are then in one group.
func (m *merger) groups(seen tallies) (groups []*group) {
	shown := func(a, b *input) bool { y := seen.of(a, b); return y.fit > 0 && !y.refuted() }
	for _, list := range parted(m.inputs, (*input).sameClock) {
		same := (*input).sameClock
		for key, y := range seen {
			if y.refuted() && slices.Contains(list, m.inputs[key[0]]) {
				same = shown
			}
		}
		for _, of := range parted(list, same) {
			groups = append(groups, newGroup(of))
		}
	}
	for key, y := range seen {
		if a, b := m.inputs[key[0]], m.inputs[key[1]]; y.contradicted() && a.group == b.group {
			b.outside = max(b.outside, y.most)
		}
	}
	for i, g := range groups {
		for _, before := range groups[:i] {
			g.apart = g.apart || before.inputs[0].sameBoot(g.inputs[0])
		}
	}
	return groups
}

// parted splits inputs into parts, such that two for which same holds are in one.
func parted(list []*input, same func(a, b *input) bool) (parts [][]*input) {
	for _, in := range list {
		at := -1
		for i := 0; i < len(parts); i++ {
			switch {
			case !slices.ContainsFunc(parts[i], func(o *input) bool { return same(in, o) }):
			case at < 0:
				at = i
				parts[i] = append(parts[i], in)
			default: // in joins two parts
				parts[at] = append(parts[at], parts[i]...)
				parts = slices.Delete(parts, i, i+1)
				i--
			}
		}
		if at < 0 {
			parts = append(parts, []*input{in})
		}
	}
	return parts
}

func newGroup(of []*input) *group {
	g := &group{inputs: of, ahead: of[0].ahead(), from: math.MaxInt64, to: math.MinInt64}
	for _, in := range of {
		in.group = g
		g.from, g.to = min(g.from, g.ahead+in.mono), max(g.to, g.ahead+in.mono+in.t.End())
	}
	return g
}
