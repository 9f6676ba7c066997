package autofdo

import "math"

// Flat returns the profile in the format's first form, which has no inlined functions,
// contexts and checksums. An inlined function becomes a function of its own, and a call
// target where it was inlined, with as many calls as it has samples and calls.
func (p *Profile) Flat() (*Profile, Merged) {
	flat := New()
	var m Merged
	for _, f := range p.Sorted() {
		m.flatten(flat, f)
	}
	return flat, m
}

// flatten adds a function and those inlined into it, and returns the weight of a call of it:
// its samples and calls, and those of the inlined functions.
func (m *Merged) flatten(flat *Profile, f *Function) (weight uint64) {
	weight = f.samplesAndCalls()
	own := *f
	own.Inlined, own.Checksum, own.Attributes = nil, 0, 0
	into := flat.function(leaf(f.Name))
	locs, callees := f.SortedInlined()
	for i, callee := range callees {
		own.Total -= min(own.Total, callee.Total)
		inlined := m.flatten(flat, callee)
		if into.line(locs[i]).target(callee.Name, inlined, 1) {
			m.Saturated++
		}
		add(&weight, inlined, 1)
	}
	if weight == math.MaxUint64 {
		m.Saturated++
	}
	m.function(into, &own, 1, false)
	return weight
}

// leaf returns the innermost function of a context.
func leaf(name string) string {
	if calls, ok := parseContext(name); ok && isContext(name) {
		return calls[len(calls)-1].name
	}
	return name
}

// samplesAndCalls adds up the samples and calls of the function's own lines.
func (f *Function) samplesAndCalls() uint64 {
	sum := uint64(0)
	for _, l := range f.Lines {
		add(&sum, l.Samples, 1)
		for _, n := range l.Targets {
			add(&sum, n, 1)
		}
	}
	return sum
}
