package advice

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var sliceRules = []Rule{
	{ID: "slice-too-small", Original: "VECTOR_TOO_SMALL", Group: Containers, Kinds: []row.Kind{row.Slice}, Judge: sliceTooSmall},
	{ID: "slice-too-large", Original: "VECTOR_TOO_LARGE", Group: Containers, Kinds: []row.Kind{row.Slice}, Judge: sliceTooLarge},
}

// sliceTooSmall: with a capacity from the beginning nothing is copied, and no array is
// outgrown.
func sliceTooSmall(r *Row, w Weights) (j Judgement) {
	if r.V(row.Grown) == 0 || r.owned() { // buffers have their own rules
		return j
	}
	n := r.P(row.Cap, 0.99)
	if r.Stats.V[row.Exact] == r.Stats.V[row.Made] {
		n = r.P(row.Len, 0.99)
	}
	j.NS = r.V(row.Copied)*w[copyByte] + r.V(row.Grown)*w[alloc] + r.V(row.GrownBytes)*w[allocByte]
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Copied) / 8
	if !r.differ() {
		j.Fix = Fix{"capacity", n}
	}
	j.Advice = fmt.Sprintf("%s saves %s and copying %s", r.making("make([]%s, 0, %d)", " before the first append here", n), show.Plural(r.V(row.Grown), "allocation"), show.Size(r.V(row.Copied)))
	j.Evidence = lengths(r, "slice", "slices", "elements")
	if r.V(row.Exact) < r.V(row.Made) {
		j.Evidence = append(j.Evidence, fmt.Sprintf("for %s only the final capacity is known: the length is at most %s", show.Plural(r.V(row.Made)-r.V(row.Exact), "slice"), show.Count(r.P(row.Cap, 0.99))))
	}
	if r.V(row.Unseen) > 0 {
		j.Stoppers = append(j.Stoppers, fmt.Sprintf("%s began as a literal, or as part of another slice: its capacity can't be set where it grows", show.Plural(r.V(row.Unseen), "slice")))
	}
	j.Stoppers = append(j.Stoppers, spread(r)...)
	return j
}

// sliceTooLarge: an array is much larger than its contents. That is known for slices whose
// memory was read while they lived.
func sliceTooLarge(r *Row, w Weights) (j Judgement) {
	size, used := r.V(row.WatchedCap), r.V(row.WatchedLen)
	if r.buffer() != "" || r.V(row.Hinted) == 0 || r.V(row.Grown) > 0 || size == 0 || 2*used > size {
		return j
	}
	n := max(r.P(row.Len, 0.99), 1)
	if 2*n > r.Stats.V[row.MinHint] {
		return j // it may be too small for slices that were not read
	}
	j.Bytes = size - used
	j.NS = j.Bytes * w[allocByte]
	j.Ops = j.Bytes / 8
	j.Fix = Fix{"capacity", n}
	j.Advice = fmt.Sprintf("a capacity of %d instead of %s saves %s: most of the array stays empty", n, show.Between(r.Stats.V[row.MinHint], r.Stats.V[row.MaxHint]), show.Size(j.Bytes))
	j.Evidence = append(lengths(r, "slice", "slices", "elements"), fmt.Sprintf("%s of %s were sampled while alive: %s of their %s were in use", show.Count(r.V(row.Watched)), show.Count(r.V(row.Made)), show.Size(used), show.Size(size)))
	j.Stoppers = append(spread(r), "zero elements at the end of a slice count as unused")
	return j
}

// making describes a make with a size, its place, and what it replaces.
func (r *Row) making(text, where string, n int64) string {
	hinted := show.Between(r.Stats.V[row.MinHint], r.Stats.V[row.MaxHint])
	switch {
	case len(r.Stack) == 0:
		return "making all of them with their final size"
	case r.V(row.Hinted) > 0 && r.differ():
		return fmt.Sprintf("room for all elements, where their number is known in time, instead of for %s,", hinted)
	case r.V(row.Hinted) > 0:
		return fmt.Sprintf("room for %d when it is made, instead of for %s,", n, hinted)
	case r.differ():
		return fmt.Sprintf(strings.Replace(text, "%d", "%s", 1), r.Type, "n") + where + ", with the number n of elements, where it is known in time,"
	}
	return fmt.Sprintf(text, r.Type, n) + where
}

// differ reports whether one size does not fit all: the lengths differ by more than a factor
// of four.
func (r *Row) differ() bool { return r.P(row.Len, 0.9) > 4*max(r.P(row.Len, 0.1), 1) }

// lengths describes the number of instances and their lengths.
func lengths(r *Row, what, whats, of string) []string {
	least, most := r.Stats.V[row.MinLen], r.Stats.V[row.MaxLen]
	text := fmt.Sprintf("%s of %s %s", show.Either(r.V(row.Made), what, whats), show.Between(least, most), of)
	if least != most {
		text += fmt.Sprintf(" (p50 %s, p99 %s)", show.Count(r.P(row.Len, 0.5)), show.Count(r.P(row.Len, 0.99)))
	}
	return []string{text}
}

// spread returns a warning if one size does not fit all.
func spread(r *Row) []string {
	if !r.differ() {
		return nil
	}
	return []string{fmt.Sprintf("the lengths differ: a tenth is at most %s, a tenth more than %s; one size for all would waste memory", show.Count(r.P(row.Len, 0.1)), show.Count(r.P(row.Len, 0.9)))}
}

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
