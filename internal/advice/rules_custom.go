package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

// Rules for custom containers, which report their operations by package scope/containers.
var customRules = []Rule{
	{ID: "custom-too-small", Original: "HASHTABLE_TOO_SMALL", Group: Containers, Kinds: []row.Kind{row.Custom}, Judge: customTooSmall},
	{ID: "custom-too-large", Original: "HASHTABLE_TOO_LARGE", Group: Containers, Kinds: []row.Kind{row.Custom}, Judge: customTooLarge},
	{ID: "custom-inefficient-hash", Original: "INEFFICIENT_HASH", Group: Containers, Kinds: []row.Kind{row.Custom}, Judge: customInefficientHash},
}

// Limits for hash tables: the probes of a lookup with as many slots as elements, and the
// elements per slot from which there are too few slots.
const (
	fewProbes = 1.5
	fullSlots = 2.0
)

// isTable reports whether a row is of hash tables.
func isTable(r *Row) bool { return r.V(row.Extra) > 0 && r.V(row.Extra) == r.V(row.Made) }

// called returns the name of a row's containers.
func called(r *Row) string {
	what := "container"
	if isTable(r) {
		what = "hash table"
	}
	if r.Type == "" {
		return what
	}
	return what + " " + r.Type
}

// ops returns the number of operations that search for an element.
func ops(r *Row) float64 { return r.V(row.Gets) + r.V(row.Puts) + r.V(row.Deletes) }

// load returns the elements per slot at the peak.
func load(r *Row) float64 {
	if r.V(row.CapBytes) == 0 {
		return 0
	}
	return r.V(row.LenBytes) / r.V(row.CapBytes)
}

// customTooSmall: with enough slots from the beginning no element moves; and in a table that
// never gets more every lookup is slow.
func customTooSmall(r *Row, w Weights) (j Judgement) {
	bytesMoved := r.V(row.Moved) * r.V(row.MaxElem)
	crowded := 0.0
	if isTable(r) && load(r) > fullSlots {
		crowded = ops(r) * (load(r) - 1) / 2 // an element is in the middle of its chain on average
		crowded = max(min(crowded, r.V(row.Probes)-fewProbes*ops(r)), 0)
	}
	if r.V(row.Grown) == 0 && crowded == 0 {
		return j
	}
	n := r.P(row.Len, 0.99)
	j.NS = bytesMoved*w[copyByte] + r.V(row.Grown)*w[alloc] + r.V(row.GrownBytes)*w[allocByte] + crowded*w[hashProbe]
	if isTable(r) {
		j.NS += r.V(row.Moved) * w[mapMove]
	}
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Moved) + crowded
	from := "begins with its own size"
	if r.V(row.Hinted) > 0 {
		from = "is made for " + show.Between(r.Stats.V[row.MinHint], r.Stats.V[row.MaxHint])
	}
	j.Advice = fmt.Sprintf("the %s made here %s: %s from the beginning would save %s and moving %s", called(r), from, show.Plural(n, "slot"),
		show.Plural(r.V(row.Grown), "growth"), show.Plural(r.V(row.Moved), "element"))
	if crowded > 0 {
		j.Advice += fmt.Sprintf(", and examining %s more than a table with room needs", show.Plural(crowded, "place"))
	}
	j.Evidence = lengths(r, "container", "containers", "elements")
	j.Stoppers = spread(r)
	return j
}

// customTooLarge: most slots were never used.
func customTooLarge(r *Row, w Weights) (j Judgement) {
	size, used := r.V(row.CapBytes), r.V(row.LenBytes)
	if r.V(row.Grown) > 0 || size == 0 || 4*used > size {
		return j
	}
	n := r.P(row.Len, 0.99)
	j.Bytes = size - 2*used
	j.NS = j.Bytes * w[allocByte]
	j.Ops = j.Bytes / 8
	j.Advice = fmt.Sprintf("the %s made here has %s slots: %d would save %s", called(r), show.Between(slotsOf(r)), n, show.Size(j.Bytes))
	j.Evidence = append(lengths(r, "container", "containers", "elements"), fmt.Sprintf("%s of %s were ever in use", show.Size(used), show.Size(size)))
	j.Stoppers = spread(r)
	return j
}

// slotsOf returns the bounds of the containers' last number of slots.
func slotsOf(r *Row) (low, high int64) {
	if low = r.P(row.Cap, 0.01); low > r.Stats.V[row.MaxCap] {
		low = r.Stats.V[row.MaxCap]
	}
	return low, r.Stats.V[row.MaxCap]
}

// customInefficientHash: lookups probe more places than with a hash function that spreads
// the keys.
func customInefficientHash(r *Row, w Weights) (j Judgement) {
	n := ops(r)
	if !isTable(r) || n < 1000 {
		return j
	}
	ideal := fewProbes
	if l := load(r); l > 1 {
		ideal = 1 + l/2
	}
	probes := r.V(row.Probes) / n
	if probes < 2*ideal {
		return j
	}
	excess := n * (probes - ideal)
	j.NS = excess * w[hashProbe]
	j.Ops = excess
	j.Advice = fmt.Sprintf("the hash function of the %s made here puts too many elements into one place: it examines %.3g places for an element, and one that spreads them needs %.3g", called(r), probes, ideal)
	j.Evidence = lengths(r, "table", "tables", "elements")
	if length, bucket := row.ChainOf(r.Stats.V[row.MaxChain]); length > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("the longest chain has %s, in bucket %d", show.Plural(length, "element"), bucket))
	}
	if most := r.V(row.MaxProbes); most > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("the longest search examined %s", show.Plural(most, "place")))
	}
	if r.V(row.Misses) > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("%s of %s found nothing", show.Count(r.V(row.Misses)), show.Plural(r.V(row.Gets), "look-up")))
	}
	return j
}
