package timeline

import (
	"math"
	"math/bits"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// item is a scope, or an instant, in a lane: 24 bytes. Other fields are in the lane's rare.
type item struct {
	start  int64  // ns from the trace's start
	dur    uint32 // ns; far: see rare
	slack  uint32 // dur - CPU time, 0 if that is unknown; far: see rare
	name   uint16
	thread uint16 // index into the index's threads
	kind   format.Kind
	flags  uint8
}

// far marks a number that does not fit into 32 bits.
const far = math.MaxUint32

// The flags of an item, as used by the page.
const (
	flagQuality = 3  // format.Quality
	flagOpen    = 4  // not ended
	flagAcross  = 8  // the clock stepped meanwhile: the duration is unknown
	flagLeft    = 16 // never ended; shown up to the end of its goroutine
	flagOff     = 32 // a wait that was called off: in no sum
)

// lane is one depth of a row, or its instants. The items do not overlap, and are ordered by
// start, as binary search and merging require.
//
// They are in blocks that never move and have no pointers: a growing slice would be copied,
// and become garbage, several times.
type lane struct {
	blocks [][]item
	n      int
	until  int64 // lanes of scopes: end of the last item
	rare   *rare
	kinds  uint8 // hasWaits and hasOthers
}

// Bits of lane.kinds.
const (
	hasWaits = 1 << iota
	hasOthers
	hasBoth = hasWaits | hasOthers
)

// rare has the fields that most lanes lack.
type rare struct {
	args   []uint32 // by item, index into the index's texts; items beyond its end have none
	dur    map[int]int64
	slack  map[int]int64
	ends   []endedBy
	open   []*scope // by start; a lane of scopes has at most one, after all items
	levels levels
	thin   *thin // of a thin index
}

// endedBy has the goroutine that ended an item begun by another one.
type endedBy struct {
	item int
	goid uint64
}

// Blocks have 2, 4, 8, … items, and from the 11th on 2048. Lanes of one item are as common
// as lanes of a million.
const (
	growing    = 11
	inGrowing  = 2<<growing - 2
	blockItems = 2 << (growing - 1)
)

func blockOf(i int) (block, at int) {
	if i >= inGrowing {
		return growing + (i-inGrowing)/blockItems, (i - inGrowing) % blockItems
	}
	block = bits.Len(uint(i+2)) - 2
	return block, i + 2 - 2<<block
}

func (l *lane) at(i int) *item {
	b, k := blockOf(i)
	return &l.blocks[b][k]
}

func (l *lane) push(it item) {
	if n := len(l.blocks); n > 0 {
		if last := l.blocks[n-1]; len(last) < cap(last) {
			l.blocks[n-1] = append(last, it)
			l.n++
			return
		}
	}
	size := 2 << min(len(l.blocks), growing-1)
	l.blocks = append(l.blocks, append(make([]item, 0, size), it))
	l.n++
}

// pushAll pushes several items.
func (l *lane) pushAll(list []item) {
	for len(list) > 0 {
		l.push(list[0])
		last := &l.blocks[len(l.blocks)-1]
		n := min(cap(*last)-len(*last), len(list)-1)
		*last = append(*last, list[1:1+n]...)
		l.n += n
		list = list[1+n:]
	}
}

// plain reports whether no ended item of the lane has a rare part.
func (l *lane) plain() bool {
	m := l.rare
	return m == nil || len(m.args) == 0 && len(m.dur) == 0 && len(m.slack) == 0 && len(m.ends) == 0
}

func (l *lane) more() *rare {
	if l.rare == nil {
		l.rare = &rare{}
	}
	return l.rare
}

// put appends an ended scope or an instant.
func (l *lane) put(s *scope) {
	it := item{start: s.start, name: s.name, thread: s.thread, kind: s.kind, flags: s.flags}
	i := l.n
	l.has(s.kind)
	it.dur = uint32(s.dur)
	if s.dur < 0 || s.dur >= far {
		it.dur = far
		m := l.more()
		if m.dur == nil {
			m.dur = map[int]int64{}
		}
		m.dur[i] = s.dur
	}
	if s.flags&flagQuality != 0 {
		slack := s.dur - s.cpu
		it.slack = uint32(slack)
		if slack < 0 || slack >= far {
			it.slack = far
			m := l.more()
			if m.slack == nil {
				m.slack = map[int]int64{}
			}
			m.slack[i] = slack
		}
	}
	l.push(it)
	if s.args != 0 {
		m := l.more()
		for len(m.args) < i {
			m.args = append(m.args, 0)
		}
		m.args = append(m.args, s.args)
	}
	if s.endGoid != 0 {
		m := l.more()
		m.ends = append(m.ends, endedBy{i, s.endGoid})
	}
}

func (l *lane) has(k format.Kind) {
	if k == format.KindWait {
		l.kinds |= hasWaits
	} else {
		l.kinds |= hasOthers
	}
}

// thin returns the lane's runs in a thin index; nil: it has items.
func (l *lane) thin() *thin {
	if l.rare == nil {
		return nil
	}
	return l.rare.thin
}

// count returns the number of the lane's elements: items, or in a thin lane runs.
func (l *lane) count() int {
	if th := l.thin(); th != nil {
		return th.runs.len()
	}
	return l.n
}

// startOf returns the start of an element.
func (l *lane) startOf(i int) int64 {
	if th := l.thin(); th != nil {
		return th.runs.startOf(i)
	}
	return l.at(i).start
}

// endOf returns the end of an element.
func (l *lane) endOf(i int) int64 {
	if th := l.thin(); th != nil {
		return th.runs.endOf(i)
	}
	it := l.at(i)
	return it.start + l.durOf(i, it)
}

func (l *lane) durOf(i int, it *item) int64 {
	if it.dur == far {
		return l.rare.dur[i]
	}
	return int64(it.dur)
}

func (l *lane) slackOf(i int, it *item) int64 {
	if it.slack == far {
		return l.rare.slack[i]
	}
	return int64(it.slack)
}

func (l *lane) argsOf(i int) uint32 {
	if l.rare == nil || i >= len(l.rare.args) {
		return 0
	}
	return l.rare.args[i]
}

// from returns the index of the first element that starts at t or later.
func (l *lane) from(t int64) int {
	if th := l.thin(); th != nil {
		return th.runs.from(t)
	}
	lo, hi := 0, l.n
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); l.at(m).start < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// reaching returns the index of the first element that ends at t or later.
func (l *lane) reaching(t int64) int {
	first := l.from(t)
	if first > 0 && l.endOf(first-1) >= t {
		first--
	}
	return first
}

// touching returns the range of the elements that touch [from, to].
func (l *lane) touching(from, to int64) (first, end int) {
	first = l.reaching(from)
	if to == math.MaxInt64 {
		return first, l.count()
	}
	return first, max(l.from(to+1), first)
}

// scope returns item i with all fields.
func (l *lane) scope(i int) scope {
	it := l.at(i)
	s := scope{
		start: it.start, dur: l.durOf(i, it), name: it.name, thread: it.thread,
		kind: it.kind, flags: it.flags, args: l.argsOf(i),
	}
	s.cpu = s.dur - l.slackOf(i, it)
	s.endGoid = l.endedBy(i)
	return s
}

// endedBy returns the other goroutine that ended an item; 0: none.
func (l *lane) endedBy(i int) uint64 {
	if l.rare == nil || len(l.rare.ends) == 0 {
		return 0
	}
	if k, ok := slices.BinarySearchFunc(l.rare.ends, i, func(e endedBy, i int) int { return e.item - i }); ok {
		return l.rare.ends[k].goid
	}
	return 0
}

// cut removes the items from the n-th on.
func (l *lane) cut(n int) {
	for l.n > n {
		k := len(l.blocks) - 1
		last := l.blocks[k]
		less := min(l.n-n, len(last))
		l.n -= less
		if less < len(last) {
			l.blocks[k] = last[:len(last)-less]
		} else {
			l.blocks = l.blocks[:k]
		}
	}
	m := l.rare
	if m == nil {
		return
	}
	m.args = m.args[:min(n, len(m.args))]
	for len(m.ends) > 0 && m.ends[len(m.ends)-1].item >= n {
		m.ends = m.ends[:len(m.ends)-1]
	}
	for _, table := range []map[int]int64{m.dur, m.slack} {
		for i := range table {
			if i >= n {
				delete(table, i)
			}
		}
	}
	m.levels.cut(n)
}
