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

// What caches hold: a processor's first and second, and the last one, of which others use a part, and
// which is to hold what it holds for the pages' tables, too.
const (
	firstCache = 32 << 10
	ownCache   = 1 << 20
	lastCache  = 8 << 20
	noCache    = 8 * lastCache
)

// between is what an access takes where so many bytes are used: the more the last cache can't hold, the
// more often it is one to memory.
func between(used, far, memory float64) float64 {
	share := (used - lastCache) / (noCache - lastCache)
	return far + min(max(share, 0), 1)*(memory-far)
}

// sliceOfPointers: a slice of pointers is walked, and what they point to lies here and there. Go has no
// instruction to fetch it ahead; elements in the slice itself are fetched ahead.
func sliceOfPointers(r *Row, w Weights) (j Judgement) {
	far := r.V(row.Pointed)
	used := r.V(row.MaxLen) * 64
	if far < 0.1*r.V(row.Made) || far < r.V(row.Chased) || used < ownCache {
		return j
	}
	j.NS, j.Ops = min(far*between(used, w[pointedFar], w[pointedMemory]), r.NS), far
	j.Advice = fmt.Sprintf("a []T instead of a []*T, or elements made in the order in which they are walked, saves fetching %s from afar", show.Plural(far, "cache line"))
	j.Evidence = farUse(r)
	j.Stoppers = append(j.Stoppers, "elements in a slice are copied, where pointers to them were, and move when it grows")
	return j
}

// linkedLocality: a linked structure is walked, and each node lies elsewhere.
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
	j.NS, j.Ops = min(far*each, r.NS), far // no more than all of it, of one goroutine
	j.Advice = fmt.Sprintf("nodes in one slice, made in the order in which they are walked, or a slice instead of links, save waiting for %s", show.Plural(far, "cache line"))
	j.Evidence = farUse(r)
	j.Stoppers = append(j.Stoppers, "a structure that changes loses the order again; a node in a slice keeps the whole slice alive")
	return j
}

func farUse(r *Row) []string {
	hops, far := r.V(row.Steps), r.V(row.Probes)
	return []string{
		fmt.Sprintf("of %s to another address %s go to a cache line that is not near, and %s to another page (p50 %s away)", show.Plural(hops, "step"), part(far, hops), part(r.V(row.Misses), hops), show.Size(r.P(row.Cap, 0.5))),
		fmt.Sprintf("what is walked has about %s; %s were seen, in bursts, and the rest is estimated", show.Size(r.V(row.MaxLen)*64), show.Either(r.V(row.Watched), "access", "accesses")),
	}
}

// scattered is what the accesses of a scan cost that no rule has a remedy for, and says what they are: their
// addresses are computed, as those of a random index are.
func scattered(r *Row, w Weights) (ns float64, text string) {
	used, placed := r.V(row.MaxLen)*64, r.V(row.Placed)
	if used < ownCache {
		return 0, ""
	}
	return placed * between(used, w[pointedFar], w[pointedMemory]),
		fmt.Sprintf("%s of %s go to a cache line that is not near, in about %s", part(placed, r.V(row.Made)), show.Either(r.V(row.Made), "access", "accesses"), show.Size(used))
}
