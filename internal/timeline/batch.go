package timeline

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// batch has the data of one part of a large trace for a thin index, row by row. It is made
// on any goroutine, without the earlier parts. So a single goroutine only has to find the
// items' lanes, which depend on everything before.
type batch struct {
	first, now int64 // starts of its first and its latest event
	census     analysis.Census
	items      int64
	scopes     int64
	rows       []batchRow // by first activity
	list       []arrival  // row by row
	rare       []rareParts
	threads    threadList // by first use
	texts      []byte
	ends       []int // ends of the texts; each begins where the one before ends
	slots      []format.Slot
	locks      []batchEvent // waits and holds, in order
	others     []batchEvent // counters and go records, in order
	linked     []uint64     // traceKeys of items with a link
}

// batchRow is a row of a batch.
type batchRow struct {
	goid  uint64
	span  span
	track int32 // latest name; -1: none given
	end   int32 // end of its arrivals in list; while the batch is made: their number
}

// arrival is an item of a batch: 40 bytes. Arrivals pass from one processor to another, so
// they are small, and stored in the order of use.
type arrival struct {
	start, dur, cpu int64
	row             int32
	rare            uint32 // index of its rare parts, plus one; 0: none
	name            uint16
	thread          uint16 // index in the batch's threads
	kind            format.Kind
	flags           uint8
}

// rareParts are the fields that most items lack.
type rareParts struct {
	loc     format.Loc // of open items
	endGoid uint64
	text    int32 // index of its arguments; -1: none
	lock    int32 // of a hold: its index among the locks
}

// batchEvent is an event that needs more than an item.
type batchEvent struct {
	trace.Event
	row  int32
	hold heldAt
}

func (b *batch) reset() {
	b.threads.reset()
	*b = batch{
		first: math.MaxInt64, now: math.MinInt64, census: b.census, rows: b.rows[:0], list: b.list[:0], rare: b.rare[:0], threads: b.threads,
		texts: b.texts[:0], ends: b.ends[:0], slots: b.slots[:0], locks: b.locks[:0], others: b.others[:0], linked: b.linked[:0],
	}
}

func (b *batch) text(i int32) []byte {
	begin := 0
	if i > 0 {
		begin = b.ends[i-1]
	}
	return b.texts[begin:b.ends[i]]
}

// batcher makes batches, one after the other.
type batcher struct {
	breaks analysis.Breaks
	lister *args.Lister
	b      *batch
	list   []arrival        // of the batch, in their original order
	byGoid map[uint64]int32 // indexes of the batch's rows
	latest [256]int32       // the latest of these plus one, by goroutine
}

func newBatcher(x *Index) *batcher {
	return &batcher{breaks: x.breaks, lister: args.NewLister(x.t.Name), byGoid: map[uint64]int32{}}
}

// make makes a batch from a part.
func (w *batcher) make(p *trace.Part, b *batch) *batch {
	b.reset()
	w.b, w.list = b, w.list[:0]
	clear(w.byGoid)
	w.latest = [256]int32{}
	p.Events(func(e *trace.Event) bool { w.add(e); return true })
	w.order()
	return b
}

// order moves the arrivals into the batch, row by row.
func (w *batcher) order() {
	b, end := w.b, int32(0)
	for i := range b.rows {
		r := &b.rows[i]
		end, r.end = end+r.end, end
	}
	b.list = slices.Grow(b.list, len(w.list))[:len(w.list)]
	for i := range w.list {
		a := &w.list[i]
		r := &b.rows[a.row]
		b.list[r.end] = *a
		r.end++
	}
}

func (w *batcher) add(e *trace.Event) {
	b := w.b
	b.census.Add(e)
	b.first, b.now = min(b.first, e.Start), e.Start
	row := w.row(e)
	r := &b.rows[row]
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess:
		b.scopes++
	case format.KindWait, format.KindHold:
		b.scopes++
		w.keep(&b.locks, e, row)
	case format.KindEvent, format.KindPending:
	default:
		if (e.Kind == format.KindTrack || e.Kind == format.KindGo) && e.Goid != 0 {
			r.track = int32(e.Name)
		}
		if e.Kind == format.KindCounter || e.Kind == format.KindGo {
			w.keep(&b.others, e, row)
		}
		return
	}
	b.items++
	r.end++
	a := arrival{
		start: e.Start, dur: e.Dur, cpu: e.CPU, row: row, name: e.Name, kind: e.Kind,
		flags: flagsOf(e, w.breaks), thread: b.threads.of(e.Thread),
	}
	if args := hasArgs(e); args || e.Open || e.EndGoid != 0 || e.Kind == format.KindHold {
		a.rare = w.rareOf(e, args)
		if l, ok := e.Link(); ok {
			b.linked = append(b.linked, traceKey(&l.Trace))
		}
	}
	w.list = append(w.list, a)
}

// rareOf stores the rare parts of an item, and returns their index plus one.
func (w *batcher) rareOf(e *trace.Event, hasArgs bool) uint32 {
	b := w.b
	x := rareParts{e.Loc, e.EndGoid, -1, int32(len(b.locks)) - 1}
	if hasArgs {
		x.text = int32(len(b.ends))
		b.texts = args.AppendJSON(b.texts, w.lister.List(e))
		b.ends = append(b.ends, len(b.texts))
	}
	b.rare = append(b.rare, x)
	return uint32(len(b.rare))
}

