package trace

import "github.com/scopeview/scopeview/internal/format"

// Event is one record, joined with its end.
type Event struct {
	Kind    format.Kind
	Name    uint16
	Track   uint16 // name of the goroutine's row at Start; format.NameEmpty: none
	Open    bool   // begun and not ended: Dur runs to the last moment the trace knows
	Quality format.Quality
	Depth   int32  // on its row, from 0; by the times. Instants: that of what surrounds them
	Thread  uint32 // operating system's id where it began; 0: unknown
	Owner   uint32 // the P (or stripe) whose chunk holds it
	Goid    uint64 // goroutine that began it
	EndGoid uint64 // goroutine that ended it, where another; else 0
	Start   int64  // ns from the trace's start
	Dur     int64  // ns; 0 for instants
	CPU     int64  // ns, by Quality; of a process scope user + system
	User    int64  // process scopes: ns in user mode, -1 unknown
	System  int64  // process scopes: ns in the kernel, -1 unknown
	Self    int64  // not set by Events
	Value   uint64 // counters: the bits; ValueType tells how to read them
	// ValueType is the slot type of a counter's value.
	ValueType format.SlotType
	Creator   uint64 // go records: the goroutine that created this one
	Created   int64  // go records: when, ns from the trace's start
	Loc       int64  // file offset of the record
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
}

// Events calls f with every event in the order of Start (a parent before its
// children), until f returns false. The event is reused from call to call.
//
// A pending event comes at its stop: Start is the stop and Dur 0. If it is open
// it has not happened, and comes at its begin with Open set. Track and go
// records come too, with what they say; an event's Track has them applied.
//
// In a trace that is not corrupt Start never decreases. In one that is, a
// record from before its chunk was handed out comes at the time of that.
func (t *Trace) Events(o Options, f func(*Event) bool) error {
	ends, err := t.endsApart()
	if err != nil {
		return err
	}
	s := &stream{t: t, o: o, f: f, rows: newRows(), problems: problems{}, lastNS: t.End(), userTo: 1<<63 - 1}
	s.args, s.endArgs = make([]format.Slot, 0, format.MaxSlots), make([]format.Slot, 0, format.MaxSlots)
	if o.To > 0 {
		s.userTo = o.To
	}
	s.problems.atLeast(ends.problem)
	m := newMerge(t, &s.o, ends, s.problems)
	err = s.run(m)
	if s.complete {
		s.problems.add(textOrphanEnd, 0, ends.total-s.joined)
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
	t        *Trace
	o        Options
	f        func(*Event) bool
	rows     *rows
	problems problems
	pending  []waiting // a min-heap by (stop, loc)
	cache    blockCache
	lastNS   int64
	userTo   int64
	joined   int64 // ends apart that found their begin
	complete bool  // all records were seen

	event     Event
	args      []format.Slot
	endArgs   []format.Slot
	startHint int
	stopHint  int
	cpuHint   int
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
		for n := m.run(); n > 0; n-- {
			if s.pendingFirst(c) {
				break
			}
			p := &c.places[c.next]
			c.next++
			more, err := s.record(c, p)
			if err != nil || !more {
				return err
			}
		}
		m.advance()
	}
	s.complete = true
	for len(s.pending) > 0 {
		if more, err := s.emitPending(); err != nil || !more {
			return err
		}
	}
	return nil
}

// pendingFirst tells whether a pending event comes before the cursor's record.
func (s *stream) pendingFirst(c *cursor) bool {
	if len(s.pending) == 0 {
		return false
	}
	p := &c.places[c.next]
	return s.pending[0].before(p.key, c.off+int64(p.off))
}

// record turns one record into an event. more is false when the caller has
// enough, or nothing that follows is in the range.
func (s *stream) record(c *cursor, p *place) (more bool, err error) {
	b := c.bytes[p.off:]
	r := format.DecodeRecord(b)
	if r.Start < p.key {
		r.Start = p.key
	}
	e := &s.event
	*e = Event{
		Kind:   r.Kind(),
		Name:   r.Name(),
		Thread: p.thread,
		Owner:  c.owner,
		Goid:   r.Goid(),
		Start:  s.t.clock.nanos(r.Start, &s.startHint),
		Loc:    c.off + int64(p.off),
	}
	if e.Start > s.userTo {
		return false, nil
	}
	var ext []byte
	if r.Ext() {
		ext = extension(c.bytes[:c.used], int(p.off)+format.RecordSize)
	}
	scope := false
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindWait, format.KindHold, format.KindProcess:
		scope = true
	case format.KindPending:
		return s.beginPending(c, p, &r)
	}
	row := s.row(c, e, r.Start)
	e.Depth = int32(row.running(r.Start))
	e.Track = row.track
	if !scope {
		s.instant(e, &r, row)
		return s.emit(e, ext)
	}
	stop, err := s.endOf(c, p, &r, e)
	if err != nil {
		return false, err
	}
	row.begin(stop)
	return s.emit(e, ext)
}

