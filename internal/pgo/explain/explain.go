// Package explain determines what Go's compiler does with the hot calls of a profile.
//
// # Design
//
//  1. The go command compiles twice, with the profile and without, and prints the compiler's
//     output of -m=2 and -d=pgodebug=3. It repeats that from its build cache when nothing has
//     changed, and writes nothing else. Go 1.22 and later print enough.
//  2. Only the packages of hot callers and callees get these flags. For them the flags replace
//     other -gcflags.
//  3. The compiler reports the places of calls, not of edges. A call belongs to an edge if it is as
//     many lines after the caller's first line, and calls a function of that name.
//  4. Differences between the builds are due to the profile. What neither build shows is Unknown.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Verdict is the compiler's treatment of a hot edge.
type Verdict string

// The verdicts.
const (
	Inlined          Verdict = "inlined"                      // because of the profile
	InlinedAnyway    Verdict = "inlined anyway"               // without the profile too
	InlinedInPart    Verdict = "inlined in part"              // not in all copies of the caller, or not all calls of the line
	DevirtualInlined Verdict = "devirtualized, inlined"       // an indirect call, because of the profile
	Devirtualized    Verdict = "devirtualized"                // called directly after a comparison, not inlined
	NotDevirtualized Verdict = "not devirtualized"            // the call is still indirect
	CannotInline     Verdict = "cannot be inlined"            // the callee, because of its contents or its cost
	BigCaller        Verdict = "the caller is too large"      // it only inlines small functions
	GoOrDefer        Verdict = "go or defer"                  // the call is in a wrapper, or later
	Generic          Verdict = "generic"                      // the compiler has no function F[...]
	Generated        Verdict = "no call in the source"        // the compiler inserts the call, or assembly jumps
	NotMatched       Verdict = "not matched"                  // the compiler has no such call by that name; only from Why
	Gone             Verdict = "gone from the source"         // nothing at that line calls the callee
	NotBuilt         Verdict = "not in the build"             // nothing imports the package
	Unknown          Verdict = "not reported by the compiler" // and no other source has it
	Cold             Verdict = "not hot"                      // all edges after the 99 %; only in Sums
)

// Options select what is built.
type Options struct {
	Dir      string   // the working directory of the go command
	Profile  string   // the file of the profile
	Packages []string // patterns; none: the package in Dir
	Flags    []string // of go build, such as -tags=x

	// Why, if not nil, is called for calls that the compiler does not have. It returns Gone or
	// another verdict, and a sentence.
	Why func(pgo.Edge) (Verdict, string, error)
}

// Edge is a hot edge with the compiler's decision.
type Edge struct {
	pgo.Edge
	Weight        int64
	Share         float64 // of all weight, 0 to 1
	Verdict       Verdict
	Text          string // the decision with its reason, after "18 % of the calls: "
	Cost          int    // of the callee; 0: unknown
	Devirtualized string // the function that is called directly now, by the linker's name
	File          string // of the call; "": unknown
	Line          int

	at []copied // the places where it was inlined
}

// Sum is the sum over the edges with a verdict.
type Sum struct {
	Verdict Verdict
	Edges   int
	Weight  int64
	Share   float64
}

// Report is the compiler's use of a profile.
type Report struct {
	Threshold float64 // the share of the lightest hot edge, in percent
	Total     int64
	Edges     []Edge // the hot edges, the heaviest first
	Sums      []Sum  // the heaviest first; Cold is the last
}

// Of determines the compiler's decisions on the hot edges of a profile. The edges must be the
// profile's. If the packages don't build, the error has the go command's output.
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
		return nil, fmt.Errorf("the compiler considers edges of at least %g%% of the weight of %s hot, but it is %g%% here: the edges are another profile's, or Go's compiler has changed", b.with.threshold, o.Profile, r.Threshold)
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
