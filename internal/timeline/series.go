package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// series are the values of a counter, by time.
type series struct {
	points   []point
	unsorted bool
}

type point struct {
	time  int64
	value float64
}

type seriesSet map[uint16]*series

func (x seriesSet) add(name uint16, t int64, v float64) {
	s := x[name]
	if s == nil {
		s = &series{}
		x[name] = s
	}
	if n := len(s.points); n > 0 && s.points[n-1].time > t {
		s.unsorted = true
	}
	s.points = append(s.points, point{t, v})
}

// sort sorts late values.
func (x seriesSet) sort() {
	for _, s := range x {
		if s.unsorted {
			slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.time, b.time) })
			s.unsorted = false
		}
	}
}

func (x seriesSet) names() []uint16 { return slices.Sorted(maps.Keys(x)) }

func (s *series) from(t int64) int {
	i, _ := slices.BinarySearchFunc(s.points, t, func(p point, t int64) int { return cmp.Compare(p.time, t) })
	return i
}

// within returns the points in [from, to] and the one before, whose value holds at from. At
// a resolution it returns only the least and the greatest of each stretch, and the last of
// all.
func (s *series) within(from, to, res int64) []point {
	first, end := s.from(from), len(s.points)
	if first > 0 {
		first--
	}
	if to < math.MaxInt64 {
		end = max(s.from(to+1), first)
	}
	all := s.points[first:end]
	if res <= 1 || len(all) < 3 {
		return all
	}
	var out []point
	for i := 0; i < len(all); {
		least, most := i, i
		stretch := floorDiv(all[i].time, res)
		j := i + 1
		for ; j < len(all) && floorDiv(all[j].time, res) == stretch; j++ {
			if all[j].value < all[least].value {
				least = j
			}
			if all[j].value > all[most].value {
				most = j
			}
		}
		out = append(out, all[min(least, most)])
		if least != most {
			out = append(out, all[max(least, most)])
		}
		i = j
	}
	if last := all[len(all)-1]; out[len(out)-1] != last {
		out = append(out, last)
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// counted returns a counter's value.
func counted(e *trace.Event) float64 {
	switch e.ValueType {
	case format.SlotUint:
		return float64(e.Value)
	case format.SlotFloat:
		return math.Float64frombits(e.Value)
	}
	return float64(int64(e.Value))
}
