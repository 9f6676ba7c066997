package advice

import (
	"fmt"
	"math"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var sortRules = []Rule{
	{ID: "sort", Original: "SORT", Group: Algorithms, Kinds: []row.Kind{row.Sort}, Judge: sortedAnew},
	{ID: "sort-slice", Group: Algorithms, Kinds: []row.Kind{row.Sort}, Judge: sortSlice},
}

// swapShare is the maximum share of the time of sort.Slice that is counted as saved: the
// comparison function takes its time in slices.SortFunc, too.
const swapShare = 0.3

// sortSlice: sort.Slice swaps by reflection, slices.SortFunc directly.
func sortSlice(r *Row, w Weights) (j Judgement) {
	if !r.through("sort.Slice") && !r.through("sort.SliceStable") || sortedAnew(r, w).NS > 0 {
		return j
	}
	per := w[swapOther]
	if r.V(row.MaxElem) <= 8 || r.Type == "string" {
		per = w[swapWord]
	}
	j.NS = min(r.V(row.Compared)*per, r.V(row.NS)*swapShare)
	j.Ops = r.V(row.Compared)
	to := "slices.SortFunc"
	if r.through("sort.SliceStable") {
		to = "slices.SortStableFunc"
	}
	j.Advice = fmt.Sprintf("%s of []%s instead of sort.Slice swaps without reflection, in %s", to, r.Type, show.Plural(r.V(row.Made), "sort"))
	j.Evidence = sortUse(r)
	return j
}

// sortedAnew: a sorted slice with a few appended elements needs insertions instead of
// another sort.
func sortedAnew(r *Row, w Weights) (j Judgement) {
	times := r.V(row.Again)
	if times == 0 {
		return j
	}
	n, more := r.V(row.AgainElements)/times, r.V(row.AgainMore)
	if more > r.V(row.AgainElements)/8 {
		return j
	}
	step := math.Log2(n+1) * w[probe]
	j.NS = r.V(row.AgainNS) - more*(step+w[shift]+n/2*r.V(row.MaxElem)*w[shiftByte])
	j.Ops = times*n - more*math.Log2(n+1)
	if j.NS <= 0 {
		return Judgement{}
	}
	j.Evidence = append(sortUse(r), fmt.Sprintf("%s sorts of sorted slices, with %s more each, took %s", show.Count(times), show.Count(math.Ceil(more/times)), show.Duration(r.V(row.AgainNS))))
	if more == 0 {
		j.Advice = fmt.Sprintf("a []%s of %s elements is sorted %s more though it is sorted already: sort it where it is changed", r.Type, show.Count(n), show.Plural(times, "time"))
		return j
	}
	j.Advice = fmt.Sprintf("slices.BinarySearch and slices.Insert keep the []%s sorted, which is now sorted as a whole %s for %s more; or sort it once, when it is complete; or container/heap, if only the first element is taken", r.Type, show.Plural(times, "time"), show.Plural(more, "element"))
	return j
}

func sortUse(r *Row) []string {
	list := []string{fmt.Sprintf("%s of up to %s elements (p50 %s) took %s", show.Plural(r.V(row.Made), "sort"), show.Count(r.Stats.V[row.MaxLen]), show.Count(r.P(row.Len, 0.5)), show.Duration(r.V(row.NS)))}
	if r.V(row.Gets) > 0 {
		list = append(list, fmt.Sprintf("%s of neighbours were in the wrong order before, in a sample", part(r.V(row.Misses), r.V(row.Gets))))
	}
	return list
}
