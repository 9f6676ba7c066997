package advice

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var mapUseRules = []Rule{
	{ID: "map-to-slice", Original: "HASHTABLE_TO_VECTOR", Group: Containers, Kinds: []row.Kind{row.Map}, Judge: mapToSlice},
	{ID: "map-inefficient", Original: "INEFFICIENT_HASH", Group: Containers, Kinds: []row.Kind{row.Map}, Judge: mapInefficient},
}

// mostlyWalked is the minimum number of iteration steps per other operation.
const mostlyWalked = 10

// mapToSlice: a map that is mostly iterated over is faster as a slice.
func mapToSlice(r *Row, w Weights) (j Judgement) {
	steps, puts, gets, deletes := r.V(row.Steps), r.V(row.Puts), r.V(row.Gets), r.V(row.Deletes)
	if steps == 0 || steps < mostlyWalked*(puts+gets+deletes) {
		return j
	}
	n := float64(r.P(row.Len, 0.5))
	j.NS = steps*(w[mapStep]-w[sliceStep]) - puts*w[appended] - deletes*n/2*w[compare]
	j.Ops = steps
	if j.NS <= 0 {
		return Judgement{}
	}
	if gets+deletes > 0 {
		j.Advice = fmt.Sprintf("a slice of the entries beside the %s, for the walks, saves %s over it", r.Type, show.Plural(steps, "step"))
	} else {
		j.Advice = fmt.Sprintf("a slice of entries instead of a %s saves %s over it: there are no lookups", r.Type, show.Plural(steps, "step"))
	}
	j.Evidence = append(lengths(r, "map", "maps", "entries"), fmt.Sprintf("about %s of %s, %s, %s, %s", show.Plural(r.V(row.Iterations), "iteration"), show.Plural(steps, "step"),
		show.Plural(gets, "look-up"), show.Plural(puts, "store"), show.Plural(deletes, "deletion")))
	if deletes > 0 {
		j.Stoppers = append(j.Stoppers, "entries are deleted: the slice must be searched for them, or have their places in the map")
	}
	return j
}

// longKey is the minimum mean length in bytes of long keys.
const longKey = 64

// mapInefficient: hashing and comparing long keys takes the time. A key that is not equal to
// itself is never found again.
func mapInefficient(r *Row, w Weights) (j Judgement) {
	if lost := r.V(row.NaNs); lost > 0 {
		j.NS = lost * w[mapBuild]
		j.Bytes = lost * (r.V(row.MaxElem) + r.V(row.MaxKey) + 1)
		j.Ops = lost
		j.Advice = fmt.Sprintf("keys that are NaN make the %s grow: none of about %s is ever found, and only clear deletes them; leave them out, or key by math.Float64bits", r.Type, show.Plural(lost, "store"))
		j.Evidence = lengths(r, "map", "maps", "entries")
		return j
	}
	ops := r.V(row.Gets) + r.V(row.Puts)
	if ops == 0 {
		return j
	}
	long := r.V(row.HashedBytes) / ops
	if !strings.HasPrefix(r.Type, "map[string]") {
		long = r.V(row.MaxKey)
	}
	if long < longKey {
		return j
	}
	j.NS = ops * (long - 8) * w[hashByte]
	j.Ops = ops * long / 8
	j.Advice = fmt.Sprintf("short keys instead of those of %s bytes, which each operation on the %s hashes and compares: an id of the value, or unique.Make of keys that are often looked up", show.Count(long), r.Type)
	j.Evidence = append(lengths(r, "map", "maps", "entries"), fmt.Sprintf("about %s and %s", show.Plural(r.V(row.Gets), "look-up"), show.Plural(r.V(row.Puts), "store")))
	j.Stoppers = append(j.Stoppers, "making a short key from a long one takes as long, once")
	return j
}
