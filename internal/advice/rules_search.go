package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var searchRules = []Rule{
	{ID: "slice-to-map", Original: "VECTOR_TO_HASHTABLE", Group: Containers, Kinds: []row.Kind{row.Search}, Judge: sliceToMap},
}

// shortest is the minimum length of a slice from which on the rule recommends a map.
const shortest = 24

// sliceToMap: a lookup in a map takes the same time for many elements as for few.
func sliceToMap(r *Row, w Weights) (j Judgement) {
	n := r.P(row.Len, 0.5)
	if n < shortest || 2*r.V(row.SearchedAgain) < r.V(row.Made) || r.through("slices.DeleteFunc") {
		return j
	}
	mean := r.Mean(row.Compared)
	word := w[compare] * max(1, r.V(row.MaxElem)/8)
	if r.Type == "string" && r.V(row.ByFunc) == 0 {
		word = w[compareString]
	}
	built := r.V(row.SearchedIn) * float64(n)
	j.NS = r.V(row.Compared)*word - r.V(row.Made)*w[mapGet] - built*w[mapBuild]
	j.Ops = r.V(row.Compared) - r.V(row.Made) - built
	if j.NS <= 0 {
		return Judgement{}
	}
	what, key := "map[K]V", "keyed by what the function looks for"
	if r.V(row.ByFunc) == 0 {
		what, key = fmt.Sprintf("map[%s]struct{}, or one to the index,", r.Type), "by the elements"
	}
	j.Advice = fmt.Sprintf("a %s %s instead of a search through a []%s saves examining %s elements in each of %s", what, key, r.Type, show.Count(mean), show.Either(r.V(row.Made), "search", "searches"))
	j.Evidence = []string{
		fmt.Sprintf("slices of up to %s elements (p50 %s), %s of the searches in a slice searched before; about %s", show.Count(r.Stats.V[row.MaxLen]), show.Count(n), part(r.V(row.SearchedAgain), r.V(row.Made)), show.Plural(max(r.V(row.SearchedIn), 1), "slice")),
		fmt.Sprintf("%s of the searches found nothing", part(r.V(row.Misses), r.V(row.Made))),
	}
	j.Stoppers = []string{"a map has no order, and each key once: check whether that matters"}
	return j
}

// part returns which share of something a number is.
func part(n, of float64) string { return show.Percent(n / max(of, 1)) }
