package trace

import (
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace/clock"
)

// decoder turns records into events. An event and its arguments are valid until it decodes the next
// one.
type decoder struct {
	t        *Trace
	problems problems
	isPlain  bool // the last event was made by player.next
	cache    blockCache
	endNS    int64 // open scopes last until then
	endOf    EndOf // of goroutines; nil: not known

	args    []format.Slot
	endArgs []format.Slot

	starts, stops, cpus clock.Converter
	objects             *objectTable
}

func newDecoder(t *Trace) decoder {
	d := decoder{
		t: t, problems: problems{}, endNS: t.End(),
		args: make([]format.Slot, 0, format.MaxSlots), endArgs: make([]format.Slot, 0, format.MaxSlots),
	}
	d.clocks()
	d.objects = t.objectNames()
	return d
}

// clocks takes the trace's present clock.
func (d *decoder) clocks() {
	d.starts, d.stops, d.cpus = clock.NewConverter(&d.t.clock), clock.NewConverter(&d.t.clock), clock.NewConverter(&d.t.cpu)
}

// begin sets the fields that every record has. start is its start, or the time from which it is
// shown.
func (d *decoder) begin(e *Event, r *format.Record, start int64, w *recordLoc) {
	// Field by field, and the slices only if they are not nil: an assignment of the whole event is
	// a copy with a write barrier, an eighth of the reading time.
	d.isPlain = false
	e.Kind = r.Kind()
	e.Name = r.Name()
	if d.objects != nil && (e.Kind == format.KindWait || e.Kind == format.KindHold) {
		e.Name = d.objects.nameOf(e.Name)
	}
	e.Track = format.NameEmpty
	e.Open, e.Left = false, false
	e.Quality = format.Unknown
	e.Depth = 0
	e.Thread = w.thread
	e.Owner = w.owner
	e.Goid = r.Goid()
	e.EndGoid = 0
	e.Start = d.starts.Nanos(start)
	e.Dur, e.CPU = 0, 0
	e.User, e.System, e.Self = -1, -1, 0
	e.Value, e.ValueType = 0, format.SlotEnd
	e.Creator, e.Created = 0, 0
	if e.Kind == format.KindMade { // the creator's record of a goroutine is equivalent to its own
		e.Kind, e.Goid, e.Creator, e.Created = format.KindGo, r.Row(), e.Goid, e.Start
	}
	e.Loc, e.Overwritten = w.loc, w.gone
	if e.Args != nil {
		e.Args = nil
	}
	if e.EndArgs != nil {
		e.EndArgs = nil
	}
}

// instant sets the fields of an event without a duration.
func (d *decoder) instant(e *Event, r *format.Record) {
	switch e.Kind {
	case format.KindCounter:
		e.Value, e.ValueType = uint64(r.Stop), format.SlotType(min(r.CPU, 255))
	case format.KindGo:
		if r.Kind() == format.KindMade {
			return
		}
		e.Creator = r.CPU
		e.Created = e.Start
		if r.Stop > 0 && r.Stop < format.MaxTicks {
			e.Created = d.t.Nanos(r.Stop)
		}
	case format.KindAnchor:
		e.CPU = max(int64(r.CPU), -1)
	}
}

// open sets the fields of a scope without an end.
func (d *decoder) open(e *Event, start int64) {
	e.Open = true
	d.runs(e)
	if e.Kind == format.KindPending {
		e.Dur = 0
		return
	}
	d.checkBreaks(e, start, d.t.last)
}

// runs sets the duration shown for a scope without an end.
func (d *decoder) runs(e *Event) {
	until := d.t.openUntil(e.Goid, d.endNS)
	if d.endOf != nil && endedByExit(e.Kind) {
		if ns, ok := d.endOf(e.Goid); ok && ns >= e.Start && ns < until {
			until, e.Left = ns, true
		}
	}
	e.Dur = max(until-e.Start, 0)
}

// ended sets the end of a scope. The result is its stop in ticks, or its start if the stop makes no
// sense.
func (d *decoder) ended(e *Event, start, stop int64, cpu uint64) int64 {
	if stop < start || stop >= format.MaxTicks {
		d.problems.add(textBadStop, d.t.addr.offset(e.Loc), 1)
		e.User, e.System = -1, -1
		return start
	}
	if e.Kind == format.KindPending {
		e.Start = d.stops.Nanos(stop)
		return stop
	}
	e.Dur = d.stops.Nanos(stop) - e.Start
	if q := format.Quality(cpu & 3); q != format.Unknown && e.Kind != format.KindProcess {
		e.Quality = q
		e.CPU = min(d.cpus.Nanos(int64(cpu>>2)), e.Dur)
	}
	if len(d.t.breaks) > 0 {
		d.checkBreaks(e, start, stop)
	}
	return stop
}

// endedApart sets the end of the scope r from the end record at loc. ok is false if that does not
// fit; the scope then counts as open.
func (d *decoder) endedApart(e *Event, r *format.Record, start int64, loc format.Loc) (stop int64, ok bool, err error) {
	x, ok, err := d.t.readEnd(&d.cache, loc, r, d.endArgs[:0])
	if !ok {
		if err == nil {
			d.problems.add(textBadEnd, d.t.addr.offset(loc), 1)
		}
		return 0, false, err
	}
	return d.join(e, r, start, &x), true, nil
}

// join sets the end of the scope r to x.
func (d *decoder) join(e *Event, r *format.Record, start int64, x *end) (stop int64) {
	if e.EndArgs = x.slots; x.named {
		e.Name = x.name
	}
	if x.goid != r.Goid() {
		e.EndGoid = x.goid
	}
	e.User, e.System = x.user, x.system
	e.Left = x.endsGoroutine(r)
	e.Open = e.Left
	return d.ended(e, start, x.stop, x.cpu)
}

// checkBreaks marks a scope during which the clock stepped.
func (d *decoder) checkBreaks(e *Event, start, stop int64) {
	if d.t.across(start, stop) {
		d.problems.add(textBreak, d.t.addr.offset(e.Loc), 1)
		e.Quality, e.CPU = format.Unknown, 0
	}
}

// across reports whether the clock stepped between two times.
func (t *Trace) across(start, stop int64) bool {
	n := sort.Search(len(t.breaks), func(i int) bool { return t.breaks[i].from >= stop })
	return n > 0 && start < t.breaks[n-1].to
}

// arguments decodes the extension of the record.
func (d *decoder) arguments(e *Event, ext []byte) {
	if len(ext) > 0 {
		slots, err := format.DecodeExt(d.args[:0], ext)
		if err != nil {
			d.problems.add(textBadExt, d.t.addr.offset(e.Loc), 1)
		}
		e.Args = slots
	}
	if e.Kind == format.KindProcess {
		process(e)
	}
}

// process replaces the process's CPU clocks at begin and end by its CPU time.
func process(e *Event) {
	if len(e.Args) >= 2 && e.Args[0].Type == format.SlotUser && e.Args[1].Type == format.SlotSystem {
		user, system := e.Args[0].Int(), e.Args[1].Int()
		e.Args = e.Args[2:]
		if user >= 0 && system >= 0 && e.User >= user && e.System >= system {
			e.User -= user
			e.System -= system
			e.CPU = e.User + e.System
			e.Quality = format.Exact
			return
		}
	}
	e.User, e.System = -1, -1
}
