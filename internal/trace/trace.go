// Package trace is the reader: an io.ReaderAt in, ordered events out. It never
// maps a file, never panics on what it reads, and its memory does not grow with
// the number of records. A trace that is still being written, that was cut off,
// or whose writer was killed gives everything that is whole, and says what is
// missing.
package trace

import (
	"io"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// Trace is an opened trace: its header, names, heartbeats and an index of its
// chunks. Records are read by Events.
type Trace struct {
	// STUB: being written
}

// Open reads the index of a trace of size bytes. Errors wrap
// format.ErrNotTrace, ErrEmpty, ErrNewer or are a *CorruptError.
func Open(r io.ReaderAt, size int64) (*Trace, error) { panic("stub") }

// OpenFile opens path; Close closes it.
func OpenFile(path string) (*Trace, error) { panic("stub") }

// Close closes the file that OpenFile opened.
func (t *Trace) Close() error { panic("stub") }

// CorruptError is a defect that made a trace, or a part of it, unreadable.
type CorruptError struct {
	Path   string // "" for Open
	Offset int64  // in the file
	Err    error  // wraps format.ErrCorrupt
}

func (e *CorruptError) Error() string { panic("stub") }
func (e *CorruptError) Unwrap() error { return e.Err }

// Problem is a defect that the reader tolerated: what was skipped, and where.
type Problem struct {
	Offset int64
	Text   string // a sentence
	Count  int64  // how often, where one place stands for several
}

// Beat is one heartbeat.
type Beat struct {
	Time    int64 // ns from the trace's start
	Values  []format.FieldValue
	Threads []format.Thread
}

// Value returns a field's value; ok is false where it is unknown.
func (b *Beat) Value(f format.Field) (v int64, ok bool) {
	for _, x := range b.Values {
		if x.Field == f {
			return x.Value, true
		}
	}
	return 0, false
}

// Info is one fact about the recorded process.
type Info struct{ Key, Value string }

// Gap is a stretch of time in which records were lost.
type Gap struct {
	From, To int64 // ns from the trace's start
	Count    int64
	Reason   format.Loss
}

// Note is something the operator changed while recording.
type Note struct {
	Time int64
	Text string
}

// Break is a clock step: durations across it are unknown.
type Break struct{ From, To int64 }

func (t *Trace) Header() format.Header { panic("stub") }
func (t *Trace) State() format.State   { panic("stub") }

// Info lists the process's facts in the order written; Lookup finds one.
func (t *Trace) Info() []Info             { panic("stub") }
func (t *Trace) Lookup(key string) string { panic("stub") }

// Name is the text of a name id; "(name 17)" for an id that the trace does not
// define. It is raw: it may hold control characters and invalid UTF-8.
func (t *Trace) Name(id uint16) string { panic("stub") }

// Names lists every defined name by id.
func (t *Trace) Names() []string { panic("stub") }

func (t *Trace) Beats() []Beat       { panic("stub") }
func (t *Trace) Gaps() []Gap         { panic("stub") }
func (t *Trace) Notes() []Note       { panic("stub") }
func (t *Trace) Breaks() []Break     { panic("stub") }
func (t *Trace) Problems() []Problem { panic("stub") }

// Closed tells whether Stop ran to its end.
func (t *Trace) Closed() bool { panic("stub") }

// Size is the number of bytes the trace holds, without the prepared window
// behind its last chunk.
func (t *Trace) Size() int64 { panic("stub") }

// Start is the wall-clock time of Start; Wall that of ns from the start.
func (t *Trace) Start() time.Time            { panic("stub") }
func (t *Trace) Wall(ns int64) time.Time     { panic("stub") }
func (t *Trace) Nanos(ticks int64) int64     { panic("stub") } // ns from the start, by the calibrations
func (t *Trace) End() int64                  { panic("stub") } // last moment that the trace knows, ns from the start
func (t *Trace) Lost() map[format.Loss]int64 { panic("stub") } // from the last beat and the gaps

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
	// They alias the reader's memory and are good until the next event.
	Args, EndArgs []format.Slot
}

// Options select events.
type Options struct {
	From, To int64 // ns from the start; To 0: no limit. Scopes that touch the range are in
	Anchors  bool  // also anchor records
}

// Events calls f with every event in the order of Start (a parent before its
// children), until f returns false. The event is reused from call to call.
func (t *Trace) Events(o Options, f func(*Event) bool) error { panic("stub") }
