package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// Event is one record, joined with its end.
type Event struct {
	Kind  format.Kind
	Name  uint16
	Track uint16 // name of the goroutine's row at Start; format.NameEmpty: none
	Open  bool   // begun and not ended: Dur runs to the last moment the trace knows
	// Overwritten is of a record that a ring has overwritten, and counts as such: a carry,
	// or an end apart, tells of it.
	Overwritten bool
	Quality     format.Quality
	Depth       int32  // on its row, from 0; by the times. Instants: that of what surrounds them
	Thread      uint32 // operating system's id where it began; 0: unknown
	Owner       uint32 // the P (or stripe) whose chunk holds it
	Goid        uint64 // goroutine that began it
	EndGoid     uint64 // goroutine that ended it, where another; else 0
	Start       int64  // ns from the trace's start
	Dur         int64  // ns; 0 for instants
	CPU         int64  // ns, by Quality; of a process scope user + system
	User        int64  // process scopes: ns in user mode, -1 unknown
	System      int64  // process scopes: ns in the kernel, -1 unknown
	Self        int64  // not set by Events
	Value       uint64 // counters: the bits; ValueType tells how to read them
	// ValueType is the slot type of a counter's value.
	ValueType format.SlotType
	Creator   uint64 // go records: the goroutine that created this one
	Created   int64  // go records: when, ns from the trace's start
	Loc       format.Loc
	// Args are the arguments given at begin, EndArgs those given at the end.
	// They alias the reader's memory and are good until the next event. A
	// wait's or hold's begin with its SlotAddr; a process scope's CPU times
	// are taken out.
	Args, EndArgs []format.Slot
}

// Options select events.
type Options struct {
	From, To int64 // ns from the start; To 0: no limit. Scopes that touch the range are in
	Anchors  bool  // also anchor records: Thread is the thread, CPU its CPU clock (-1: unknown)
	// AsRecorded leaves CPU times as the records have them: see UseCPU.
	AsRecorded bool
	// NoDepth leaves Depth 0: what runs at once need not be known, and takes no memory.
	NoDepth bool
	// Within has only events whose Start is in the range, and reads only chunks that can have
	// such, as far as an earlier run of this Trace came to their ends. What came before is not
	// known then: Depth and Track are not set.
	Within bool
}

// Events calls f with every event in the order of Start (a parent before its
// children), until f returns false. The event is reused from call to call.
//
// A pending event comes at its stop: Start is the stop and Dur 0. If it is open
// it has not happened, and comes at its begin with Open set. Track and go
// records come too, with what they say; an event's Track has them applied.
//
// In a ring there are also the records that carries, and ends apart, tell of though
// they are overwritten. Of those that only ends tell of, Args are not known. What
// is overwritten while it is to be read does not come; see Overwritten.
//
// In a trace that is not corrupt Start never decreases. In one that is, a
// record from before its chunk was handed out comes at the time of that.
func (t *Trace) Events(o Options, f func(*Event) bool) error {
	ends, err := t.endsApart()
	if err != nil {
		return err
	}
	var cpuAt CPUAt
	if !o.AsRecorded {
		if cpuAt, err = t.cpuTimes.get(); err != nil {
			return err
		}
	}
	s := &stream{cpuAt: cpuAt, decoder: newDecoder(t), o: o, f: f, rows: newRows(), to: 1<<63 - 1}
	if o.To > 0 {
		s.to = o.To
	}
	s.problems.atLeast(ends.problem)
	s.until = ends.until
	m := newMerge(t, &s.o, ends, s.problems)
	err = s.run(m)
	if s.complete && !o.Within {
		s.problems.add(textOrphanEnd, 0, ends.total-s.joined-m.lost)
	}
	if s.rows.tracks.forgot {
		s.problems.add(textManyRows, 0, 1)
	}
	t.mu.Lock()
	t.inEvents.atLeast(s.problems)
	t.mu.Unlock()
	return err
}

// stream is one run of Events.
type stream struct {
	decoder
	o        Options
	f        func(*Event) bool
	rows     *rows
	pending  []waiting // a min-heap by (stop, loc)
	to       int64
	until    int64 // see endIndex
	cpuAt    CPUAt // nil: CPU times are as recorded
	joined   int64 // ends apart that were looked up
	complete bool  // all records were seen
	event    Event
}

func (s *stream) run(m *merge) error {
	for {
		c, err := m.top()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		if s.pendingFirst(c) {
			if more, err := s.emitPending(); err != nil || !more {
				return err
			}
			continue
		}
		for limit := m.limit(); ; { // in place: as a call it takes 3 %
			p := &c.places[c.next]
			c.next++
			if more, err := s.record(c, p); err != nil || !more {
				return err
			}
			if c.next == len(c.places) || c.places[c.next].key >= limit || s.pendingFirst(c) {
				break
			}
		}
		m.advance()
	}
	s.complete = true
	return s.emitAllPending()
}

