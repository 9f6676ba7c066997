package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var allocationRules = []Rule{
	{ID: "boxing", Group: Allocations, Kinds: []row.Kind{row.Box}, Judge: boxing},
	{ID: "pool-miss", Group: Allocations, Kinds: []row.Kind{row.Pool}, Judge: poolMiss},
	{ID: "allocation-churn", Group: Allocations, Kinds: []row.Kind{row.Alloc}, Rest: true, Judge: churn},
}

// boxing: a value converted to an interface is allocated, unless it is a pointer or stays on
// the stack.
func boxing(r *Row, w Weights) (j Judgement) {
	one := w[alloc]
	if r.Stats.V[row.MaxLen] <= 8 {
		one = w[allocTiny]
	}
	ns := r.V(row.Allocs)*one + r.V(row.AllocBytes)*w[allocAgain]
	if r.library() || !r.matters(ns) {
		return j
	}
	j.NS, j.Bytes, j.Ops = ns, r.V(row.AllocBytes), r.V(row.Allocs)
	j.Advice = fmt.Sprintf("a type parameter, a function for the type (strconv.AppendInt instead of fmt), or an existing pointer, instead of an interface saves %s of %s", show.Plural(r.V(row.Allocs), "allocation"), show.Size(r.V(row.AllocBytes)))
	j.Evidence = []string{fmt.Sprintf("%s times a %s of %s bytes was put into an interface", show.Count(r.V(row.Made)), r.Type, show.Between(r.Stats.V[row.MinLen], r.Stats.V[row.MaxLen]))}
	return j
}

// leastPool is the minimum number of Gets for a pool to be judged.
const leastPool = 1000

// poolMiss: objects that are taken from a sync.Pool and never put back are created each
// time. A pool that is empty for other reasons, because all objects are in use, or after a
// collection, is not judged.
func poolMiss(r *Row, w Weights) (j Judgement) {
	gets, misses, puts := r.V(row.Gets), r.V(row.Misses), r.V(row.Puts)
	if gets < leastPool || 2*misses < gets || 2*puts > gets || len(r.Stack) < 2 || r.standard(r.Stack[1]) {
		return j
	}
	j.NS = r.V(row.NS) - misses*w[poolUse]
	j.Ops = misses
	j.Advice = fmt.Sprintf("Put back the value from this Get when it is no longer needed: New made %s of %s, and %s were put back", show.Count(misses), show.Count(gets), show.Count(puts))
	j.Evidence = []string{fmt.Sprintf("New took %s each time", show.Duration(r.V(row.NS)/misses))}
	j.Stoppers = []string{"an object that is kept, or used elsewhere, must not be put back"}
	return j
}

// Objects that are small or rarely sampled are not worth a pool.
const (
	leastPooled  = 256
	leastSampled = 20
)

// churn: objects that die soon could be reused. Those of the standard library are excluded,
// as the program can't change it.
func churn(r *Row, w Weights) (j Judgement) {
	allocs, size := r.V(row.Allocs), r.V(row.AllocBytes)
	if r.library() || r.through("sync.(*Pool).Get ") || allocs == 0 || r.V(row.Made) < leastSampled || size/allocs < leastPooled || r.V(row.Frees) < 0.9*allocs {
		return j
	}
	if j.NS = allocs*(w[alloc]-w[poolUse]) + size*w[allocAgain]; !r.matters(j.NS) {
		return Judgement{}
	}
	j.Bytes, j.Ops = size, allocs
	j.Advice = fmt.Sprintf("reusing them, as a variable outside the loop or in a sync.Pool, or keeping them on the stack, saves up to %s of %s", show.Plural(allocs, "allocation"), show.Size(size))
	j.Evidence = []string{fmt.Sprintf("of %s, of %s each, %s were dead at the last collections; estimated from %s", show.Plural(allocs, "object"), show.Size(size/allocs), part(r.V(row.Frees), allocs), show.Plural(r.V(row.Made), "object"))}
	j.Stoppers = []string{"an object that is kept must not be reused"}
	return j
}
