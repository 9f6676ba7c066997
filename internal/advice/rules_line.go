package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var lineRules = []Rule{
	{ID: "false-sharing", Original: "FALSE_SHARING", Group: Multithreaded, Kinds: []row.Kind{row.Line}, Judge: falseSharing},
	{ID: "shared-elements", Original: "DDTEST", Group: Multithreaded, Kinds: []row.Kind{row.Line}, Judge: sharedElements},
}

// insignificant is the share of misses among the accesses below which a line is not judged.
const insignificant = 0.01

// waited returns the time that processors waited for n of the row's misses. A processor
// keeps a line for a while before it loses it, so it is at most half of the time.
func waited(r *Row, w Weights, n float64) float64 {
	all := r.V(row.Misses) + r.V(row.Contended)
	atomics := r.V(row.Waits) / max(all, 1)
	ns := n * (atomics*w[lineBackAtomic] + (1-atomics)*w[lineBack])
	return min(ns, r.NS*r.V(row.MaxLen)/2)
}

// falseSharing: goroutines use different bytes of one line, which moves from processor to
// processor.
func falseSharing(r *Row, w Weights) (j Judgement) {
	uses := r.V(row.Gets) + r.V(row.Puts)
	if r.V(row.Misses) < insignificant*uses || r.V(row.Misses) < r.V(row.Contended) || 2*r.V(row.Shared) > uses {
		return j
	}
	j.NS = waited(r, w, r.V(row.Misses))
	j.Ops = r.V(row.Misses)
	j.Advice = fmt.Sprintf("padding to 64 bytes between the variables of different goroutines, or a local variable that is stored at the end, saves fetching a cache line again %s: no other goroutine stored to the same bytes", show.Plural(r.V(row.Misses), "time"))
	j.Evidence = lineUse(r)
	return j
}

// sharedElements: goroutines store to the same elements, which serializes their work.
func sharedElements(r *Row, w Weights) (j Judgement) {
	uses := r.V(row.Gets) + r.V(row.Puts)
	back := r.V(row.Contended) + r.V(row.Misses)
	if r.V(row.Contended) < insignificant*uses || 2*r.V(row.Shared) <= uses || r.V(row.MaxCap) < 2 {
		return j
	}
	j.NS, j.Ops = waited(r, w, back), back
	j.Advice = fmt.Sprintf("separate elements for each goroutine, merged at the end, save fetching a cache line again %s: %s of the accesses are to elements that several goroutines use and store to, which serializes them", show.Plural(back, "time"), part(r.V(row.Shared), uses))
	j.Evidence = lineUse(r)
	return j
}

func lineUse(r *Row) []string {
	uses := r.V(row.Gets) + r.V(row.Puts)
	said := []string{fmt.Sprintf("%s and %s of up to %s; %s waited for a line", show.Plural(r.V(row.Gets), "load"), show.Plural(r.V(row.Puts), "store"), show.Plural(r.V(row.MaxLen), "goroutine"), part(r.V(row.Misses)+r.V(row.Contended), uses))}
	if r.V(row.MaxElem) > 0 {
		said = append(said, fmt.Sprintf("the lines lie in objects of up to %s", show.Size(r.V(row.MaxElem))))
	}
	if len(r.Stack) > 1 {
		said = append(said, "the frames are all places that wait for the line, not one call stack")
	}
	return append(said, "loads and stores are sampled in bursts, and the rest is estimated")
}
