package pgo

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/symbols"
)

// Location is an instruction, as a list of functions: first the one whose line it is, then those that
// it was inlined into; the last is the function whose code it is.
type Location []symbols.Frame

// Pair is the part of a stack that a Profile keeps: locations by their index in Profile.Locations.
type Pair struct {
	Leaf, Caller int32 // Caller is None for a leaf without a caller
	// Same reports that both have the same address, or that addresses are unknown. The compiler
	// merges equal lines of one address into one node of its graph, and a node does not call
	// itself.
	Same bool
}

// None is the Pair.Caller of a leaf without a caller.
const None int32 = -1

// Unit is the unit of the weights of a Profile.
type Unit string

// The units that the compiler accepts.
const (
	Samples     Unit = "samples/count"
	Nanoseconds Unit = "cpu/nanoseconds"
)

// Profile has the weights of the locations of a program, and of their callers.
type Profile struct {
	Locations []Location
	Weight    map[Pair]int64
	Unit      Unit
	Period    time.Duration // the CPU time per sample, for Samples; 0: unknown
	Duration  time.Duration // of all sampling together; 0: unknown
	Comments  []string      // on its origin, a line each
	// Lost is the weight of samples whose caller is unknown, by the function whose code they are
	// in; Write does not keep it.
	Lost   map[string]int64
	Losses []string // sentences on parts of the source that are missing or can't be read; Write does not keep them
	// Prologues reports that Frame.Prologue is known; Write does not keep it.
	Prologues bool

	ids map[string]int32
	key []byte
	str map[string]uint32 // for key
}

// ErrOverflow reports that the sum of weights exceeds 63 bits.
var ErrOverflow = errors.New("the weights add up to more than 9223372036854775807")

// New returns an empty profile.
func New(unit Unit) *Profile {
	return &Profile{Weight: map[Pair]int64{}, Lost: map[string]int64{}, Unit: unit, ids: map[string]int32{}, str: map[string]uint32{}}
}

// Empty returns a profile without weights, with the properties of p.
func (p *Profile) Empty() *Profile {
	q := New(p.Unit)
	q.Period, q.Duration, q.Comments, q.Prologues = p.Period, p.Duration, slices.Clone(p.Comments), p.Prologues
	return q
}

// Location returns the index of a location, and adds it if it is new. It keeps no reference to its
// argument, and no addresses: the same lines at several addresses are one location.
func (p *Profile) Location(location Location) int32 {
	p.key = p.key[:0]
	for i := range location {
		f := &location[i]
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
		id = int32(len(p.Locations))
		p.ids[string(p.key)] = id
		location = slices.Clone(location)
		for i := range location {
			location[i].PC, location[i].Object = 0, ""
		}
		p.Locations = append(p.Locations, location)
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

// Add adds weight to the pair of a leaf and its caller; caller is nil if there is none. The error
// is ErrOverflow.
func (p *Profile) Add(leaf, caller Location, same bool, weight int64) error {
	pair := Pair{p.Location(leaf), None, same}
	if caller != nil {
		pair.Caller = p.Location(caller)
	}
	return p.add(pair, weight)
}

// AddLost is Add for a leaf whose caller is unknown.
func (p *Profile) AddLost(leaf Location, weight int64) error {
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

// Pairs returns the keys of Weight in a deterministic order.
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

// Starts reports whether the first line of some function is known. The compiler refuses a profile
// otherwise.
func (p *Profile) Starts() bool {
	for _, location := range p.Locations {
		for i := range location {
			if location[i].Start != 0 {
				return true
			}
		}
	}
	return len(p.Locations) == 0
}
