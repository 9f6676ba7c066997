package trace

import (
	"github.com/scopeview/scopeview/internal/format"
)

// Event is one record, joined with its end.
type Event struct {
	Kind  format.Kind
	Name  uint16 // the end's, if it has one
	Track uint16 // name of the goroutine's row at Start; format.NameEmpty: none
	Open  bool   // begun and not ended: Dur extends to the last known time of the trace
	Left  bool   // Open, and its goroutine has ended: Dur extends to that
	// Overwritten is set for a record that a ring has overwritten, and counts as such: the event
	// comes from a carry, or an end apart.
	Overwritten bool
	Quality     format.Quality
	Depth       int32  // on its row, from 0; by the times. Of instants: that of the surrounding scope
	Thread      uint32 // operating system's id where it began; 0: unknown
	Owner       uint32 // the P (or stripe) whose chunk holds it
	Goid        uint64 // goroutine that began it
	EndGoid     uint64 // goroutine that ended it, if another; else 0
	Start       int64  // ns from the trace's start
	Dur         int64  // ns; 0 for instants
	CPU         int64  // ns, by Quality; of a process scope user + system
	User        int64  // process scopes: ns in user mode, -1 unknown
	System      int64  // process scopes: ns in the kernel, -1 unknown
	Self        int64  // not set by Events
	Value       uint64 // counters: the bits, of type ValueType
	// ValueType is the slot type of a counter's value.
	ValueType format.SlotType
	Creator   uint64 // go records: the goroutine that created this one
	Created   int64  // go records: time of that, ns from the trace's start
	Loc       format.Loc
	// Args are the arguments given at begin, EndArgs those given at the end. They alias the
	// reader's memory and are valid until the next event. A wait or hold has its SlotAddr in Args;
	// a process scope's CPU times are removed.
	Args, EndArgs []format.Slot
}

// Link returns the event's position in a request, as the program set it when it began or ended.
func (e *Event) Link() (l format.Link, ok bool) {
	if l, ok = format.LinkOf(e.Args); !ok {
		l, ok = format.LinkOf(e.EndArgs)
	}
	return l, ok
}

// CalledOff reports whether e is the record of a wait that turned out to be shorter than the
// recorder's threshold. It is counted among the brief ones, so no sum of waits includes it.
func (e *Event) CalledOff() bool {
	if e.Kind != format.KindWait || e.Dur != 0 || e.Open {
		return false
	}
	if len(e.Args) < 3 || e.Args[1].Type != format.SlotGoid || e.Args[2].Type != format.SlotUint {
		return false // before format 1.2 all are recorded
	}
	kind, _ := format.LockOf(e.Args[2].Value)
	return kind != format.LockUnknown && e.Args[2].Value&format.LockEvery == 0
}

// Detail selects which fields Events sets. Each value sets fewer than the one before, and is
// faster.
type Detail uint8

const (
	Depths  Detail = iota // everything
	Tracks                // not Depth: needs no memory for the scopes that run on a row
	Rowless               // nor Track: needs no earlier records
	Counts                // only Kind, Name, Open and Quality, the events of a Part in any order
)

// Options select events.
type Options struct {
	From, To int64 // ns from the start; To 0: no limit. Scopes that touch the range are in
	Anchors  bool  // also anchor records: Thread is the thread, CPU its CPU clock (-1: unknown)
	// AsRecorded leaves CPU times as recorded, and does not end scopes that a goroutine left open:
	// see UseCPU, UseEnds.
	AsRecorded bool
	Detail     Detail
	// Within selects only events whose Start is in the range, and reads only chunks that can have
	// such, as far as an earlier run of this Trace found their ends. Detail is at most Rowless
	// then: earlier records are not known.
	Within bool
	// Running makes Part.Running return the scopes that run when a part begins. Detail is at most
	// Tracks then, and only the events of each row, and instants, are in order.
	Running bool
	// Stretch is the approximate number of bytes of records in a Part; 0: as many as fit a
	// processor's cache.
	Stretch int
	// Alone reads on the caller's goroutine only, so that it takes one processor beside more
	// important work.
	Alone bool
}
