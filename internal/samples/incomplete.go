package samples

import (
	"slices"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Truncated reports whether a stack lacks its outermost callers. Those of the go statement
// that created its goroutine may follow.
func (s *Stack) Truncated() bool { return s.has(TruncatedName) }

func (s *Stack) has(function string) bool {
	return slices.ContainsFunc(s.Frames, func(f *symbols.Frame) bool { return f.Func == function })
}

// Truncated returns, for each metric that is not a sum, the total of the stacks that lack
// their outermost callers; nil if there are none.
func (p *Profile) Truncated() (all []int64) {
	for i := range p.Stacks {
		s := &p.Stacks[i]
		if !s.Truncated() {
			continue
		}
		if all == nil {
			all = make([]int64, len(p.Metrics))
		}
		for m, v := range s.Values {
			all[m] += v
		}
	}
	return all
}

// incomplete adds notes on unknown callers.
func (p *Profile) incomplete() {
	m := p.Metric(p.Preset)
	if m < 0 {
		return
	}
	total := p.Value(p.Total(), m)
	note := func(n int64, text string) {
		if n > 0 && total > 0 {
			p.Notes = append(p.Notes, show.Percent(float64(n)/float64(total))+" of "+p.Preset+" "+text)
		}
	}
	if cut := p.Truncated(); cut != nil {
		note(p.Value(cut, m), "is of stacks too deep to be kept whole: their outermost callers are "+TruncatedName+
			", so values of functions that may be among these are lower bounds")
	}
	unknown := int64(0)
	for i := range p.Stacks {
		s := &p.Stacks[i]
		if s.has(UnknownCallerName) {
			unknown += p.Value(s.Values, m)
		}
	}
	note(unknown, "is of stacks in which callers are not known ("+UnknownCallerName+"): code without a frame or other record of its return address")
}
