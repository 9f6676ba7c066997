package autofdo

import (
	"math"
	"math/bits"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Notes reports, by weight, what the text format could not represent.
type Notes struct {
	All     int64 // the weight of the whole profile
	NoName  int64 // left out: a function's name is unknown, or the format can't hold it
	NoLine  int64 // left out: a line, or its function's first, is unknown
	Wrapped int64 // a line is before the function's first or far after it: its offset is modulo 65536
	// NoTarget is the weight of calls that were left out because their line or caller is unknown,
	// though the samples themselves are in the profile.
	NoTarget int64
	// Scaled is the weight of samples without a caller, of functions that have some known callers:
	// it is distributed over those.
	Scaled int64
	// Biased is the weight of calls that were left out because their line may also call functions
	// without any known caller.
	Biased int64
	// Prologue reports that heads are samples of prologues. Otherwise prologues are unknown, and
	// heads are samples of the functions' first lines.
	Prologue  bool
	Saturated int // number of counts that saturated at 18446744073709551615
}

// FromSamples converts a profile of sampled code for Clang. Samples are attributed to the position
// of the leaf, within the functions that it is inlined into; a call target is a function that was
// seen called from a line.
//
// Callers get lost where a function has no frame, of some functions more often than of others. So
// targets are scaled: all targets of a function together have the weight of all of its own
// samples. Otherwise Clang would promote functions that lose none. A function that has lost all of
// its callers may be called from any line; a line whose calls have less than ten times the weight
// of such functions has no targets.
//
// Go's compiler does not count a function that calls itself at one address as a call; here it is a
// target.
func FromSamples(p *pgo.Profile) (*Profile, Notes) {
	c := converter{from: p, to: New(), ways: make([]way, len(p.Locations)), names: map[string]bool{}, weights: map[string]*ownWeight{}}
	c.notes.Prologue = p.Prologues
	for i, location := range p.Locations {
		c.ways[i] = c.wayTo(location)
	}
	pairs := p.Pairs()
	for _, pair := range pairs {
		c.own(pair, p.Weight[pair])
	}
	for _, pair := range pairs {
		c.pair(pair, p.Weight[pair])
	}
	orphans := int64(0)
	for name, w := range c.weights {
		if w.called > 0 {
			c.notes.Scaled += w.all - w.called
		} else {
			orphans += min(p.Lost[name], math.MaxInt64-orphans)
		}
	}
	for _, f := range c.to.Functions {
		c.prune(f, uint64(orphans))
	}
	return c.to, c.notes
}

type converter struct {
	from  *pgo.Profile
	to    *Profile
	ways  []way           // indexed like locations
	names map[string]bool // whether the format can hold a name
	notes Notes
	// weights is by the function whose code it is.
	weights map[string]*ownWeight
}

// ownWeight is the weight of a function's samples, and of those with a known caller.
type ownWeight struct{ all, called int64 }

// own adds the weight of a function's own samples.
func (c *converter) own(pair pgo.Pair, weight int64) {
	name := c.ways[pair.Leaf].name()
	if weight <= 0 || name == "" {
		return
	}
	w := c.weights[name]
	if w == nil {
		w = &ownWeight{}
		c.weights[name] = w
	}
	weight = min(weight, math.MaxInt64-w.all)
	w.all += weight
	if pair.Caller != pgo.None && c.ways[pair.Caller].line() {
		w.called += weight
	}
}

// scaled returns the calls of a function represented by a part of those with known callers.
func (c *converter) scaled(callee string, weight int64) uint64 {
	w := c.weights[callee]
	if w == nil || w.called == 0 {
		return uint64(weight)
	}
	high, low := bits.Mul64(uint64(min(weight, w.called)), uint64(w.all))
	n, _ := bits.Div64(high, low, uint64(w.called))
	return n
}

// prune removes the targets of lines that may have others: functions without any known caller have
// more than a tenth of the line's weight.
func (c *converter) prune(f *Function, orphans uint64) {
	for at, l := range f.Lines {
		calls := uint64(0)
		for _, n := range l.Targets {
			add(&calls, n, 1)
		}
		if calls == 0 || orphans <= calls/10 {
			continue
		}
		c.notes.Biased += int64(min(calls, uint64(math.MaxInt64-c.notes.Biased)))
		if l.Targets = nil; l.Samples == 0 {
			delete(f.Lines, at)
		}
	}
	for _, callees := range f.Inlined {
		for _, callee := range callees {
			c.prune(callee, orphans)
		}
	}
}

// way is the path of a location in a profile, from the function whose code it is, through inlined
// functions, to the line; as far as the format can hold the names.
type way struct {
	path []call

	noName, noLine, wrapped bool
}

// name returns the function whose code it is; "": unknown.
func (w *way) name() string {
	if len(w.path) == 0 {
		return ""
	}
	return w.path[0].name
}

// line reports whether the line is known.
func (w *way) line() bool { return !w.noName && !w.noLine }

func (c *converter) wayTo(location pgo.Location) way {
	var w way
	for i := len(location) - 1; i >= 0; i-- {
		f := &location[i]
		if !c.holds(f.Func) {
			w.noName = true
			return w
		}
		offset := f.Line - f.Start
		w.noLine = w.noLine || f.Line == 0 || f.Start == 0
		w.wrapped = w.wrapped || offset < 0 || offset > maxOffset
		w.path = append(w.path, call{f.Func, Loc{uint32(offset) & maxOffset, uint32(f.Disc)}})
	}
	w.noName = len(location) == 0
	return w
}

// holds reports whether the format can hold a function's name in all positions.
func (c *converter) holds(name string) bool {
	ok, known := c.names[name]
	if !known {
		f := newFunction(name)
		_, head := headLine(f)
		_, target := bodyLine(1, Loc{}, &Line{Targets: map[string]uint64{name: 1}})
		_, inlined := inlineLine(1, Loc{}, f)
		ok = name != "" && !isContext(name) && head && target && inlined
		c.names[name] = ok
	}
	return ok
}

func (c *converter) pair(pair pgo.Pair, weight int64) {
	if weight <= 0 {
		return
	}
	w := &c.ways[pair.Leaf]
	c.leaf(w, c.from.Locations[pair.Leaf], weight)
	if pair.Caller != pgo.None && !c.call(&c.ways[pair.Caller], w.name(), weight) && !w.noName && !w.noLine {
		c.notes.NoTarget += weight
	}
}

// leaf adds samples or executions at a location.
func (c *converter) leaf(w *way, location pgo.Location, weight int64) {
	n := &c.notes
	n.All += min(weight, math.MaxInt64-n.All)
	switch {
	case w.noName:
		n.NoName += weight
	case w.noLine:
		n.NoLine += weight
	default:
		c.samples(w, location, uint64(weight))
	}
}

// call adds calls from a location, and reports whether the location and the callee are known.
func (c *converter) call(from *way, callee string, weight int64) bool {
	if callee == "" || !from.line() {
		return false
	}
	f, at := c.to.function(from.name()), from.path[0].at
	for _, x := range from.path[1:] {
		f, at = f.inlined(at, x.name), x.at
	}
	if f.line(at).target(callee, c.scaled(callee, weight), 1) {
		c.notes.Saturated++
	}
	return true
}

// samples adds the samples of a leaf to its line, and to the functions on the way to it.
func (c *converter) samples(w *way, location pgo.Location, weight uint64) {
	f, at := c.to.function(w.name()), w.path[0].at
	c.add(&f.Total, weight)
	for _, x := range w.path[1:] {
		f, at = f.inlined(at, x.name), x.at
		c.add(&f.Total, weight)
	}
	c.add(&f.line(at).Samples, weight)
	prologue := location[0].Prologue
	if !c.notes.Prologue {
		prologue = at.Offset == 0
	}
	if prologue && len(w.path) == 1 {
		c.add(&f.Head, weight)
	}
	if w.wrapped {
		c.notes.Wrapped += int64(weight)
	}
}

func (c *converter) add(to *uint64, n uint64) {
	if add(to, n, 1) {
		c.notes.Saturated++
	}
}

// ToSamples converts a profile for Go's compiler: each call target becomes an edge, and each
// inlined call one with its weight. Samples that no call leads to are left out. The error is
// pgo.ErrOverflow.
func ToSamples(p *Profile) (*pgo.Profile, error) {
	e := pgo.Edges{Weight: map[pgo.Edge]int64{}, Lines: true}
	for _, f := range p.Functions {
		if _, err := edges(e.Weight, f); err != nil {
			return nil, err
		}
	}
	q := pgo.Shrink(pgo.New(pgo.Samples), &e)
	_, err := q.Total()
	return q, err
}

// edges adds the edges of a function and of those inlined into it, and returns the weight of a
// call of it.
func edges(to map[pgo.Edge]int64, f *Function) (weight uint64, err error) {
	edge := func(at Loc, callee string, n uint64) error {
		e := pgo.Edge{Caller: leaf(f.Name), Callee: callee, Offset: int(at.Offset)}
		if n > uint64(math.MaxInt64-to[e]) {
			return pgo.ErrOverflow
		}
		if n > 0 {
			to[e] += int64(n)
		}
		return nil
	}
	for at, l := range f.Lines {
		for name, n := range l.Targets {
			if err := edge(at, name, n); err != nil {
				return 0, err
			}
		}
	}
	weight = f.samplesAndCalls()
	for at, callees := range f.Inlined {
		for name, callee := range callees {
			inlined, err := edges(to, callee)
			if err == nil {
				err = edge(at, name, inlined)
			}
			if err != nil {
				return 0, err
			}
			add(&weight, inlined, 1)
		}
	}
	return weight, nil
}
