package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// place is a record in a chunk: what it is ordered by, and what only the walk
// over the chunk knows of it.
type place struct {
	key    int64 // its start, not before its chunk's Since
	off    uint32
	thread uint32
}

// roles says what Events does with a kind.
var roles = func() (t [128]uint8) {
	for _, s := range format.Specs {
		t[s.Kind] = roleEvent
	}
	t[format.KindAnchor], t[format.KindEnd] = roleAnchor, roleEnd
	return t
}()

const (
	roleUnknown = iota
	roleEvent
	roleAnchor
	roleEnd
)

// cursor is an open chunk.
type cursor struct {
	chunkBuf
	chunk  format.Loc
	places []place
	next   int
	ends   []uint64 // see endIndex
	made   []made   // instead of a chunk: what places are of; see made.go
	owner  uint32
	index  int   // of the chunk
	latest int64 // ticks: the last moment at which it has an event; see reach

	// The row of the last record: the next one is mostly of the same goroutine.
	row      *row
	rowKey   uint64
	rowEpoch int
}

// load reads a chunk, finds its records and sorts them. In the assembly path
// they lie in the order of their starts. In the Go path a goroutine can be
// moved between taking the time and taking the place.
func (c *cursor) load(t *Trace, i int, o *Options, p problems) error {
	info := &t.chunks[i]
	c.chunk, c.owner, c.next, c.row, c.made = info.loc, info.owner, 0, nil, nil
	c.index, c.latest = i, info.Since
	c.places = c.places[:0]
	if err := t.readChunk(&c.chunkBuf, info, p); err != nil {
		return err
	}
	var thread uint32
	var last int64
	var early, unsorted int64
	s := c.scan()
	for s.Next() {
		k, start := s.Kind(), s.Start()
		switch roles[k] {
		case roleAnchor:
			thread = uint32(s.Record().Stop)
			if !o.Anchors {
				c.latest = max(c.latest, start)
				continue
			}
		case roleEnd:
			continue
		case roleUnknown:
			p.add("records of an unknown kind ("+k.String()+") are skipped; a newer tool may know it", info.at+int64(s.Off), 1)
			continue
		}
		key := start
		if key < info.Since {
			key = info.Since
			early++
		}
		if key < last {
			unsorted++
		}
		last = key
		c.places = append(c.places, place{key, uint32(s.Off), thread})
	}
	if unsorted > 0 {
		slices.SortFunc(c.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.off, b.off)) })
	}
	if n := len(c.places); n > 0 {
		c.latest = max(c.latest, c.places[n-1].key)
	}
	p.add(textEarly, info.at, early)
	report(&s, p, info.at)
	return nil
}

// merge gives the records of all chunks in order.
type merge struct {
	t        *Trace
	o        *Options
	problems problems
	order    []int32 // indexes of the record chunks that are not open yet, by Since
	since    int64   // of the first of those
	heap     []entry // of the open chunks
	free     []*cursor
	ends     *endIndex
	lost     int64 // ends apart of chunks that were overwritten meanwhile, which nothing was made of
}

// entry is an open chunk in the heap, with what it is ordered by: the start of
// its next record, then its place. That of the chunk will do, but for records
// that are made up.
type entry struct {
	key int64
	loc format.Loc
	c   *cursor
}

// at brings the entry to the cursor's next record.
func (e *entry) at() {
	p := &e.c.places[e.c.next]
	e.key = p.key
	if e.c.made != nil {
		e.loc = e.c.loc(p)
	}
}

func (a *entry) before(b *entry) bool { return a.key < b.key || a.key == b.key && a.loc < b.loc }

func newMerge(t *Trace, o *Options, ends *endIndex, p problems) *merge {
	m := &merge{t: t, o: o, ends: ends, problems: p, order: t.wanted(o)}
	m.nextSince()
	if len(ends.made) > 0 {
		c := m.cursor()
		c.useMade(ends.made, 0)
		m.push(c)
	}
	return m
}

func (m *merge) nextSince() {
	m.since = format.MaxTicks
	if len(m.order) > 0 {
		m.since = m.t.chunks[m.order[0]].Since
	}
}

// top returns the cursor at the next record, nil at the end. The caller takes that
// one and those that follow it with keys below limit, and then calls advance.
func (m *merge) top() (c *cursor, err error) {
	for len(m.order) > 0 && (len(m.heap) == 0 || m.since <= m.heap[0].key) {
		if err := m.open(int(m.order[0])); err != nil {
			return nil, err
		}
		m.order = m.order[1:]
		m.nextSince()
	}
	if len(m.heap) == 0 {
		return nil, nil
	}
	return m.heap[0].c, nil
}

// limit returns the start up to which the top cursor has the next records.
func (m *merge) limit() int64 {
	limit := m.since
	if m.heap[0].c.made != nil {
		return 0 // one by one: each has its own place
	}
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

// cursor returns one that is free.
func (m *merge) cursor() *cursor {
	if n := len(m.free); n > 0 {
		c := m.free[n-1]
		m.free = m.free[:n-1]
		return c
	}
	return &cursor{}
}

func (m *merge) open(i int) error {
	c := m.cursor()
	info := &m.t.chunks[i]
	ends := m.ends.byChunk[info.loc]
	switch err := c.load(m.t, i, m.o, m.problems); {
	case err == errGone:
		list := m.t.makeChunk(info, ends, m.problems)
		m.lost += int64(len(ends)) - endsOf(list)
		c.useMade(list, info.Since)
	case err != nil:
		return err
	default:
		c.ends = ends
	}
	m.push(c)
	return nil
}

// push puts the cursor into the heap, if it has a record.
func (m *merge) push(c *cursor) {
	if len(c.places) == 0 {
		m.passed(c)
		m.free = append(m.free, c)
		return
	}
	e := entry{loc: c.chunk, c: c}
	e.at()
	h := append(m.heap, e)
	k := len(h) - 1
	for ; k > 0 && e.before(&h[(k-1)/2]); k = (k - 1) / 2 {
		h[k] = h[(k-1)/2]
	}
	h[k] = e
	m.heap = h
}

// advance puts the top cursor, which moved, where it belongs.
func (m *merge) advance() {
	h := m.heap
	n := len(h)
	e := h[0]
	if e.c.next < len(e.c.places) {
		e.at()
	} else {
		m.passed(e.c)
		m.free = append(m.free, e.c)
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
