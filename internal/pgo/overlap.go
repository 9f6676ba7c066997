package pgo

// Overlap returns how similar two profiles are: the sum, over all edges, of the smaller of
// the two shares of weight. 1 means equal, 0 nothing in common. llvm-profdata overlap
// computes it likewise.
func Overlap(a, b *Edges) float64 {
	if a.Total == 0 || b.Total == 0 {
		return 0
	}
	sum := 0.0
	for edge, w := range a.Weight {
		sum += min(float64(w)/float64(a.Total), float64(b.Weight[edge])/float64(b.Total))
	}
	const rounding = 1e-9 // tolerance for sums of many fractions
	if sum > 1-rounding {
		return 1
	}
	return sum
}

// Shrink returns a profile with the same edges and nothing else, which has the same effect in
// the compiler. If no function's first line is known it returns nil, since the compiler
// refuses such a profile.
func Shrink(p *Profile, e *Edges) *Profile {
	if !e.Lines && len(e.Weight) > 0 {
		return nil
	}
	small := p.Empty()
	for _, edge := range e.Sorted() {
		const first = 1 // arbitrary: the compiler uses only the offset
		leaf := small.Location(Location{{Func: edge.Callee, Start: first, Line: first}})
		small.Weight[Pair{leaf, small.Location(Location{{Func: edge.Caller, Start: first, Line: first + edge.Offset}}), false}] += e.Weight[edge]
	}
	return small
}
