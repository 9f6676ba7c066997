package merge

import (
	"context"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// mostOwners bounds how many chunks of an input are open at once. With more processors, several
// share a chunk.
const mostOwners = 256

// converter rewrites the records of an input.
type converter struct {
	*merger
	in    *input
	names []uint32 // by id: 1 + the id in the merged trace
	slots []format.Slot
	ext   []byte

	goTraces []trace.GoTrace // the input's own
	sched    format.Sched    // describes goTraces
}

// convert writes the events and blocks of an input.
func (m *merger) convert(ctx context.Context, in *input) error {
	c := converter{merger: m, in: in, names: make([]uint32, format.MaxNames)}
	if err := c.readStates(); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	if err := m.read(ctx, in, false, c.event); err != nil {
		return err
	}
	if err := c.beats(); err != nil {
		return err
	}
	m.w.EndRecords()
	if err := c.blocks(); err != nil {
		return err
	}
	if err := c.states(); err != nil {
		return err
	}
	c.member() // last: reading has found the input's problems
	return m.written()
}

// event writes the record of an event, ended in place where that preserves everything.
func (c *converter) event(e *trace.Event) error {
	in := c.in
	goid, err := in.goid(e.Goid, e.Thread, e.Owner)
	if err != nil {
		return err
	}
	r := format.Record{Start: max(in.at(e.Start), in.last)}
	in.last = r.Start
	thread, owner := e.Thread, e.Owner%mostOwners
	ext, err := c.extension(e)
	if err != nil {
		return err
	}
	r.Head = format.Head(goid, e.Kind, len(ext) > 0, c.name(e.Name))
	c.report.Records++
	switch e.Kind {
	case format.KindCounter:
		r.Stop, r.CPU = int64(e.Value), uint64(e.ValueType)
	case format.KindGo:
		r.Stop = min(in.at(e.Created), r.Start)
		if e.Creator != 0 {
			r.CPU, err = in.goid(e.Creator, 0, 0)
		}
	case format.KindTask, format.KindTaskf, format.KindWait, format.KindHold, format.KindProcess, format.KindPending:
		stop := max(in.at(e.Start+e.Dur), r.Start)
		cpu := cpuOf(e, stop-r.Start)
		if apart := e.EndGoid != 0 || len(e.EndArgs) > 0 || e.Kind == format.KindProcess; !e.Open && !apart {
			r.Stop, r.CPU = stop, cpu
			break
		} else if r.Stop = tracefile.Open; apart && !e.Open || e.Left {
			r.Stop |= format.ApartBit
			loc := c.w.Record(owner, thread, r, ext)
			return c.endApart(e, &r, loc, goid, stop, cpu)
		}
	}
	c.w.Record(owner, thread, r, ext)
	return err
}

// cpuOf returns word 3 of an ended scope, which took wall ns.
func cpuOf(e *trace.Event, wall int64) uint64 {
	if e.Quality == format.Unknown || e.Kind == format.KindProcess || e.Kind == format.KindPending {
		return 0
	}
	return uint64(min(e.CPU, wall))<<2 | uint64(e.Quality)
}

// endApart writes the end of the scope that r has begun at loc.
func (c *converter) endApart(e *trace.Event, r *format.Record, loc format.Loc, goid uint64, stop int64, cpu uint64) error {
	by, err := goid, error(nil)
	switch {
	case e.Left:
		by = 0 // it was never ended
	case e.EndGoid != 0:
		if by, err = c.in.goid(e.EndGoid, 0, 0); err != nil {
			return err
		}
	}
	c.slots = append(c.slots[:0], format.Slot{Type: format.SlotLoc, Value: uint64(loc)}, format.Slot{Type: format.SlotGoid, Value: goid})
	if e.Kind == format.KindProcess {
		c.slots = append(c.slots, processTimes(e.User, e.System)...)
	}
	for _, s := range e.EndArgs {
		s, err := c.slot(s)
		if err != nil {
			return err
		}
		c.slots = append(c.slots, s)
	}
	c.extend()
	end := format.Record{Start: stop, Stop: r.Start, Head: format.Head(by, format.KindEnd, true, r.Name()), CPU: cpu}
	c.w.Record(e.Owner%mostOwners, e.Thread, end, c.ext)
	return nil
}

// processTimes returns the slots of a process scope: only the differences are known.
func processTimes(user, system int64) []format.Slot {
	return []format.Slot{{Type: format.SlotUser, Value: uint64(user)}, {Type: format.SlotSystem, Value: uint64(system)}}
}

// extension returns the extension of the record of e, which is valid until the next call.
func (c *converter) extension(e *trace.Event) ([]byte, error) {
	if len(e.Args) == 0 && e.Kind != format.KindProcess {
		return nil, nil
	}
	c.slots = c.slots[:0]
	if e.Kind == format.KindProcess {
		c.slots = append(c.slots, processTimes(0, 0)...)
	}
	lock := e.Kind == format.KindWait || e.Kind == format.KindHold
	for i, s := range e.Args {
		s, err := c.slot(s)
		if err != nil {
			return nil, err
		}
		if i == 0 && lock && s.Type == format.SlotAddr {
			s.Value = c.in.address(s.Value)
		}
		c.slots = append(c.slots, s)
	}
	c.extend()
	return c.ext, nil
}

// extend encodes the slots as an extension. If slots that the kind requires were added, the last
// ones may not fit and are dropped.
func (c *converter) extend() {
	for {
		var err error
		if c.ext, err = format.AppendExt(c.ext[:0], c.slots); err == nil {
			return
		}
		c.slots = c.slots[:len(c.slots)-1]
	}
}

// slot converts the names and goroutines in a slot to those of the merged trace.
func (c *converter) slot(s format.Slot) (_ format.Slot, err error) {
	switch s.Type {
	case format.SlotKey:
		s.Value = uint64(c.name(uint16(s.Value)))
	case format.SlotGoid:
		if s.Value != 0 {
			s.Value, err = c.in.goid(s.Value, 0, 0)
		}
	}
	return s, err
}

// name returns the id in the merged trace of an input's name.
func (c *converter) name(id uint16) uint16 {
	if id < format.FirstName {
		return id
	}
	at := c.names[id]
	if at == 0 {
		at = 1 + uint32(c.w.Name(c.in.t.Name(id)))
		c.names[id] = at
	}
	if at == 1+format.NameOther {
		c.report.OtherNames++
	}
	return uint16(at - 1)
}
