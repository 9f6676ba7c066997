package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var mapRules = []Rule{
	{ID: "map-too-small", Original: "HASHTABLE_TOO_SMALL", Group: Containers, Kinds: []row.Kind{row.Map}, Judge: mapTooSmall},
	{ID: "map-too-large", Original: "HASHTABLE_TOO_LARGE", Group: Containers, Kinds: []row.Kind{row.Map}, Judge: mapTooLarge},
}

// mapTooSmall: with a size hint no entry moves to a larger table.
func mapTooSmall(r *Row, w Weights) (j Judgement) {
	if r.V(row.Grown) == 0 {
		return j
	}
	n := r.P(row.Len, 0.99)
	j.NS = r.V(row.Moved)*w[mapMove] + r.V(row.Grown)*w[alloc] + r.V(row.GrownBytes)*w[allocByte]
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Moved)
	if !r.differ() {
		j.Fix = Fix{"capacity", n}
	}
	where := " here"
	if r.V(row.Unseen) > 0 {
		where = " for the map filled here"
	}
	j.Advice = fmt.Sprintf("%s saves %s and moving %s", r.making("make(%s, %d)", where, n), show.Plural(r.V(row.Grown), "larger table"), show.Either(r.V(row.Moved), "entry", "entries"))
	j.Evidence = lengths(r, "map", "maps", "entries")
	if r.V(row.Unseen) > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("for %s the place is where it first grew: it is made small, or as a literal", show.Plural(r.V(row.Unseen), "map")))
	}
	j.Stoppers = spread(r)
	return j
}

// mapTooLarge: a map was made for many more entries than it ever had, or had many more than
// it has now. A map does not shrink.
func mapTooLarge(r *Row, w Weights) (j Judgement) {
	size, used := r.V(row.WatchedCap), r.V(row.WatchedLen)
	if size == 0 || 4*used > size {
		return j
	}
	steps := 0.0
	if r.V(row.Exact) > 0 {
		entry := max(r.V(row.MaxElem)+r.V(row.MaxKey), 1)
		steps = r.V(row.Iterations) * max((size-2*used)/entry/r.V(row.Exact), 0)
	}
	j.Bytes = size - 2*used // a map has up to twice the slots that it needs
	j.NS = j.Bytes*w[allocByte]*r.V(row.Hinted)/max(r.V(row.Made), 1) + steps*w[sliceStep]
	j.Ops = j.Bytes / 8
	j.Evidence = append(lengths(r, "map", "maps", "entries"), fmt.Sprintf("of %s sampled while alive, %s of %s were in use, with up to %s entries each", show.Count(r.V(row.Exact)), show.Size(used), show.Size(size), show.Count(r.P(row.Cap, 0.99))))
	if least := r.Stats.V[row.MinHint]; least > 4*r.Stats.V[row.MaxLen] {
		n := r.P(row.Len, 0.99)
		j.Fix = Fix{"capacity", n}
		j.Advice = fmt.Sprintf("make(%s, %d) instead of %s saves %s: it is made for more than it ever holds", r.Type, n, show.Between(least, r.Stats.V[row.MaxHint]), show.Size(j.Bytes))
		return j
	}
	what := r.Type
	if what == "" {
		what = "map"
	}
	j.Advice = fmt.Sprintf("a new %s with the remaining entries saves %s: it had up to %s, and a map does not shrink", what, show.Size(j.Bytes), show.Either(r.Stats.V[row.MaxLen], "entry", "entries"))
	j.Stoppers = append(j.Stoppers, "it may soon hold as much again")
	return j
}
