package autofdo

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// Loc is a position in a function.
type Loc struct {
	Offset uint32 // lines after the function's first; Clang uses only offsets up to maxOffset
	Disc   uint32 // DWARF's discriminator, which distinguishes parts of a line; 0: none
}

// maxOffset is the largest line offset that Clang uses.
const maxOffset = 0xffff

// Line has the samples of a position, and the calls from it.
type Line struct {
	Samples uint64
	Targets map[string]uint64 // number of calls by callee; nil: none
}

// Function has the samples of a function, or of one inlined copy of it.
type Function struct {
	Name    string // as the linker has it, or a context such as "[main:3 @ f]"
	Total   uint64 // samples in it and in functions inlined into it
	Head    uint64 // samples of its prologue; an inlined function has none
	Lines   map[Loc]*Line
	Inlined map[Loc]map[string]*Function // by the call's position and the callee's name

	Checksum   uint64 // of the control flow, in profiles of pseudo probes; 0: none
	Attributes uint32 // of the context
}

// Profile is a set of functions by name.
type Profile struct {
	Functions map[string]*Function
}

// New returns an empty profile.
func New() *Profile { return &Profile{Functions: map[string]*Function{}} }

func newFunction(name string) *Function {
	return &Function{Name: name, Lines: map[Loc]*Line{}, Inlined: map[Loc]map[string]*Function{}}
}

// function returns the function with a name, and adds it if it is new.
func (p *Profile) function(name string) *Function {
	f := p.Functions[name]
	if f == nil {
		f = newFunction(name)
		p.Functions[name] = f
	}
	return f
}

// line returns the line at a position, and adds it if it is new.
func (f *Function) line(at Loc) *Line {
	l := f.Lines[at]
	if l == nil {
		l = &Line{}
		f.Lines[at] = l
	}
	return l
}

// inlined returns a callee inlined at a position, and adds it if it is new.
func (f *Function) inlined(at Loc, name string) *Function {
	if f.Inlined[at] == nil {
		f.Inlined[at] = map[string]*Function{}
	}
	callee := f.Inlined[at][name]
	if callee == nil {
		callee = newFunction(name)
		f.Inlined[at][name] = callee
	}
	return callee
}

// target adds calls of a function, and reports whether their number saturates.
func (l *Line) target(name string, n, weight uint64) (saturates bool) {
	if l.Targets == nil {
		l.Targets = map[string]uint64{}
	}
	count := l.Targets[name]
	saturates = add(&count, n, weight)
	l.Targets[name] = count
	return saturates
}

// add adds n times weight to a count. If the count overflows it becomes the maximum, as in
// LLVM, and add returns true.
func add(to *uint64, n, weight uint64) (saturates bool) {
	high, low := bits.Mul64(n, weight)
	sum, carry := bits.Add64(*to, low, 0)
	if high != 0 || carry != 0 {
		*to = 1<<64 - 1
		return true
	}
	*to = sum
	return false
}

// Add adds n to a sum of counts. If the sum overflows it saturates, and Add returns true.
func Add(to *uint64, n uint64) (saturates bool) { return add(to, n, 1) }

// Walk calls visit with f and then with each function inlined into it.
func (f *Function) Walk(visit func(*Function)) {
	visit(f)
	_, callees := f.SortedInlined()
	for _, callee := range callees {
		callee.Walk(visit)
	}
}

// Sum returns the samples of the lines plus the totals of inlined functions, which should be
// the function's total.
func (f *Function) Sum() uint64 {
	sum := uint64(0)
	for _, l := range f.Lines {
		add(&sum, l.Samples, 1)
	}
	for _, callees := range f.Inlined {
		for _, callee := range callees {
			add(&sum, callee.Total, 1)
		}
	}
	return sum
}

// Sorted returns the functions in LLVM's order: the hottest first, equal ones by name.
func (p *Profile) Sorted() []*Function {
	names := make(map[string][]call, len(p.Functions))
	for name := range p.Functions {
		names[name] = nameOf(name)
	}
	return slices.SortedFunc(maps.Values(p.Functions), func(a, b *Function) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), slices.CompareFunc(names[a.Name], names[b.Name], compareCalls))
	})
}

// SortedLines returns the positions of a function's lines in order.
func (f *Function) SortedLines() []Loc { return slices.SortedFunc(maps.Keys(f.Lines), compareLocs) }

// SortedInlined returns the inlined callees, and their positions.
func (f *Function) SortedInlined() (at []Loc, callees []*Function) {
	for _, loc := range slices.SortedFunc(maps.Keys(f.Inlined), compareLocs) {
		for _, name := range slices.Sorted(maps.Keys(f.Inlined[loc])) {
			at = append(at, loc)
			callees = append(callees, f.Inlined[loc][name])
		}
	}
	return at, callees
}

// SortedTargets returns the names of the callees, the most called first, equal ones by name.
func (l *Line) SortedTargets() []string {
	return slices.SortedFunc(maps.Keys(l.Targets), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.Targets[b], l.Targets[a]), cmp.Compare(a, b))
	})
}

func compareLocs(a, b Loc) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Disc, b.Disc))
}
