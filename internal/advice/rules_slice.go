package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
)

var sliceRules = []Rule{
	{ID: "slice-too-small", Original: "VECTOR_TOO_SMALL", Group: Containers, Kinds: []row.Kind{row.Slice}, Judge: sliceTooSmall},
}

// sliceTooSmall: with a capacity from the beginning nothing is copied, and the arrays that are outgrown
// are not allocated.
func sliceTooSmall(r *Row, w Weights) (j Judgement) {
	if r.V(row.Grown) == 0 {
		return j
	}
	n := r.P(row.Cap, 0.99)
	if r.Stats.V[row.Exact] == r.Stats.V[row.Made] {
		n = r.P(row.Len, 0.99)
	}
	j.NS = r.V(row.Copied)*w[CopyByte] + r.V(row.Grown)*w[Alloc] + r.V(row.GrownBytes)*w[AllocByte]
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Copied) / 8
	j.Fix = Fix{"capacity", n}
	j.Advice = fmt.Sprintf("make([]%s, 0, %d) instead of a capacity of %s saves %s allocations and copying %s", r.Type, n, within(r.Stats.V[row.MinHint], r.Stats.V[row.MaxHint]), count(r.V(row.Grown)), bytes(r.V(row.Copied)))
	j.Evidence = append(j.Evidence, fmt.Sprintf("%s slices, of %s elements (p50 %s, p99 %s)", count(r.V(row.Made)), within(r.Stats.V[row.MinLen], r.Stats.V[row.MaxLen]), count(r.P(row.Len, 0.5)), count(r.P(row.Len, 0.99))))
	if lo, hi := r.P(row.Len, 0.1), r.P(row.Len, 0.9); hi > 4*max(lo, 1) {
		j.Stoppers = append(j.Stoppers, fmt.Sprintf("the lengths differ: a tenth has at most %s elements, a tenth more than %s", count(lo), count(hi)))
	}
	return j
}
