package pgo

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// Frame is a function, and a line in it.
type Frame struct {
	Func     string // as the linker names it; "": not known
	File     string // "": not known
	Start    int    // the function's first line; 0: not known
	Line     int    // 0: not known
	Disc     int    // DWARF's discriminator, which tells parts of a line apart; 0: none
	Prologue bool   // the instruction is of the function's prologue
}

// Place is an instruction: the function whose line it is first, then those that this was
// inlined into, the function whose code it is last.
type Place []Frame

// Pair is what a Profile keeps of a stack: places by their index in Profile.Places.
type Pair struct {
	Leaf, Caller int32 // Caller is None for a leaf that nobody called
	// Same says that both are one address, or that addresses are not known. The compiler takes
	// equal lines of one address for one node of its graph, and a node does not call itself.
	Same bool
}

// None is the Pair.Caller of a leaf that nobody called.
const None int32 = -1

// Unit is what the weights of a Profile are.
type Unit string

// The units: those that the compiler takes.
const (
	Samples     Unit = "samples/count"
	Nanoseconds Unit = "cpu/nanoseconds"
)

// Profile is what was sampled: how much the places of a program had, and from where they
// were called.
type Profile struct {
	Places   []Place
	Weight   map[Pair]int64
	Unit     Unit
	Period   time.Duration // the CPU time of one of the Samples; 0: not known
	Duration time.Duration // of all sampling together; 0: not known
	Comments []string      // where it is from, a line each
	// Lost is the weight of samples whose caller is not known, by the function whose code they are
	// in; Write does not keep it.
	Lost   map[string]int64
	Losses []string // what of the source is missing or can't be read, sentences; Write does not keep them
	// Prologues says that Frame.Prologue is known; Write does not keep it.
	Prologues bool

	ids map[string]int32
	key []byte
	str map[string]uint32 // of key
}

// ErrOverflow says that weights add up to more than 63 bits hold.
var ErrOverflow = errors.New("the weights add up to more than 9223372036854775807")

// New returns an empty profile.
func New(unit Unit) *Profile {
	return &Profile{Weight: map[Pair]int64{}, Lost: map[string]int64{}, Unit: unit, ids: map[string]int32{}, str: map[string]uint32{}}
}

// Empty returns a profile without weights that is from where p is.
func (p *Profile) Empty() *Profile {
	q := New(p.Unit)
	q.Period, q.Duration, q.Comments, q.Prologues = p.Period, p.Duration, slices.Clone(p.Comments), p.Prologues
	return q
}

// Place returns the index of a place, which it adds if it is new. It keeps no reference to it.
func (p *Profile) Place(place Place) int32 {
	p.key = p.key[:0]
	for i := range place {
		f := &place[i]
		p.key = binary.AppendUvarint(p.key, uint64(p.text(f.Func)))
		p.key = binary.AppendUvarint(p.key, uint64(p.text(f.File)))
		p.key = binary.AppendVarint(p.key, int64(f.Start))
		p.key = binary.AppendVarint(p.key, int64(f.Line))
		p.key = binary.AppendVarint(p.key, int64(f.Disc))
		prologue := byte(0)
		if f.Prologue {
			prologue = 1
		}
		p.key = append(p.key, prologue)
	}
	id, ok := p.ids[string(p.key)]
	if !ok {
		id = int32(len(p.Places))
		p.ids[string(p.key)] = id
		p.Places = append(p.Places, slices.Clone(place))
	}
	return id
}

func (p *Profile) text(s string) uint32 {
	id, ok := p.str[s]
	if !ok {
		id = uint32(len(p.str))
		p.str[s] = id
	}
	return id
}

// Add adds weight to what a leaf had that was called from caller; a nil caller is none. The
// error is ErrOverflow.
func (p *Profile) Add(leaf, caller Place, same bool, weight int64) error {
	pair := Pair{p.Place(leaf), None, same}
	if caller != nil {
		pair.Caller = p.Place(caller)
	}
	return p.add(pair, weight)
}

// AddLost is Add for a leaf whose caller is not known.
func (p *Profile) AddLost(leaf Place, weight int64) error {
	if len(leaf) > 0 {
		p.lose(leaf[len(leaf)-1].Func, weight)
	}
	return p.Add(leaf, nil, false, weight)
}

func (p *Profile) lose(function string, weight int64) {
	old := p.Lost[function]
	p.Lost[function] = old + min(weight, math.MaxInt64-old)
}

func (p *Profile) add(pair Pair, weight int64) error {
	old := p.Weight[pair]
	if weight > math.MaxInt64-old {
		return ErrOverflow
	}
	p.Weight[pair] = old + weight
	return nil
}

// Pairs returns the keys of Weight in an order that does not depend on chance.
func (p *Profile) Pairs() []Pair {
	list := make([]Pair, 0, len(p.Weight))
	for pair := range p.Weight {
		list = append(list, pair)
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Leaf, b.Leaf), cmp.Compare(a.Caller, b.Caller), compareBool(a.Same, b.Same))
	})
	return list
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Total returns the sum of all weights. The error is ErrOverflow.
func (p *Profile) Total() (all int64, err error) {
	for _, w := range p.Weight {
		if w > math.MaxInt64-all {
			return 0, ErrOverflow
		}
		all += w
	}
	return all, nil
}

// Starts reports whether the first line of some function is known. The compiler refuses a
// profile where none is.
func (p *Profile) Starts() bool {
	for _, place := range p.Places {
		for i := range place {
			if place[i].Start != 0 {
				return true
			}
		}
	}
	return len(p.Places) == 0
}
