package trace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// stretchReader is the state with which a goroutine reads stretches.
type stretchReader struct {
	r       *eventRun
	cache   blockCache
	endArgs []format.Slot
}

// prepare reads the stretch and cuts its slices; only the state from earlier stretches is missing
// then. It returns false if the run is over.
func (h *stretchReader) prepare(st *stretch) bool {
	own := h.load(st)
	var before []slice
	select {
	case before = <-st.prevSlices:
	case <-h.r.quit:
		return false
	}
	st.join(own, before)
	h.scan(st)
	return true
}

// load reads the chunks of the stretch.
func (h *stretchReader) load(st *stretch) (own []*cursor) {
	t := h.r.t
	if len(st.reconstructed) > 0 {
		c := h.r.cursor()
		c.useReconstructed(st.reconstructed, 0)
		if _, err := h.findPending(c); err != nil {
			st.fail(err, st.from)
		}
		own = append(own, c)
	}
	for _, i := range st.own {
		c, info := h.r.cursor(), &t.chunks[i]
		own = append(own, c)
		ends := h.r.ends.byChunk[info.loc]
		latest, pendings, err := c.load(t, info, h.r.o.Anchors, h.r.wantsRows)
		switch {
		case err == errGone:
			list := t.reconstructChunk(info, ends, c.problems)
			c.lost = int64(len(ends)) - endsOf(list)
			c.useReconstructed(list, info.Since)
			pendings = len(list)
		case err != nil:
			st.fail(err, info.Since)
			c.places = c.places[:0]
			return own
		default:
			c.ends = ends
		}
		if pendings > 0 {
			var last int64
			if last, err = h.findPending(c); err != nil {
				st.fail(err, info.Since)
				return own
			}
			latest = max(latest, last)
		}
		if c.reconstructed == nil && (t.state.Closed || info.flags&format.FlagFinal != 0) {
			t.reach.latest[i].Store(latest) // else it may still change, or is gone
		}
		if len(c.problems) > 0 {
			st.loaded = append(st.loaded, loaded{info.Since, c.problems})
			c.problems = nil
		}
		st.lost += c.lost
	}
	return own
}

// findPending finds the cursor's pending events that have ended. latest is the last end.
func (h *stretchReader) findPending(c *cursor) (latest int64, err error) {
	t := h.r.t
	for i := range c.places {
		p := &c.places[i]
		r := c.record(p)
		if r.Kind() != format.KindPending {
			continue
		}
		stop, _, ok, err := h.stop(c, p, &r)
		if err != nil {
			return 0, err
		}
		if !ok || stop == format.MaxTicks {
			continue
		}
		w := &waiting{rec: r, stop: stop, start: p.key, at: c.location(p)}
		if r.Open() {
			w.endLoc = c.end(p)
		}
		if c.reconstructed != nil || t.overwrites() {
			var ext []byte
			if r.Ext() {
				ext = slices.Clone(c.ext(p))
			}
			w.ext = &ext
		}
		c.pending = append(c.pending, w)
		latest = max(latest, stop)
	}
	return latest, nil
}

// stop returns the end of the scope r, in ticks; MaxTicks: it has none. A name that the end gives
// is set in r. ok is false if the event must be left out: it ended at a time that was overwritten.
func (h *stretchReader) stop(c *cursor, p *place, r *format.Record) (stop int64, left, ok bool, err error) {
	stop = r.Stop
	if r.Open() {
		fits := false
		if at := c.end(p); at != 0 {
			var x end
			if x, fits, err = h.r.t.readEnd(&h.cache, at, r, h.endArgs[:0]); err == errGone {
				return 0, false, false, nil
			} else if err != nil {
				return 0, false, false, err
			}
			if stop, left = x.stop, fits && x.endsGoroutine(r); x.named {
				r.Head = r.Head&(1<<48-1) | uint64(x.name)<<48
			}
		}
		if !fits {
			return format.MaxTicks, false, c.reconstructed != nil || !h.r.t.endOverwritten(r, h.r.ends.until), nil
		}
	}
	if stop < p.key || stop >= format.MaxTicks {
		stop = p.key // as decoder.ended does
	}
	return stop, left, true, nil
}

// scan finds the rows of the stretch, and its marks for later ones.
func (h *stretchReader) scan(st *stretch) {
	if !h.r.wantsRows {
		return
	}
	for i := range st.slices {
		if p, err := h.scanSlice(st, int32(i)); err != nil {
			st.fail(err, p.key)
			for k := range st.slices {
				st.slices[k].end = st.slices[k].before(p.key)
			}
		}
	}
	st.slices = slices.DeleteFunc(st.slices, func(x slice) bool { return x.next == x.end })
	slices.SortFunc(st.marks, func(a, b carryOver) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.loc, b.loc)) })
}

// scanSlice scans a slice. The error is of the record at p. For a run of scopes that end in the
// stretch only the row is needed.
func (h *stretchReader) scanSlice(st *stretch, n int32) (p *place, err error) {
	x := &st.slices[n]
	runs := x.c.runs
	if len(runs) == 0 {
		return h.scanPlaces(st, n, x.next, x.end)
	}
	k := sort.Search(len(runs), func(i int) bool { return int(runs[i].from) > x.next }) - 1
	for from := x.next; from < x.end; k++ {
		run, to := &runs[k], x.end
		if k+1 < len(runs) {
			to = min(to, int(runs[k+1].from))
		}
		if run.mixed || h.r.wantsRuns && run.last > uint64(st.to) {
			if p, err := h.scanPlaces(st, n, from, to); err != nil {
				return p, err
			}
		} else {
			st.noteRow(st.row(run.row), n)
		}
		from = to
	}
	return nil, nil
}

// scanPlaces scans some places of a slice.
func (h *stretchReader) scanPlaces(st *stretch, n int32, from, to int) (p *place, err error) {
	c := st.slices[n].c
	row, rowKey := int32(-1), uint64(0)
	for i := from; i < to; i++ {
		p = &c.places[i]
		var head uint64
		var stop int64
		if c.reconstructed == nil {
			b := c.bytes[p.off:]
			stop, head = int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])
		} else {
			r := &c.reconstructed[p.off].rec
			stop, head = r.Stop, r.Head
		}
		goid, kind := head&format.MaxGoid, format.Kind(head>>40&0x7f)
		if kind == format.KindMade {
			goid = uint64(stop) & format.MaxGoid
		}
		key := goid
		if goid == 0 {
			w := c.location(p)
			key = rowKeyOf(0, w.thread, w.owner)
		}
		if row < 0 || key != rowKey {
			row, rowKey = st.row(key), key
			st.noteRow(row, n)
		}
		switch effectOf[kind] {
		case effectRuns:
			if h.r.wantsRuns && uint64(stop) > uint64(st.to) { // it continues, is open, or makes no sense
				r := c.record(p)
				stop, left, ok, err := h.stop(c, p, &r)
				if err != nil {
					return p, err
				}
				if ok && stop > st.to {
					st.marks = append(st.marks, carryOver{p.key, c.loc(p), row, stop, r.Head, left})
				}
			}
		case effectNames:
			if goid != 0 {
				st.marks = append(st.marks, carryOver{p.key, c.loc(p), row, 0, head, false})
			}
		default:
			st.overlapping = true
		}
	}
	return nil, nil
}

// newStretchReader returns the state of one goroutine.
func (r *eventRun) newStretchReader() *stretchReader {
	return &stretchReader{r: r, endArgs: make([]format.Slot, 0, format.MaxSlots)}
}