// keep stores a whole event.
func (w *batcher) keep(list *[]batchEvent, e *trace.Event, row int32) {
	*list = append(*list, batchEvent{Event: *e, row: row})
	k := &(*list)[len(*list)-1]
	n := len(w.b.slots)
	w.b.slots = append(w.b.slots, e.Args...)
	k.Args, k.EndArgs = w.b.slots[n:], nil
}

func (w *batcher) row(e *trace.Event) int32 {
	b := w.b
	latest := &w.latest[e.Goid%uint64(len(w.latest))]
	at := *latest - 1
	if at < 0 || b.rows[at].goid != e.Goid {
		var ok bool
		if at, ok = w.byGoid[e.Goid]; !ok {
			at = int32(len(b.rows))
			w.byGoid[e.Goid] = at
			b.rows = append(b.rows, batchRow{goid: e.Goid, span: span{from: e.Start, to: e.Start}, track: -1})
		}
		*latest = at + 1
	}
	r := &b.rows[at]
	r.span.reach(e)
	if e.Track != format.NameEmpty && e.Goid != 0 {
		r.track = int32(e.Track)
	}
	return at
}

// takeBatch adds a batch to a thin index. The batches come in order.
func (x *Index) takeBatch(b *batch) {
	if len(b.rows) == 0 {
		return
	}
	th := x.thin
	x.holdsIn(0)
	if b.first > th.now && th.full(x.items) {
		x.stretch(b.first)
	}
	th.now = b.now
	x.linked += int64(len(b.linked))
	th.links.add(b.linked, len(th.begins)-1)
	x.census.Merge(&b.census)
	x.items += b.items
	x.scopes += b.scopes
	th.expect(max(float64(x.items)/float64(x.t.Size()/format.RecordSize), float64(b.now)/float64(max(x.end, 1))))
	th.threads = th.threads[:0]
	for _, id := range b.threads.ids {
		th.threads = append(th.threads, x.threads.of(id))
	}
	th.rows = th.rows[:0]
	for i := range b.rows {
		th.rows = append(th.rows, x.meet(&b.rows[i]))
	}
	for i := range b.locks {
		e := &b.locks[i]
		x.lock(e, th.rows[e.row].at)
	}
	for i := range b.others {
		e := &b.others[i]
		x.other(th.rows[e.row], &e.Event)
	}
	begin := int32(0)
	for i, r := range th.rows {
		x.takeRow(r, b, b.list[begin:b.rows[i].end])
		begin = b.rows[i].end
		if track := b.rows[i].track; track >= 0 {
			r.track = uint16(track)
		}
	}
}

// meet returns the index's row for that of a batch.
func (x *Index) meet(b *batchRow) *row {
	r := x.byGoid[b.goid]
	if r == nil {
		r = x.newRow(b.goid, b.span.from)
	}
	s := &x.spans[r.at]
	s.from, s.to = min(s.from, b.span.from), max(s.to, b.span.to)
	return r
}

// lock adds a wait or a hold.
func (x *Index) lock(e *batchEvent, row int32) {
	l := x.locks.add(&e.Event, row)
	e.hold = heldAt{l, len(l.holds) - 1, e.Loc, row, e.Start}
	if e.Open {
		e.hold.at = -1
	}
}

// takeRow adds a row's arrivals to its lanes.
func (x *Index) takeRow(r *row, b *batch, list []arrival) {
	th := x.thin
	holds := len(th.holds)
	s := &x.coming
	for i := range list {
		a := &list[i]
		if len(th.holds) > holds && a.start > th.holds[holds].start {
			x.holdsIn(holds)
		}
		*s = scope{start: a.start, dur: a.dur, cpu: a.cpu, row: r.at, name: a.name, thread: th.threads[a.thread], kind: a.kind, flags: a.flags}
		var text []byte
		if a.rare > 0 {
			m := &b.rare[a.rare-1]
			s.loc, s.endGoid = m.loc, m.endGoid
			if m.text >= 0 {
				text = b.text(m.text)
			}
		}
		switch isScope := a.kind != format.KindEvent && a.kind != format.KindPending; {
		case a.flags&flagOpen != 0:
			x.takeOpen(r, s, text, isScope)
		case isScope:
			x.putThin(r, r.lane(s), s, text)
		default:
			x.putThin(r, &r.more().instants, s, text)
		}
		if a.kind == format.KindHold {
			th.holds = append(th.holds, b.locks[b.rare[a.rare-1].lock].hold)
		}
	}
	if len(th.holds) > holds && th.holds[holds].start < th.now {
		x.holdsIn(holds)
	}
}

// takeOpen adds an open scope, or an event that has not happened.
func (x *Index) takeOpen(r *row, s *scope, text []byte, isScope bool) {
	o := *s
	o.args = x.texts.add(text)
	x.begin(&o)
	if isScope {
		r.place(&o)
	} else {
		r.announce(&o)
	}
}
