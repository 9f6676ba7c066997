package pgo

// Overlap is how alike two profiles are: the sum, over all edges, of the smaller of the two
// shares of weight. 1 is the same, 0 has nothing in common. llvm-profdata overlap computes it
// likewise.
func Overlap(a, b *Edges) float64 {
	if a.Total == 0 || b.Total == 0 {
		return 0
	}
	sum := 0.0
	for edge, w := range a.Weight {
		sum += min(float64(w)/float64(a.Total), float64(b.Weight[edge])/float64(b.Total))
	}
	const rounding = 1e-9 // what adding so many fractions may be off
	if sum > 1-rounding {
		return 1
	}
	return sum
}

// Shrink returns a profile with the same edges and nothing else: what the compiler makes of
// it is the same. Where no function's first line is known it returns nil, since the compiler
// refuses such a profile.
func Shrink(p *Profile, e *Edges) *Profile {
	if !e.Lines && len(e.Weight) > 0 {
		return nil
	}
	small := p.Empty()
	for _, edge := range e.Sorted() {
		const first = 1 // of which line an offset is counted is nothing that the compiler asks
		leaf := small.Place(Place{{Func: edge.Callee, Start: first, Line: first}})
		small.Weight[Pair{leaf, small.Place(Place{{Func: edge.Caller, Start: first, Line: first + edge.Offset}}), false}] += e.Weight[edge]
	}
	return small
}
