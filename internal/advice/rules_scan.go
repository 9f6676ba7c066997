package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var scanRules = []Rule{
	{ID: "slice-of-pointers", Original: "SOFTWARE_PREFETCH", Group: Locality, Kinds: []row.Kind{row.Scan}, Judge: sliceOfPointers},
	{ID: "linked-locality", Original: "RBTREE_LOCALITY", Group: Locality, Kinds: []row.Kind{row.Scan}, Judge: linkedLocality},
}

// Cache sizes: a processor's first and second level, and the last level, which is shared
// with others, and also holds page tables.
const (
	firstCache = 32 << 10
	ownCache   = 1 << 20
	lastCache  = 8 << 20
	noCache    = 8 * lastCache
)

// between returns the time of an access when this many bytes are used: the more they exceed
// the last-level cache, the more accesses go to memory.
func between(used, far, memory float64) float64 {
	share := (used - lastCache) / (noCache - lastCache)
	return far + min(max(share, 0), 1)*(memory-far)
}

// sliceOfPointers: a slice of pointers is walked, whose elements are scattered. Go has no
// prefetch instruction; elements in the slice itself are prefetched by the processor.
func sliceOfPointers(r *Row, w Weights) (j Judgement) {
	far := r.V(row.Pointed)
	used := r.V(row.MaxLen) * 64
	if far < 0.1*r.V(row.Made) || far < r.V(row.Chased) || used < ownCache {
		return j
	}
	j.NS, j.Ops = min(far*between(used, w[pointedFar], w[pointedMemory]), r.NS), far
	j.Advice = fmt.Sprintf("a []T instead of a []*T, or elements made in the order in which they are walked, saves fetching %s from afar", show.Plural(far, "cache line"))
	j.Evidence = farUse(r)
	j.Stoppers = append(j.Stoppers, "elements in a slice are copied where pointers were before, and move when it grows")
	return j
}

// linkedLocality: a linked structure is walked, whose nodes are scattered.
func linkedLocality(r *Row, w Weights) (j Judgement) {
	far := r.V(row.Chased)
	used := r.V(row.MaxLen) * 64
	if far < 0.1*r.V(row.Made) || far < r.V(row.Pointed) || used < firstCache {
		return j
	}
	each := w[chasedNear]
	if used > ownCache {
		each = between(used, w[chasedFar], w[chasedMemory])
	}
	j.NS, j.Ops = min(far*each, r.NS), far // at most all the time of one goroutine
	j.Advice = fmt.Sprintf("nodes in one slice, made in the order in which they are walked, or a slice instead of links, save waiting for %s", show.Plural(far, "cache line"))
	j.Evidence = farUse(r)
	j.Stoppers = append(j.Stoppers, "a structure that changes loses the order again; a node in a slice keeps the whole slice alive")
	return j
}

func farUse(r *Row) []string {
	hops, far := r.V(row.Steps), r.V(row.Probes)
	return []string{
		fmt.Sprintf("of %s to another address, %s go to a distant cache line, and %s to another page (p50 %s away)", show.Plural(hops, "step"), part(far, hops), part(r.V(row.Misses), hops), show.Size(r.P(row.Cap, 0.5))),
		fmt.Sprintf("the walked structure has about %s; %s were sampled, in bursts, and the rest is estimated", show.Size(r.V(row.MaxLen)*64), show.Either(r.V(row.Watched), "access", "accesses")),
	}
}

// scattered returns the cost of a scan's accesses for which no rule has a remedy, and a
// description: their addresses are computed, as with a random index.
func scattered(r *Row, w Weights) (ns float64, text string) {
	used, placed := r.V(row.MaxLen)*64, r.V(row.Placed)
	if used < ownCache {
		return 0, ""
	}
	return placed * between(used, w[pointedFar], w[pointedMemory]),
		fmt.Sprintf("%s of %s go to a distant cache line, in about %s", part(placed, r.V(row.Made)), show.Either(r.V(row.Made), "access", "accesses"), show.Size(used))
}