// record turns one record into an event. more is false when the caller has
// enough, or nothing that follows is in the range.
func (s *stream) record(c *cursor, p *place) (more bool, err error) {
	r, w := c.record(p), c.where(p)
	e := &s.event
	start := p.key
	s.begin(e, &r, start, &w)
	if e.Start > s.to {
		return false, nil
	}
	var ext []byte
	if r.Ext() {
		ext = c.ext(p)
	}
	if e.Kind == format.KindPending {
		return s.beginPending(c, p, &r, ext)
	}
	row := s.row(c, e, start)
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindWait, format.KindHold, format.KindProcess:
		stop, err := s.end(c, p, &r, start)
		if err == errGone {
			return true, nil // it ended, and when was overwritten
		}
		if err != nil {
			return false, err
		}
		if row != nil {
			row.begin(stop)
		}
	case format.KindTrack, format.KindGo:
		if e.Goid != 0 && !s.o.Within { // without a goroutine the row is of many
			s.nameRow(row, e)
		}
		s.instant(e, &r)
	default:
		s.instant(e, &r)
	}
	return s.emit(e, ext)
}

// end fills in how the scope r ends and returns when, in ticks.
func (s *stream) end(c *cursor, p *place, r *format.Record, start int64) (int64, error) {
	e := &s.event
	if !r.Open() {
		stop := s.ended(e, start, r.Stop, r.CPU)
		if s.cpuAt != nil {
			s.fillCPU(e, start, stop)
		}
		return stop, s.twice(c, p, r)
	}
	if at := c.end(p); at != 0 {
		s.joined++
		stop, ok, err := s.endedApart(e, r, start, at)
		if ok && s.cpuAt != nil {
			s.fillCPU(e, start, stop)
		}
		if ok || err != nil {
			return stop, err
		}
	}
	if c.made == nil && s.t.endGone(r, s.until) {
		return 0, errGone
	}
	s.open(e, start)
	return format.MaxTicks, nil
}

// twice takes note of an end apart of a scope that also ended in place, at the
// same time. A writer on the heap does both if the chunk was copied to the file
// just then, because it can't know what the copy has.
func (s *stream) twice(c *cursor, p *place, r *format.Record) error {
	if len(c.ends) == 0 {
		return nil
	}
	at := c.end(p)
	if at == 0 {
		return nil
	}
	raw, err := s.cache.read(s.t, at, 8)
	if err == errGone {
		s.joined++
		return nil
	}
	if len(raw) == 8 && int64(binary.LittleEndian.Uint64(raw)) == r.Stop {
		s.joined++
	}
	return err
}

// emit hands the event over if it is in the range.
func (s *stream) emit(e *Event, ext []byte) (more bool, err error) {
	if s.o.From > 0 && e.Start+e.Dur < s.o.From || s.o.Within && e.Start < s.o.From {
		return true, nil
	}
	if ext != nil || e.Kind == format.KindProcess {
		s.arguments(e, ext)
	}
	return s.f(e), nil
}

// row fills in what the row that e is on tells, and returns it; nil where nobody asks for
// depths.
func (s *stream) row(c *cursor, e *Event, now int64) *row {
	if s.o.Within {
		return nil
	}
	if s.o.NoDepth {
		e.Track = s.rows.tracks.get(e.Goid)
		return nil
	}
	key := rowKey(e.Goid, e.Thread, e.Owner)
	if c.row == nil || c.rowKey != key || c.rowEpoch != s.rows.epoch {
		c.row = s.rows.get(key, now)
		c.rowKey, c.rowEpoch = key, s.rows.epoch
	}
	e.Depth, e.Track = int32(c.row.running(now)), c.row.track
	return c.row
}

// nameRow gives a goroutine's row the name that the record e tells.
func (s *stream) nameRow(row *row, e *Event) {
	e.Track = e.Name
	if row == nil {
		s.rows.tracks.put(e.Goid, e.Name)
		return
	}
	row.track = e.Name
}

// extension returns the extension at off, nil if there is none that is whole.
func extension(b []byte, off int) []byte {
	if off+format.RecordSize > len(b) {
		return nil
	}
	w := binary.LittleEndian.Uint64(b[off:])
	if n := format.ExtUnits(w) * format.RecordSize; format.IsExt(w) && off+n <= len(b) {
		return b[off : off+n]
	}
	return nil
}
