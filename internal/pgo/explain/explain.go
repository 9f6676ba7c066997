// Package explain tells what Go's compiler does with the calls that are hot in a profile.
//
// # Design
//
//  1. The go command compiles twice, with the profile and without, and prints what the compiler
//     says with -m=2 and -d=pgodebug=3. It repeats that from its build cache when nothing has
//     changed, and writes nothing else. Go 1.22 and later print enough.
//  2. Only the packages of hot callers and callees get these flags. For them they take the place
//     of other -gcflags.
//  3. The compiler names the places of calls, not of edges. A call is an edge's when it is as
//     many lines behind the caller's first line, and calls a function of that name.
//  4. What differs between both builds is due to the profile. What neither tells is Unknown.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Verdict is what the compiler did with a hot edge.
type Verdict string

// The verdicts.
const (
	Inlined          Verdict = "inlined"                  // because of the profile
	InlinedAnyway    Verdict = "inlined anyway"           // without the profile too
	InlinedInPart    Verdict = "inlined in part"          // not in all copies of the caller, or not all calls of the line
	DevirtualInlined Verdict = "devirtualized, inlined"   // an indirect call, because of the profile
	Devirtualized    Verdict = "devirtualized"            // called directly after a comparison, not inlined
	NotDevirtualized Verdict = "not devirtualized"        // an indirect call stays one
	CannotInline     Verdict = "cannot be inlined"        // the callee: by what is in it, or by its cost
	BigCaller        Verdict = "the caller is too large"  // it takes small functions alone
	GoOrDefer        Verdict = "go or defer"              // the call is in a wrapper, or later
	Generic          Verdict = "generic"                  // the compiler knows no function F[...]
	Generated        Verdict = "no call in the source"    // the compiler makes the call, or assembly jumps
	NotMatched       Verdict = "not matched"              // the compiler has no such call by that name; of Why alone
	Gone             Verdict = "gone from the source"     // at that line nothing calls the callee
	NotBuilt         Verdict = "not in the build"         // nothing imports the package
	Unknown          Verdict = "the compiler doesn't say" // and so nobody can
	Cold             Verdict = "not hot"                  // all edges after the 99 %; of Sums alone
)

// Options say what is built.
type Options struct {
	Dir      string   // where the go command runs
	Profile  string   // the file of the profile
	Packages []string // patterns; none: the package in Dir
	Flags    []string // of go build, such as -tags=x

	// Why, if there is one, is asked about calls that the compiler does not have: Gone, or what
	// else became of them, in words.
	Why func(pgo.Edge) (Verdict, string, error)
}

// Edge is a hot edge with what the compiler did with it.
type Edge struct {
	pgo.Edge
	Weight        int64
	Share         float64 // of all weight, 0 to 1
	Verdict       Verdict
	Text          string // what was done and why, after "18 % of the calls: "
	Cost          int    // of the callee; 0: not known
	Devirtualized string // the function that is called directly now, as the linker names it
	File          string // of the call; "": not known
	Line          int

	at []copied // where it was inlined
}

// Sum is how much a verdict has.
type Sum struct {
	Verdict Verdict
	Edges   int
	Weight  int64
	Share   float64
}

// Report is what the compiler does with a profile.
type Report struct {
	Threshold float64 // what share the lightest hot edge has, in percent
	Total     int64
	Edges     []Edge // the hot ones, the heaviest first
	Sums      []Sum  // the heaviest first; Cold is the last
}

// Of asks the compiler about the hot edges of a profile. The edges must be the profile's. When
// the packages don't build, the error has what the go command says.
func Of(ctx context.Context, o Options, edges *pgo.Edges) (*Report, error) {
	sorted := edges.Sorted()
	hot := sorted[:edges.Hot(sorted, pgo.HotShare)]
	r := &Report{Total: edges.Total}
	if len(hot) == 0 {
		return r, nil
	}
	r.Threshold = float64(edges.Weight[hot[len(hot)-1]]) / float64(edges.Total) * 100
	b, err := newBuild(ctx, o, hot)
	if err != nil {
		return nil, err
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	if len(b.flagged) > 0 && !(math.Abs(b.with.threshold-r.Threshold) < 1e-9) && len(hot) < len(sorted) {
		return nil, fmt.Errorf("the compiler takes edges of at least %g%% of the weight of %s for hot, and here it is %g%%: the edges are another profile's, or Go's compiler has changed", b.with.threshold, o.Profile, r.Threshold)
	}
	b.choose(hot, edges.Weight)
	r.Edges = make([]Edge, len(hot))
	for i, e := range hot {
		r.Edges[i] = Edge{Edge: e, Weight: edges.Weight[e], Share: float64(edges.Weight[e]) / float64(edges.Total)}
		b.judge(&r.Edges[i])
	}
	b.copies(r.Edges)
	for i := range r.Edges {
		if e := &r.Edges[i]; e.Verdict == Gone && o.Why != nil {
			if e.Verdict, e.Text, err = o.Why(e.Edge); err != nil {
				return nil, err
			}
		}
	}
	r.sum(edges, sorted[len(hot):])
	return r, nil
}

// sum fills in Sums.
func (r *Report) sum(edges *pgo.Edges, cold []pgo.Edge) {
	at := map[Verdict]int{}
	add := func(v Verdict, w int64) {
		i, ok := at[v]
		if !ok {
			i = len(r.Sums)
			at[v] = i
			r.Sums = append(r.Sums, Sum{Verdict: v})
		}
		r.Sums[i].Edges++
		r.Sums[i].Weight += w
		r.Sums[i].Share = float64(r.Sums[i].Weight) / float64(r.Total)
	}
	for i := range r.Edges {
		add(r.Edges[i].Verdict, r.Edges[i].Weight)
	}
	slices.SortStableFunc(r.Sums, func(a, b Sum) int { return cmp.Compare(b.Weight, a.Weight) })
	clear(at)
	for _, e := range cold {
		add(Cold, edges.Weight[e])
	}
}
