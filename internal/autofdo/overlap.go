package autofdo

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Shared counts what two profiles have in common: samples, or functions.
type Shared struct {
	Base, Test         uint64 // of each
	BaseOnly, TestOnly uint64 // of each, without counterpart in the other
	Common, Union      uint64 // in both, and in at least one
}

// Percent returns Common as a percentage of Union.
func (s Shared) Percent() float64 { return percent(s.Common, s.Union) }

func percent(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all) * 100
}

// Similarity measures how similar two profiles are, as llvm-profdata overlap --sample does.
type Similarity struct {
	Percent   float64
	Samples   Shared
	Functions Shared
	// Of has each function, the heaviest in base first.
	Of []FunctionSimilarity
}

// FunctionSimilarity measures how similar a function is in two profiles.
type FunctionSimilarity struct {
	Name       string
	Percent    float64
	BaseWeight float64 // its share of the profile's samples, in percent
	TestWeight float64
	Samples    Shared
}

// ErrNoSamples reports that a profile has no samples, so it can't be compared.
var ErrNoSamples = errors.New("the sum of the profile's sample counts is 0")

// ErrOverflow reports that the sum of counts does not fit in 64 bits.
var ErrOverflow = errors.New("the counts of both profiles add up to more than 18446744073709551614, so shares of them would be wrong: compare profiles that were collected for a shorter time")

// rounding is the tolerance for sums of fractions: LLVM ignores smaller differences.
const rounding = 0.000005

// samples returns the samples of a function's lines and of those inlined into it. The sum saturates
// at 18446744073709551615.
func (f *Function) samples() uint64 {
	if f == nil {
		return 0
	}
	sum := uint64(0)
	for _, l := range f.Lines {
		add(&sum, l.Samples, 1)
	}
	for _, callees := range f.Inlined {
		for _, callee := range callees {
			add(&sum, callee.samples(), 1)
		}
	}
	return sum
}

// Overlap compares test with base. The error wraps ErrNoSamples, ErrKinds or ErrOverflow.
func Overlap(base, test *Profile) (*Similarity, error) {
	if err := sameKind(base, test); err != nil {
		return nil, err
	}
	o := &Similarity{Functions: Shared{Base: uint64(len(base.Functions)), Test: uint64(len(test.Functions))}}
	both := uint64(0) // the sum of both, which is at least as large as any other sum
	for _, f := range base.Functions {
		add(&o.Samples.Base, f.samples(), 1)
	}
	for _, f := range test.Functions {
		add(&o.Samples.Test, f.samples(), 1)
	}
	add(&both, o.Samples.Base, 1)
	if add(&both, o.Samples.Test, 1); both == math.MaxUint64 {
		return nil, ErrOverflow
	}
	if o.Samples.Base == 0 || o.Samples.Test == 0 {
		return nil, ErrNoSamples
	}
	for name, f := range base.Functions {
		o.function(name, f, test.Functions[name])
	}
	for name, f := range test.Functions {
		if base.Functions[name] == nil {
			o.function(name, nil, f)
		}
	}
	slices.SortFunc(o.Of, func(a, b FunctionSimilarity) int {
		return cmp.Or(cmp.Compare(b.BaseWeight, a.BaseWeight), cmp.Compare(b.TestWeight, a.TestWeight), cmp.Compare(a.Name, b.Name))
	})
	for _, f := range o.Of {
		o.Percent += f.Percent * (f.BaseWeight + f.TestWeight) / 200
	}
	if math.Abs(o.Percent-100) < 100*rounding {
		o.Percent = 100
	}
	return o, nil
}

// function compares a function, and adds it to the profiles' sums. base or test is nil if that
// profile lacks the function.
func (o *Similarity) function(name string, base, test *Function) {
	b, t := base.samples(), test.samples()
	f := FunctionSimilarity{Name: name, BaseWeight: percent(b, o.Samples.Base), TestWeight: percent(t, o.Samples.Test), Samples: Shared{Base: b, Test: t}}
	o.Functions.Union++
	switch {
	case test == nil:
		o.Functions.BaseOnly++
		f.Samples.BaseOnly, f.Samples.Union = b, b
	case base == nil:
		o.Functions.TestOnly++
		f.Samples.TestOnly, f.Samples.Union = t, t
	default:
		o.Functions.Common++
		inside := (2 - f.Samples.difference(base, test)) / 2
		if math.Abs(inside) < rounding {
			inside = 0
		}
		f.Percent = inside * (100 - math.Abs(f.BaseWeight-f.TestWeight))
	}
	o.Samples.Common += f.Samples.Common
	o.Samples.Union += f.Samples.Union
	o.Samples.BaseOnly += f.Samples.BaseOnly
	o.Samples.TestOnly += f.Samples.TestOnly
	o.Of = append(o.Of, f)
}

// difference returns how different a function's lines are, 0 to 2, and adds the counts in common.
func (s *Shared) difference(base, test *Function) float64 {
	sum := 0.0
	for _, at := range base.SortedLines() {
		if l := test.Lines[at]; l != nil {
			sum += s.step(base.Lines[at].Samples, l.Samples)
		} else {
			sum += s.baseOnly(base.Lines[at].Samples)
		}
	}
	for _, at := range test.SortedLines() {
		if base.Lines[at] == nil {
			sum += s.testOnly(test.Lines[at].Samples)
		}
	}
	locs, callees := base.SortedInlined()
	for i, callee := range callees {
		if other := test.Inlined[locs[i]][callee.Name]; other != nil {
			sum += s.difference(callee, other)
		} else {
			sum += s.baseOnly(callee.samples())
		}
	}
	locs, callees = test.SortedInlined()
	for i, callee := range callees {
		if base.Inlined[locs[i]][callee.Name] == nil {
			sum += s.testOnly(callee.samples())
		}
	}
	return sum
}

func (s *Shared) baseOnly(n uint64) float64 {
	s.BaseOnly += n
	return s.step(n, 0)
}

func (s *Shared) testOnly(n uint64) float64 {
	s.TestOnly += n
	return s.step(0, n)
}

// step compares the samples of a line, or of an inlined function.
func (s *Shared) step(base, test uint64) float64 {
	s.Union += max(base, test)
	s.Common += min(base, test)
	return math.Abs(percent(base, s.Base)-percent(test, s.Test)) / 100
}
