package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/deltas"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// States has the states of each goroutine, in some 4 to 8 bytes for each interval, and some
// 5 more for one on a processor. A stretch of time is found by binary search, at any
// resolution. It does not change once it is made.
type States struct {
	From, To int64       // range of the Go execution trace, ns from the trace's start
	Switches bool        // the times of threads on CPUs are known
	Problems []string    // sentences on missing or inconsistent data
	Facts    [][2]string // further facts, as label and text

	rows      []*stateRow // by first moment
	byGoid    map[uint64]*stateRow
	asked     gotrace.Lately[stateRow] // cache of byGoid
	met       []*stateRow              // by number
	tracks    map[place]*track
	keyed     []keyed
	coded     deltas.Bytes      // data of rows and tracks
	stretches []gotrace.Stretch // recorded, within From to To
	goids     numbers[uint64]
	places    numbers[place]
	reasons   numbers[string]
	kinds     numbers[stateKind]
	lately    []knownKind // cache while it is filled
	frames    func(stack uint32) []string
}

// stateRow is one goroutine. Its items follow each other without gaps.
type stateRow struct {
	goid   uint64
	number uint32
	by     uint32 // by of the block's latest item that was woken
	items  deltas.List
	end    int64  // of the last item
	start  string // function that the goroutine began with; empty: not known
	system bool   // it is the runtime's own
}

// place is the processor and thread of a goroutine.
type place struct {
	thread uint32 // 0: not known
	proc   uint32 // number of Go's processor, from 1; 0: none, or not known
}

// numbers assigns small numbers to repeated values; 0 is the zero value.
type numbers[T comparable] struct {
	list []T
	at   map[T]uint32
}

// of returns the number of v; 0 if max are taken.
func (n *numbers[T]) of(v T, max int) uint32 {
	if n.at == nil {
		var zero T
		n.list, n.at = []T{zero}, map[T]uint32{zero: 0}
	}
	i, ok := n.at[v]
	if !ok && len(n.list) <= max {
		i = uint32(len(n.list))
		n.list = append(n.list, v)
		n.at[v] = i
	}
	return i
}

// newStates returns an empty States for add; frames returns a stack's functions, the
// innermost first.
func newStates(frames func(stack uint32) []string) *States {
	return &States{byGoid: map[uint64]*stateRow{}, tracks: map[place]*track{}, lately: make([]knownKind, latelyMost), frames: frames}
}

// add adds an interval; those of a goroutine come by time. In a gap between two of them the
// state is unknown.
func (s *States) add(v *states.Interval) {
	r := s.asked.Of(s.byGoid, v.Goid)
	if r == nil {
		r = &stateRow{goid: v.Goid, number: uint32(len(s.met)), end: v.From}
		s.byGoid[v.Goid] = r
		s.met = append(s.met, r)
	}
	if v.From > r.end {
		s.put(r, s.codeOf(stateKind{}), &stateKind{}, 0, v.From)
	}
	if v.To <= r.end {
		return
	}
	by := uint32(0)
	if v.By != 0 {
		by = s.goids.of(v.By, math.MaxInt32)
	}
	k := s.known(v, by != 0)
	if k.track != nil {
		k.track.add(held{r.end, v.To, r.number, k.kind.state}, &s.coded)
	}
	s.put(r, k.code, &k.kind, by, v.To)
}

// knownKind caches the kind of intervals.
type knownKind struct {
	place          place
	reason         string
	stack, byStack uint32
	state          states.State
	woken          bool

	kind  stateKind
	code  uint32
	track *track // nil: no place
}

const latelyMost = 1 << 10

// known returns the kind of an interval, from the cache if possible.
func (s *States) known(v *states.Interval, woken bool) *knownKind {
	at := place{v.Thread, uint32(v.Proc + 1)}
	hash := (v.Stack*31+v.ByStack)*31 + at.thread*7 + at.proc*5 + uint32(v.State)
	k := &s.lately[hash*0x9E3779B1>>22]
	if k.code != 0 && k.place == at && k.stack == v.Stack && k.byStack == v.ByStack && k.state == v.State && k.woken == woken && k.reason == v.ReasonName {
		return k
	}
	*k = knownKind{place: at, reason: v.ReasonName, stack: v.Stack, byStack: v.ByStack, state: v.State, woken: woken}
	k.kind = stateKind{
		stack: v.Stack, byStack: v.ByStack, place: uint16(s.places.of(at, math.MaxUint16)), state: v.State,
		reason: uint8(s.reasons.of(v.ReasonName, math.MaxUint8)), woken: woken,
	}
	if v.State >= states.Count {
		k.kind.state = states.Unknown
	}
	k.code = s.codeOf(k.kind)
	if at != (place{}) {
		if k.track = s.tracks[at]; k.track == nil {
			k.track = &track{}
			s.tracks[at] = k.track
		}
	}
	return k
}

// finish sorts the rows.
func (s *States) finish() {
	s.rows = slices.DeleteFunc(slices.Clone(s.met), func(r *stateRow) bool { return r.items.Len() == 0 })
	slices.SortStableFunc(s.rows, func(a, b *stateRow) int { return cmp.Compare(a.items.Start(), b.items.Start()) })
	for _, r := range s.rows {
		r.items.End(&s.coded)
	}
	for _, t := range s.tracks {
		t.finish(&s.coded)
	}
	s.keyed, s.lately = s.byKey(), nil
}
