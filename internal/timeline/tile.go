package timeline

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// laneInstants is the number of the lane with a row's instants.
const laneInstants = 255

// laneNumber returns the page's number of the lane for a depth; it skips laneInstants.
func laneNumber(depth int) int32 {
	if depth >= laneInstants {
		depth++
	}
	return int32(depth)
}

// Tile has the items that touch a stretch of time at a resolution, in packed columns:
//
//	laneRow u, laneDepth u, laneCount u  the lanes, by row and depth: index into Rows, depth
//	                                     (laneInstants: events), items
//	kind b, name u, start d, dur u, thread u, args u
//	                                     the items, lane by lane; args is an index into Strings
//	flags b                              1|2 the quality of the CPU time, 4 open, 8 a clock step lies across,
//	                                     16 never ended, and its goroutine has
//	slack z                              duration - CPU time, 0 if that is unknown
//	count u, busy u                      with Res > 0: the number of scopes merged in the item, and the sum of
//	                                     their durations; kind and name are those of the longest
//	endItem u, endGoid u                 items that another goroutine ended, and that goroutine
//	goChild u, goCreator u, goCreated u, goStart u
//	                                     the goroutines of scope.Go
//	seriesName u, seriesCount u, seriesTime d, seriesValue f
//	                                     the counters
//
// Items of a lane are in the order of their starts and do not overlap. Neighbours
// are merged by the rule of docs/merging.md; open scopes never are.
type Tile struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Res     int64       `json:"res"`
	Strings []string    `json:"strings"` // arguments as JSON objects; the first is empty
	Rows    [][2]uint64 `json:"rows"`    // goroutine, 0: unknown; name of its row
	Items   int64       `json:"-"`       // number of scopes and instants, a merged one counts once

	// For Index.Runs: Alone means that the contents of the executions are not in the tile,
	// Left is the number of executions left out.
	Alone bool  `json:"alone,omitempty"`
	Left  int64 `json:"left,omitempty"`

	// For Index.Request: Partial means that not all of the trace was searched. Left is used,
	// too.
	Partial bool `json:"partial,omitempty"`

	columns []*column
}

// tileColumns are the columns of a tile.
type tileColumns struct {
	laneRow, laneDepth, laneCount                     column
	kind, flags, name, start, dur, slack, thread      column
	args, count, busy                                 column
	endItem, endGoid                                  column
	goChild, goCreator, goCreated, goStart            column
	seriesName, seriesCount, seriesTime, seriesValues column
}

// newTileColumns returns the columns, and a list of them; count and busy are listed only
// with merging.
func newTileColumns(merged bool) (c *tileColumns, list []*column) {
	c = &tileColumns{}
	list = named("laneRow:u laneDepth:u laneCount:u kind:b flags:b name:u start:d dur:u slack:z thread:u args:u",
		&c.laneRow, &c.laneDepth, &c.laneCount, &c.kind, &c.flags, &c.name, &c.start, &c.dur, &c.slack, &c.thread, &c.args)
	if merged {
		list = append(list, named("count:u busy:u", &c.count, &c.busy)...)
	}
	return c, append(list, named("endItem:u endGoid:u goChild:u goCreator:u goCreated:u goStart:u seriesName:u seriesCount:u seriesTime:d seriesValue:f",
		&c.endItem, &c.endGoid, &c.goChild, &c.goCreator, &c.goCreated, &c.goStart, &c.seriesName, &c.seriesCount, &c.seriesTime, &c.seriesValues)...)
}

// tiler makes a tile.
type tiler struct {
	x       *Index
	tile    *Tile
	c       *tileColumns
	rows    []*row // of the tile
	strings map[string]int
	inLane  int
}

func (x *Index) tiler(from, to, res int64) *tiler {
	c, list := newTileColumns(res > 0)
	t := &Tile{From: from, To: to, Res: res, Strings: []string{""}, Rows: [][2]uint64{}, columns: list}
	return &tiler{x: x, tile: t, c: c, strings: map[string]int{}}
}

// Tile packs what touches [from, to] at a resolution in ns; 0: every scope exactly. For a
// large trace the resolution is at least the index's finest: see Window.
func (x *Index) Tile(from, to, res int64) *Tile {
	x.mu.Lock()
	defer x.mu.Unlock()
	res = evenRes(res)
	if x.thin != nil {
		res = max(res, x.thin.finest())
		x.endRuns(false)
	}
	b := x.tiler(from, to, res)
	if res > 1 {
		x.prepare(from, to)
	}
	for r := range x.within(from, to) {
		for d := range r.lanes {
			if d == laneInstants {
				b.instants(r)
			}
			b.lane(r, laneNumber(d), &r.lanes[d])
		}
		if len(r.lanes) <= laneInstants {
			b.instants(r)
		}
	}
	b.links()
	b.series()
	return b.tile
}

func (b *tiler) instants(r *row) {
	if r.extra != nil {
		b.lane(r, laneInstants, &r.extra.instants)
	}
}

