package trace

import (
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// slice is a cursor's part in a stretch: the places from next to end.
type slice struct {
	c         *cursor
	next, end int

	// The row of the last record: the next one is mostly of the same goroutine.
	row    *localRow
	rowKey uint64
}

// merge returns the records of the slices in order.
type merge struct {
	slices []slice // by their first records
	taken  int     // slices that the merge has reached
	since  int64   // the start of the next slice
	heap   []entry // slices with records left
}

// entry is a slice in the heap, with its sort key: the start of its next record, then its location.
// The chunk's location will do, except for reconstructed records.
type entry struct {
	key int64
	loc format.Loc
	x   *slice
}

// at sets the entry's key from the slice's next record.
func (e *entry) at() {
	p := &e.x.c.places[e.x.next]
	e.key = p.key
	if e.x.c.reconstructed != nil {
		e.loc = e.x.c.loc(p)
	}
}

func (a *entry) before(b *entry) bool { return a.key < b.key || a.key == b.key && a.loc < b.loc }

// begin takes the slices of a stretch, none of which is empty, by their first records.
func (m *merge) begin(list []slice) {
	m.slices, m.taken, m.heap = list, 0, m.heap[:0]
	m.ahead()
}

// ahead sets since to the start of the next slice.
func (m *merge) ahead() {
	m.since = format.MaxTicks
	if m.taken < len(m.slices) {
		m.since = m.slices[m.taken].start()
	}
}

// top returns the slice with the next record, nil at the end. The caller takes that record and the
// following ones with keys below limit, and then calls advance.
func (m *merge) top() *slice {
	for m.taken < len(m.slices) && (len(m.heap) == 0 || m.since <= m.heap[0].key) {
		m.push(&m.slices[m.taken])
		m.taken++
		m.ahead()
	}
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0].x
}

// limit returns the start up to which the top slice has the next records.
func (m *merge) limit() int64 {
	if m.heap[0].x.c.reconstructed != nil {
		return 0 // one by one: each has a location of its own
	}
	limit := m.since
	if len(m.heap) > 1 {
		rival := &m.heap[1]
		if len(m.heap) > 2 && m.heap[2].before(rival) {
			rival = &m.heap[2]
		}
		if m.heap[0].loc < rival.loc {
			return min(limit, rival.key+1)
		}
		return min(limit, rival.key)
	}
	return limit
}

func (m *merge) push(x *slice) {
	e := entry{loc: x.c.chunk, x: x}
	e.at()
	h := append(m.heap, e)
	k := len(h) - 1
	for ; k > 0 && e.before(&h[(k-1)/2]); k = (k - 1) / 2 {
		h[k] = h[(k-1)/2]
	}
	h[k] = e
	m.heap = h
}

// advance moves the top slice, whose next record changed, to its position.
func (m *merge) advance() {
	h := m.heap
	n := len(h)
	e := h[0]
	if e.x.next < e.x.end {
		e.at()
	} else {
		n--
		e = h[n]
		h[n] = entry{}
		h = h[:n]
		m.heap = h
		if n == 0 {
			return
		}
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h[k+1].before(&h[k]) {
			k++
		}
		if !h[k].before(&e) {
			break
		}
		h[i] = h[k]
		i = k
	}
	h[i] = e
}

// start returns the start of the slice's next record.
func (x *slice) start() int64 { return x.c.places[x.next].key }

// before returns the index of the slice's first place that is not before to.
func (x *slice) before(to int64) int {
	rest := x.c.places[x.next:x.end]
	n := len(rest)
	if n > 0 && rest[n-1].key >= to {
		n = sort.Search(n, func(i int) bool { return rest[i].key >= to })
	}
	return x.next + n
}
