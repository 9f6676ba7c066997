package pgo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/symbols"
)

// Addresses of the locations of a written profile. The compiler uses them only to compare a
// leaf's with its caller's: equal lines of one address do not call each other.
const (
	sameAddress = 0
	leafAddress = 1
	callAddress = 2
)

// Write writes p in pprof's format, gzipped. Equal profiles become equal files.
func (p *Profile) Write(w io.Writer) error {
	typ, unit, _ := strings.Cut(string(p.Unit), "/")
	value := &profile.ValueType{Type: typ, Unit: unit}
	per, period := &profile.ValueType{Type: typ, Unit: unit}, int64(1)
	if p.Period > 0 {
		per, period = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, int64(p.Period)
	}
	b := &pprofWriter{p: p, q: &profile.Profile{
		SampleType: []*profile.ValueType{value}, PeriodType: per, Period: period,
		DurationNanos: int64(p.Duration), Comments: p.Comments,
	}, locations: map[[2]int32]*profile.Location{}, functions: map[function]*profile.Function{}}
	for _, pair := range p.byContent() {
		b.sample(pair)
	}
	if err := b.q.CheckValid(); err != nil {
		return fmt.Errorf("making a profile: %w", err)
	}
	return b.q.Write(w)
}

// byContent returns the pairs in an order that depends only on their contents: the heaviest
// first.
func (p *Profile) byContent() []Pair {
	ids := make([]int32, len(p.Locations))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int { return p.Locations[a].compare(p.Locations[b]) })
	rank := make([]int32, len(ids))
	for i, id := range ids {
		rank[id] = int32(i)
	}
	of := func(id int32) int32 {
		if id == None {
			return None
		}
		return rank[id]
	}
	list := p.Pairs()
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(p.Weight[b], p.Weight[a]), cmp.Compare(of(a.Leaf), of(b.Leaf)), cmp.Compare(of(a.Caller), of(b.Caller)), compareBool(a.Same, b.Same))
	})
	return list
}

func (l Location) compare(m Location) int {
	return slices.CompareFunc(l, m, func(a, b symbols.Frame) int { return a.Compare(&b) })
}

type function struct {
	name, file string
	start      int
}

type pprofWriter struct {
	p         *Profile
	q         *profile.Profile
	locations map[[2]int32]*profile.Location // by location and address
	functions map[function]*profile.Function
}

func (b *pprofWriter) sample(pair Pair) {
	leaf, caller := int32(leafAddress), int32(callAddress)
	if pair.Same {
		leaf, caller = sameAddress, sameAddress
	}
	s := &profile.Sample{Value: []int64{b.p.Weight[pair]}, Location: []*profile.Location{b.location(pair.Leaf, leaf)}}
	if pair.Caller != None {
		s.Location = append(s.Location, b.location(pair.Caller, caller))
	}
	b.q.Sample = append(b.q.Sample, s)
}

func (b *pprofWriter) location(location, address int32) *profile.Location {
	key := [2]int32{location, address}
	l := b.locations[key]
	if l != nil {
		return l
	}
	l = &profile.Location{ID: uint64(len(b.q.Location) + 1), Address: uint64(address)}
	for i := range b.p.Locations[location] {
		f := &b.p.Locations[location][i]
		if *f == (symbols.Frame{}) && len(b.p.Locations[location]) == 1 {
			break // nothing is known of it
		}
		l.Line = append(l.Line, profile.Line{Function: b.function(f), Line: int64(f.Line)})
	}
	b.locations[key] = l
	b.q.Location = append(b.q.Location, l)
	return l
}

func (b *pprofWriter) function(f *symbols.Frame) *profile.Function {
	key := function{f.Func, f.File, f.Start}
	x := b.functions[key]
	if x == nil {
		x = &profile.Function{ID: uint64(len(b.q.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File, StartLine: int64(f.Start)}
		b.functions[key] = x
		b.q.Function = append(b.q.Function, x)
	}
	return x
}
