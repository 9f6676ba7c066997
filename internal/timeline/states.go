package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// States is what each goroutine did at every moment, some 25 bytes for each
// interval, and 16 more for one on a processor. What lies in a stretch of time is found by binary search and told at any
// resolution. It does not change once it is made.
type States struct {
	From, To int64       // what the Go execution trace covers, ns from the trace's start
	Switches bool        // it is known whether threads were on a CPU
	Problems []string    // sentences: what is missing or makes no sense
	Facts    [][2]string // what is to be said beside that, as label and text

	rows    []*stateRow // by their first moments
	byGoid  map[uint64]*stateRow
	met     []*stateRow // by their numbers
	tracks  map[uint64]*track
	told    []gotrace.Stretch // what From to To tells of
	goids   numbers[uint64]
	places  numbers[place]
	reasons numbers[string]
	frames  func(stack uint32) []string
}

// stateRow is one goroutine. Its items follow each other without gaps.
type stateRow struct {
	goid   uint64
	number uint32
	items  []stateItem
	end    int64  // of the last item
	start  string // the function that the goroutine began with; empty: not known
	system bool   // it is the runtime's own
}

// stateItem lasts until the next one begins.
type stateItem struct {
	start   int64
	stack   uint32
	byStack uint32
	by      uint32 // index into goids
	place   uint16 // index into places
	state   states.State
	reason  uint8 // index into reasons
}

// place is on what a goroutine ran.
type place struct {
	thread uint32 // 0: not known
	proc   uint32 // Go's processor, from 1 on; 0: none, or not known
}

// numbers gives small numbers to values that repeat; 0 is the zero value.
type numbers[T comparable] struct {
	list []T
	at   map[T]uint32
}

// of is the number of v; 0 where max are taken.
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

// newStates returns what add fills; frames tells a stack's functions, the
// innermost first.
func newStates(frames func(stack uint32) []string) *States {
	return &States{byGoid: map[uint64]*stateRow{}, tracks: map[uint64]*track{}, frames: frames}
}

// add takes in an interval; those of a goroutine come by time. Where something
// lies between two of them, the state there is unknown.
func (s *States) add(v *states.Interval) {
	r := s.byGoid[v.Goid]
	if r == nil {
		r = &stateRow{goid: v.Goid, number: uint32(len(s.met)), end: v.From}
		s.byGoid[v.Goid] = r
		s.met = append(s.met, r)
	}
	if v.From > r.end {
		r.items = append(r.items, stateItem{start: r.end})
		r.end = v.From
	}
	if v.To <= r.end {
		return
	}
	at := place{v.Thread, uint32(v.Proc + 1)}
	it := stateItem{
		start: r.end, stack: v.Stack, byStack: v.ByStack, by: s.goids.of(v.By, math.MaxInt32),
		place: uint16(s.places.of(at, math.MaxUint16)), state: v.State, reason: uint8(s.reasons.of(v.ReasonName, math.MaxUint8)),
	}
	if it.state >= states.Count {
		it.state = states.Unknown
	}
	s.onTracks(at, held{r.number, uint32(len(r.items))})
	r.items = append(r.items, it)
	r.end = v.To
}

// finish puts the rows in order.
func (s *States) finish() {
	s.rows = slices.DeleteFunc(slices.Clone(s.met), func(r *stateRow) bool { return len(r.items) == 0 })
	slices.SortStableFunc(s.rows, func(a, b *stateRow) int { return cmp.Compare(a.items[0].start, b.items[0].start) })
	for _, t := range s.tracks {
		slices.SortStableFunc(t.held, func(a, b held) int { return cmp.Compare(s.startOf(a), s.startOf(b)) })
	}
}

func (r *stateRow) endOf(i int) int64 {
	if i+1 < len(r.items) {
		return r.items[i+1].start
	}
	return r.end
}

// touching is the range of the items that have a part in [from, to].
func (r *stateRow) touching(from, to int64) (first, end int) {
	if len(r.items) == 0 || r.end <= from || r.items[0].start > to {
		return 0, 0
	}
	first, end = r.startingIn(from, to)
	if first > 0 && (first == len(r.items) || r.items[first].start > from) {
		first--
	}
	return first, max(end, first)
}

// startingIn is the range of the items that start in [from, to].
func (r *stateRow) startingIn(from, to int64) (first, end int) {
	by := func(it stateItem, t int64) int { return cmp.Compare(it.start, t) }
	first, _ = slices.BinarySearchFunc(r.items, from, by)
	if to == math.MaxInt64 {
		return first, len(r.items)
	}
	end, _ = slices.BinarySearchFunc(r.items, to+1, by)
	return first, end
}

// stateRun is a stretch of a row that is drawn as one: an item alone, or narrow
// neighbours.
type stateRun struct {
	bounds
	count int
	item  int // the longest
	times [idle + 1]int64
}

// top is the state that took the most of the run.
func (u *stateRun) top() states.State {
	best := 0
	for k, t := range u.times {
		if t > u.times[best] {
			best = k
		}
	}
	return states.State(best)
}

// runs visits what touches [from, to], merged for an even resolution. The run is good
// until the next one.
func (r *stateRow) runs(from, to, res int64, visit func(*stateRun)) {
	first, end := r.touching(from, to)
	if first < end && res > 1 {
		begin, _ := stretchOf(r.items[first].start, res)
		_, last := stretchOf(to, res)
		first, end = r.startingIn(begin, last)
	}
	var u stateRun
	for i := first; i < end; {
		start, next := r.items[i].start, r.endOf(i)
		u = stateRun{bounds: bounds{start, next, next - start}, item: i}
		u.times[r.items[i].state] = next - start
		at := i
		for i++; i < end; i++ {
			it := &r.items[i]
			next = r.endOf(i)
			d := next - it.start
			if !u.joins(it.start, d, res) {
				break
			}
			u.end = next
			u.times[it.state] += d
			if d > u.longest {
				u.longest, u.item = d, i
			}
		}
		u.count = i - at
		if u.end > from && u.start <= to {
			visit(&u)
		}
	}
}

// count is how many intervals there are.
func (s *States) count() (n int64) {
	for _, r := range s.rows {
		n += int64(len(r.items))
	}
	return n
}

// ResFor returns the finest resolution at which a tile of [from, to] has at most max
// items. It is 0 if that is every interval, else a power of two in ns.
func (s *States) ResFor(from, to, max int64) int64 {
	if s.countAt(from, to, 0, max) <= max {
		return 0
	}
	return finest(func(res int64) bool { return s.countAt(from, to, res, max) <= max })
}

// countAt counts a tile's items, up to a bit more than max.
func (s *States) countAt(from, to, res, max int64) (n int64) {
	for _, r := range s.rows {
		if n > max {
			break
		}
		if res <= 1 {
			first, end := r.touching(from, to)
			n += int64(end - first)
			continue
		}
		r.runs(from, to, res, func(*stateRun) { n++ })
	}
	return n
}
