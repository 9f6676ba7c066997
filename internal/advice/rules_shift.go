package advice

import (
	"fmt"
	"math"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var shiftRules = []Rule{
	{ID: "slice-to-list", Original: "VECTOR_TO_LIST", Group: Containers, Kinds: []row.Kind{row.Shift}, Judge: sliceToList},
	{ID: "ordered-to-unordered", Original: "ORDERED_TO_UNORDERED", Group: Containers, Kinds: []row.Kind{row.Shift}, Judge: orderedToUnordered},
}

// keptSorted reports whether most shifts were at the place where a binary search had just
// ended.
func keptSorted(r *Row) bool { return r.V(row.InOrder) >= 0.9*r.V(row.Made) }

// shiftCost returns the time of a row's shifts.
func shiftCost(r *Row, w Weights) float64 {
	return r.V(row.Made)*w[shift] + r.V(row.Copied)*w[shiftByte]
}

// fewMoved is the number of elements that move in negligible time.
const fewMoved = 16

// sliceToList: for insertions and removals in front a ring buffer moves no elements; in the
// middle a list does not.
func sliceToList(r *Row, w Weights) (j Judgement) {
	front, middle := r.V(row.Front), r.V(row.Middle)
	if front+middle < 0.5*r.V(row.Made) || keptSorted(r) || r.Mean(row.Moved) < fewMoved {
		return j
	}
	j.NS = shiftCost(r, w)
	j.Ops = r.V(row.Copied)/8 - r.V(row.Made)
	what := shifts(r)
	switch {
	case front >= 0.9*r.V(row.Made):
		j.NS -= r.V(row.Made) * w[ring]
		j.Advice = fmt.Sprintf("a ring buffer (a deque) of %s instead of a slice saves moving %s elements in each of %s in front", r.Type, show.Count(r.Mean(row.Moved)), what)
		if r.V(row.Puts) == 0 {
			j.Advice += "; or cut the slice in front: s = s[n:]"
		} else {
			j.Advice += "; or append, and walk backwards; container/list second"
		}
	default:
		j.NS -= r.V(row.Puts)*(2*w[alloc]+(listNode+8)*w[allocByte]) + r.V(row.Deletes)*w[ring]
		j.Advice = fmt.Sprintf("a list of %s (container/list) instead of a slice saves moving %s elements in each of %s in the middle; a gap buffer, if they follow one another", r.Type, show.Count(r.Mean(row.Moved)), what)
		j.Stoppers = append(j.Stoppers, "finding a place in a list takes a walk, unless its element is kept")
	}
	if j.NS <= 0 {
		return Judgement{}
	}
	j.Evidence = shiftUse(r)
	if front < 0.9*r.V(row.Made) {
		j.Stoppers = append(j.Stoppers, "a list has no index: check whether elements are accessed by one")
	}
	return j
}

// orderedToUnordered: a map needs no order, and moves no elements.
func orderedToUnordered(r *Row, w Weights) (j Judgement) {
	if !keptSorted(r) || r.Mean(row.Moved) < fewMoved || r.V(row.Puts) == 0 || r.V(row.Back) > 0.9*r.V(row.Made) {
		return j
	}
	n := max(float64(r.P(row.Len, 0.5)), 1)
	steps := r.V(row.Made) * math.Log2(n+1)
	j.NS = shiftCost(r, w) + steps*w[probe] - r.V(row.Puts)*w[mapBuild] - r.V(row.Deletes)*w[mapPut]
	j.Ops = r.V(row.Copied)/8 + steps - r.V(row.Made)
	if j.NS <= 0 {
		return Judgement{}
	}
	j.Advice = fmt.Sprintf("a map instead of a []%s that is kept sorted saves moving %s elements in each of %s, and %s of binary searches", r.Type, show.Count(r.Mean(row.Moved)), shifts(r), show.Plural(steps, "step"))
	j.Evidence = append(shiftUse(r), fmt.Sprintf("%s of them where a binary search ended", part(r.V(row.InOrder), r.V(row.Made))))
	j.Stoppers = []string{"a map has no order: check whether the elements are walked in order"}
	return j
}

func shifts(r *Row) string {
	switch {
	case r.V(row.Deletes) == 0:
		return show.Plural(r.V(row.Puts), "insertion")
	case r.V(row.Puts) == 0:
		return show.Plural(r.V(row.Deletes), "deletion")
	}
	return show.Plural(r.V(row.Made), "insertion and deletion")
}

func shiftUse(r *Row) []string {
	return []string{fmt.Sprintf("%s in front, %s in the middle, %s at the end, in slices of up to %s elements (p50 %s); %s were moved",
		show.Count(r.V(row.Front)), show.Count(r.V(row.Middle)), show.Count(r.V(row.Back)), show.Count(r.Stats.V[row.MaxLen]), show.Count(r.P(row.Len, 0.5)), show.Size(r.V(row.Copied)))}
}