// lane adds a lane's items, and its open scopes.
func (b *tiler) lane(r *row, number int32, l *lane) {
	from, to := b.tile.From, b.tile.To
	var open []*scope
	if l.rare != nil {
		open = l.rare.open
	}
	before := func(start int64) {
		for len(open) > 0 && open[0].start <= start {
			if s := open[0]; s.start <= to && (number != laneInstants || s.start >= from) {
				b.open(s)
			}
			open = open[1:]
		}
	}
	b.inLane = 0
	if b.tile.Res <= 1 {
		first, end := l.touching(from, to)
		for i := first; i < end; i++ {
			it := l.at(i)
			if len(open) > 0 {
				before(it.start)
			}
			b.single(l, i, it)
		}
	} else {
		l.runs(from, to, b.tile.Res, func(run *run) {
			if len(open) > 0 {
				before(run.start)
			}
			switch {
			case run.count > 1:
				b.merged(run)
			case l.thin() != nil:
				b.alone(run)
			default:
				b.single(l, int(run.item), l.at(int(run.item)))
			}
		})
	}
	before(math.MaxInt64)
	b.laneDone(r, number)
}

// laneDone lists a lane, if items of it were added.
func (b *tiler) laneDone(r *row, number int32) {
	if b.inLane > 0 {
		b.c.laneRow.u(uint64(b.row(r)))
		b.c.laneDepth.u(uint64(number))
		b.c.laneCount.u(uint64(b.inLane))
		b.tile.Items += int64(b.inLane)
	}
}

// row returns r's index in the tile's rows. Rows are added one after the other.
func (b *tiler) row(r *row) int {
	if n := len(b.rows); n == 0 || b.rows[n-1] != r {
		b.rows = append(b.rows, r)
		b.tile.Rows = append(b.tile.Rows, [2]uint64{r.goid, uint64(r.track)})
	}
	return len(b.rows) - 1
}

// bar has an item's values for the columns.
type bar struct {
	kind              format.Kind
	flags             uint8
	name, thread      uint16
	start, dur, slack int64
	args              []byte // JSON, or none
	count             uint32
	busy              int64
}

// barOf returns the values of a lane's item.
func (x *Index) barOf(l *lane, i int, it *item) bar {
	dur := l.durOf(i, it)
	return bar{it.kind, it.flags, it.name, it.thread, it.start, dur, l.slackOf(i, it), x.texts.get(l.argsOf(i)), 1, dur}
}

func (b *tiler) add(v *bar) {
	c := b.c
	c.kind.b(byte(v.kind))
	c.flags.b(v.flags)
	c.name.u(uint64(v.name))
	c.start.d(v.start)
	c.dur.u(uint64(max(v.dur, 0)))
	c.slack.z(v.slack)
	c.thread.u(uint64(b.x.threads.ids[v.thread]))
	c.args.u(uint64(b.text(v.args)))
	if b.tile.Res > 0 {
		c.count.u(uint64(v.count))
		c.busy.u(uint64(max(v.busy, 0)))
	}
	b.inLane++
}

// single adds a single item.
func (b *tiler) single(l *lane, i int, it *item) {
	v := b.x.barOf(l, i, it)
	b.add(&v)
	if goid := l.endedBy(i); goid != 0 {
		b.endedBy(goid)
	}
}

// merged adds a run of several items.
func (b *tiler) merged(r *run) {
	b.add(&bar{r.kind, 0, r.name, r.thread, r.start, r.end - r.start, 0, nil, r.count, r.busy})
}

// alone adds a single-item run of a thin lane.
func (b *tiler) alone(r *run) {
	text, endGoid := b.x.thin.details.at(r.item)
	b.add(&bar{r.kind, r.flags, r.name, r.thread, r.start, r.longest, r.busy, text, 1, r.longest})
	if endGoid != 0 {
		b.endedBy(endGoid)
	}
}

// endedBy adds the goroutine that ended the last item.
func (b *tiler) endedBy(goid uint64) {
	b.c.endItem.u(uint64(b.c.kind.count - 1))
	b.c.endGoid.u(goid)
}

// open adds an open scope, up to the last known moment.
func (b *tiler) open(s *scope) {
	dur := max(b.x.end-s.start, 0)
	if s.kind == format.KindPending {
		dur = 0
	}
	b.add(&bar{s.kind, s.flags | flagOpen, s.name, s.thread, s.start, dur, 0, b.x.texts.get(s.args), 1, dur})
}

// text returns a text's index in the tile.
func (b *tiler) text(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	at, ok := b.strings[string(text)]
	if !ok {
		at = len(b.tile.Strings)
		b.tile.Strings = append(b.tile.Strings, string(text))
		b.strings[b.tile.Strings[at]] = at
	}
	return at
}

// links adds the creators of the tile's goroutines.
func (b *tiler) links() {
	for _, r := range b.rows {
		if r.extra != nil && r.extra.linked {
			b.link(r)
		}
	}
}

func (b *tiler) link(r *row) {
	b.c.goChild.u(r.goid)
	b.c.goCreator.u(r.extra.creator)
	b.c.goCreated.u(uint64(max(r.extra.created, 0)))
	b.c.goStart.u(uint64(max(r.extra.start, 0)))
}

func (b *tiler) series() {
	for _, name := range b.x.series.names() {
		points := b.x.series[name].within(b.tile.From, b.tile.To, b.tile.Res)
		if len(points) == 0 {
			continue
		}
		b.c.seriesName.u(uint64(name))
		b.c.seriesCount.u(uint64(len(points)))
		for _, p := range points {
			b.c.seriesTime.d(p.time)
			b.c.seriesValues.f(p.value)
		}
	}
}
