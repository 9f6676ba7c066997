package autofdo

import (
	"math"
	"math/bits"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Notes tells what FromSamples could not say in the text format, by the weight it has.
type Notes struct {
	All     int64 // the weight of the whole profile
	NoName  int64 // a function's name is not known, or the format can't hold it: left out
	NoLine  int64 // a line, or its function's first, is not known: left out
	Wrapped int64 // a line is before the function's first or far behind: its offset is modulo 65536
	// NoTarget is the weight of calls that were left out because their line or caller is not
	// known, though the samples themselves are in the profile.
	NoTarget int64
	// Scaled is the weight of samples of functions some of whose callers are known, that have
	// none: it is shared out among those that are known.
	Scaled int64
	// Biased is the weight of calls that are left out, as their line may call functions none of
	// whose callers are known.
	Biased int64
	// Prologue says that heads are samples of prologues. Otherwise nothing knows of those, and
	// heads are samples of the functions' first lines.
	Prologue  bool
	Saturated int // counts that are 18446744073709551615, since they have no room for more
}

// FromSamples returns a profile of sampled code for Clang. Samples are where the leaf was, in
// the functions that it is inlined into; a call target is a function that was seen called
// from a line. Callers get lost where a function has no frame, of some functions more often
// than of others, so targets are scaled: all of a function's have the weight of all of its own
// samples. Otherwise Clang would promote those that lose none. A function that has lost all of its
// callers may be called from any line: one that has not ten times its weight has no targets. For
// Go's compiler a function that calls itself at one address does not call itself; here it is a
// target.
func FromSamples(p *pgo.Profile) (*Profile, Notes) {
	c := converter{from: p, to: New(), ways: make([]way, len(p.Places)), names: map[string]bool{}, weights: map[string]*ownWeight{}}
	c.notes.Prologue = p.Prologues
	for i, place := range p.Places {
		c.ways[i] = c.wayTo(place)
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
	ways  []way           // by the index of their place
	names map[string]bool // that the format can hold
	notes Notes
	// weights are those of functions whose code it is.
	weights map[string]*ownWeight
}

// ownWeight is what samples of a function have, and what of it has a caller that is known.
type ownWeight struct{ all, called int64 }

// own takes in what a function's own samples have.
func (c *converter) own(pair pgo.Pair, weight int64) {
	name := c.ways[pair.Leaf].name
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

// scaled returns the calls of a function that a part of those that are known stands for.
func (c *converter) scaled(callee string, weight int64) uint64 {
	w := c.weights[callee]
	if w == nil || w.called == 0 {
		return uint64(weight)
	}
	high, low := bits.Mul64(uint64(min(weight, w.called)), uint64(w.all))
	n, _ := bits.Div64(high, low, uint64(w.called))
	return n
}

// prune takes out the targets of lines that may have others: functions without any known caller
// have more than a tenth of their weight.
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

// way is how a place is found in a profile: from the function whose code it is, through what
// is inlined, to the line.
type way struct {
	name    string // of the function whose code it is; "": not known
	callees []call
	at      Loc

	noName, noLine, wrapped bool
}

type call struct {
	at   Loc
	name string
}

// line reports whether a line is known.
func (w *way) line() bool { return !w.noName && !w.noLine }

func (c *converter) wayTo(place pgo.Place) way {
	var w way
	for i := len(place) - 1; i >= 0; i-- {
		f := &place[i]
		if !c.holds(f.Func) {
			w.noName = true
			return w
		}
		if i == len(place)-1 {
			w.name = f.Func
		} else {
			w.callees = append(w.callees, call{w.at, f.Func})
		}
		offset := f.Line - f.Start
		w.noLine = w.noLine || f.Line == 0 || f.Start == 0
		w.wrapped = w.wrapped || offset < 0 || offset > maxOffset
		w.at = Loc{uint32(offset) & maxOffset, uint32(f.Disc)}
	}
	w.noName = len(place) == 0
	return w
}

// holds reports whether the format can hold a function's name wherever it has one.
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
	c.leaf(w, c.from.Places[pair.Leaf], weight)
	if pair.Caller != pgo.None && !c.call(&c.ways[pair.Caller], w.name, weight) && !w.noName && !w.noLine {
		c.notes.NoTarget += weight
	}
}

// leaf adds what was sampled at a place, or ran there.
func (c *converter) leaf(w *way, place pgo.Place, weight int64) {
	n := &c.notes
	n.All += min(weight, math.MaxInt64-n.All)
	switch {
	case w.noName:
		n.NoName += weight
	case w.noLine:
		n.NoLine += weight
	default:
		c.samples(w, place, uint64(weight))
	}
}

// call adds calls from a place, and reports whether the place and the callee are known.
func (c *converter) call(from *way, callee string, weight int64) bool {
	if callee == "" || !from.line() {
		return false
	}
	f := c.to.function(from.name)
	for _, call := range from.callees {
		f = f.inlined(call.at, call.name)
	}
	if f.line(from.at).target(callee, c.scaled(callee, weight), 1) {
		c.notes.Saturated++
	}
	return true
}

// samples adds the samples of a leaf to its line, and to the functions on the way to it.
func (c *converter) samples(w *way, place pgo.Place, weight uint64) {
	f := c.to.function(w.name)
	c.add(&f.Total, weight)
	for _, call := range w.callees {
		f = f.inlined(call.at, call.name)
		c.add(&f.Total, weight)
	}
	c.add(&f.line(w.at).Samples, weight)
	prologue := place[0].Prologue
	if !c.notes.Prologue {
		prologue = w.at.Offset == 0
	}
	if prologue && len(w.callees) == 0 {
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

// ToSamples returns what a profile tells Go's compiler: for each call target an edge, and for
// each inlined call one with its weight. Samples that no call leads to are no edge, and left
// out. The error is pgo.ErrOverflow.
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

// edges adds the edges of a function and of what is inlined into it, and returns what a call
// of it weighs.
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