// instant fills in what has no duration.
func (s *stream) instant(e *Event, r *format.Record, row *row) {
	switch e.Kind {
	case format.KindCounter:
		e.Value, e.ValueType = uint64(r.Stop), format.SlotType(r.CPU)
	case format.KindTrack:
		row.track = e.Name
	case format.KindGo:
		row.track = e.Name
		e.Creator = r.CPU
		e.Created = e.Start
		if r.Stop > 0 && r.Stop < format.MaxTicks {
			e.Created = s.t.Nanos(r.Stop)
		}
	case format.KindAnchor:
		e.CPU = int64(r.CPU)
	}
	if e.Goid == 0 {
		row.track = format.NameEmpty // the row is of many goroutines
	}
	e.Track = row.track
}

// endOf fills in how the scope r ends and returns when, in ticks.
func (s *stream) endOf(c *cursor, p *place, r *format.Record, e *Event) (stop int64, err error) {
	stop = r.Stop
	cpu := r.CPU
	user, system := int64(-1), int64(-1)
	if r.Open() {
		var x end
		var ok bool
		if at := findEnd(c.ends, int(p.off)); at != 0 {
			var begin = *r
			begin.Start = rawStart(c.bytes[p.off:])
			x, user, system, ok, err = s.t.readEnd(&s.cache, at, &begin, s.endArgs[:0])
			if err != nil {
				return 0, err
			}
			s.joined++
			if !ok {
				s.problems.add(textBadEnd, at, 1)
			}
		}
		if !ok {
			e.Open = true
			e.User, e.System = -1, -1
			e.Dur = max(s.lastNS-e.Start, 0)
			s.checkBreaks(r.Start, s.t.last, e)
			return format.MaxTicks, nil
		}
		stop, cpu = x.stop, x.cpu
		e.EndArgs = x.slots
		if x.goid != r.Goid() {
			e.EndGoid = x.goid
		}
	}
	if stop < r.Start || stop >= format.MaxTicks {
		s.problems.add(textBadStop, e.Loc, 1)
		e.User, e.System = -1, -1
		return r.Start, nil
	}
	e.Dur = s.t.clock.nanos(stop, &s.stopHint) - e.Start
	e.User, e.System = user, system
	if e.Kind != format.KindProcess {
		if e.Quality = format.Quality(cpu & 3); e.Quality != format.Unknown {
			e.CPU = min(s.t.cpu.nanos(int64(cpu>>2), &s.cpuHint), e.Dur)
		}
	}
	s.checkBreaks(r.Start, stop, e)
	return stop, nil
}

// checkBreaks marks a scope during which the clock stepped.
func (s *stream) checkBreaks(start, stop int64, e *Event) {
	for i := range s.t.breaks {
		if b := &s.t.breaks[i]; start < b.to && stop > b.from {
			s.problems.add(textBreak, e.Loc, 1)
			e.Quality, e.CPU = format.Unknown, 0
			return
		}
	}
}

// emit decodes the arguments and hands the event over, if it is in the range.
func (s *stream) emit(e *Event, ext []byte) (more bool, err error) {
	if s.o.From > 0 && e.Start+e.Dur < s.o.From {
		return true, nil
	}
	if len(ext) > 0 {
		slots, err := format.DecodeExt(s.args[:0], ext)
		if err != nil {
			s.problems.add(textBadExt, e.Loc, 1)
		}
		e.Args = slots
	}
	if e.Kind == format.KindProcess {
		s.process(e)
	}
	return s.f(e), nil
}

// process makes the process's CPU clocks at begin and end into its CPU time.
func (s *stream) process(e *Event) {
	if len(e.Args) >= 2 && e.Args[0].Type == format.SlotUser && e.Args[1].Type == format.SlotSystem {
		user, system := e.Args[0].Int(), e.Args[1].Int()
		e.Args = e.Args[2:]
		if e.User >= user && e.System >= system && user >= 0 && system >= 0 {
			e.User -= user
			e.System -= system
			e.CPU = e.User + e.System
			e.Quality = format.Exact
			return
		}
	}
	e.User, e.System = -1, -1
}

// row is the row that e is on.
func (s *stream) row(c *cursor, e *Event, now int64) *row {
	key := rowKey(e.Goid, e.Thread, e.Owner)
	if c.row == nil || c.rowKey != key || c.rowEpoch != s.rows.epoch {
		c.row = s.rows.get(key, now)
		c.rowKey, c.rowEpoch = key, s.rows.epoch
	}
	return c.row
}

func rawStart(b []byte) int64 { r := format.DecodeRecord(b); return r.Start }

// extension is the extension at off, nil if there is none that is whole.
func extension(b []byte, off int) []byte {
	s := recordScan{buf: b, to: off}
	s.extension()
	if s.ext == 0 {
		return nil
	}
	return b[off : off+s.ext]
}
