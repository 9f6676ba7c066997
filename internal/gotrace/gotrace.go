// Package gotrace reads the Go execution traces that were recorded along with a trace. It delivers
// the state changes of every goroutine, as the Go scheduler recorded them, on the trace's own
// clock.
//
// # Design
//
// golang.org/x/exp/trace decodes. This package adds:
//
//  1. Times. Each generation of an execution trace (about a second of it) records what
//     its clock and the monotonic clock were at one moment. On Linux both are the same
//     clock, and the trace's header has it too, so that its times are exact to the 64 ns
//     that is Go's resolution. Elsewhere the wall clocks are compared: see clock.
//  2. One sequence. A recording may have several streams: if tracing was interrupted, and one
//     for each snapshot of the flight recorder; those overlap. They are read in the order of
//     recording, each from the end of the previous one; where nothing was recorded in between
//     every goroutine's state is Unknown. So for each goroutine the From of a transition is
//     the To of the one before.
//  3. Identity. Scopes begin and end while their goroutine runs, on a thread that is often
//     known. If they do not, the stream is of another process, or its clock is not the
//     trace's. Such a stream is reported and not delivered; otherwise readers would see waits
//     that never were.
//  4. Exact times. The decoder delays events that happened while a thread was taken off the
//     CPU in the middle of tracing, so that states would be wrong on busy machines: see
//     stamps, and order.
//  5. Hostile bytes. The decoder may panic, and its memory for a generation may be as
//     large as the generation. Panics are caught, and the memory is limited.
package gotrace

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// ErrNone reports that no Go execution trace was recorded along with the trace.
var ErrNone = errors.New("the trace has no Go execution trace: it was recorded without gotrace.With()")

// GoState is the state of a goroutine, as Go's scheduler sees it.
type GoState uint8

// The states of a goroutine. A Running goroutine may be off the CPU nevertheless: the scheduler
// does not see how the system schedules its threads.
const (
	Unknown  GoState = iota // before a stream, and after its end
	NotExist                // not begun, or ended
	Runnable                // waits for one of Go's processors
	Running                 // has a processor
	Waiting                 // for the event named by Transition.Reason
	Syscall                 // in a system call, or in C
)

var stateNames = [...]string{"unknown", "not there", "runnable", "running", "waiting", "syscall"}

func (s GoState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state-?"
}

// Transition is a goroutine's change from one state to another.
//
// The transitions of one goroutine are in order of time. The first one of a goroutine that existed
// when a stream began has the time of the stream's begin, and may be delivered after later
// transitions of other goroutines: Go records the state of such a goroutine only when something
// happens to it, or when a second is over.
type Transition struct {
	Time     int64 // ns from the trace's start
	Goid     uint64
	From, To GoState
	Reason   string // why the goroutine stopped running, in Go's words; "coroutine" for a switch to another one
	Stack    uint32 // where it stopped running; for its creation, its first function. See Info.Stack
	Thread   uint32 // the system's id of the thread on which it ran until now or runs from now on; 0: neither, or unknown
	Proc     int32  // Go's processor, likewise; -1 for none
	By       uint64 // the goroutine that created it or woke it; 0: none, or unknown
	ByStack  uint32 // the stack of By at that time
	// Stream and Generation (of the stream, from 1 on) are those that have it; 0: it follows from
	// others.
	Stream     uint32
	Generation int
}

// Sample is the position of a goroutine when the CPU profile's timer of its thread fired.
type Sample struct {
	Time   int64 // ns from the trace's start
	Goid   uint64
	Thread uint32
	Stack  uint32
}

// Range is a stretch of time of an activity of the runtime, with the runtime's name for it:
// "stop-the-world (…)", "GC concurrent mark phase", "GC mark assist", "GC incremental sweep".
type Range struct {
	From, To int64 // ns from the trace's start
	Name     string
	Goid     uint64 // the goroutine whose time it took; 0: the whole program's
}

// Handler receives the results of Read. Nil functions receive nothing. The arguments are reused
// from call to call.
type Handler struct {
	Info       func(*Info) // called first, with the Info that Read will return, for its Stack
	Transition func(*Transition)
	Sample     func(*Sample)
	Range      func(*Range) // in the order of their ends
	Begun      func(*Range) // called at the begin of a range that Range receives later; its To is unknown
	After      *Info        // of a previous reading: the stacks of this one are numbered after those of that one
	PCs        bool         // frames have their PCs; a line may then be in several frames, and there are more stacks
}

// Stretch is an interval of time, in ns from the trace's start.
type Stretch struct{ From, To int64 }

// Info summarizes the streams that were read.
type Info struct {
	From, To    int64     // ns from the trace's start: the first and the last moment covered
	Stretches   []Stretch // the intervals covered between them, by time; none overlap
	Transitions int64
	Samples     int64
	Ranges      int64
	// Problems are sentences about data that could not be read or believed.
	Problems []string
	// Damage has those of Problems that report changed bytes.
	Damage []string
	// Foreign has the streams that were left out, because they are of another process or another
	// time.
	Foreign []uint32
	// Missing reports that parts were overwritten, had no room, or were not written yet when the
	// program was killed.
	Missing bool
	// Checked is the number of begins and ends of scopes that were compared with the states of
	// their goroutines, and Right the number of them at which the goroutine ran.
	Checked, Right int64

	// Rough is the number of Go's generations (a second each) in which times may be too late,
	// because a thread was taken off the CPU while it traced; see stamps.
	Rough int64

	stacks *stackTable
}

// NewInfo returns an empty Info, to be the Handler.After of several readings whose stacks it
// collects.
func NewInfo() *Info { return &Info{stacks: newStacks()} }

// Stack returns a stack's frames, the leaf first, or nil for 0. Equal frames are the same pointer;
// they have a PC if Handler.PCs is set. Stack may be called from the Handler, and as long as the
// Info is in use.
func (i *Info) Stack(id uint32) []*symbols.Frame { return i.stacks.frames(id) }

// Read reads the Go execution traces of t, by time, and delivers all that is intact. It returns
// ErrNone if t has none. Damaged, incomplete and foreign streams are no errors; Info.Problems
// reports them. Read reads some 4 million events a second.
func Read(t *trace.Trace, h Handler) (*Info, error) {
	all := Streams(t)
	if len(all) == 0 {
		return nil, ErrNone
	}
	return read(t, all, h)
}

func read(t *trace.Trace, all []trace.GoTrace, h Handler) (*Info, error) {
	r := newReader(h)
	r.t, r.clock, r.end = t, clockOf(t), t.End()
	r.begin(t.Goroutines())
	return r.all(all)
}

// ReadSched is Read for a process whose trace was merged with others. Times and goroutines are
// those of the process's own trace. The streams were checked to be the process's when the traces
// were merged.
func ReadSched(s *trace.Sched, h Handler) (*Info, error) {
	r := newReader(h)
	r.clock, r.end = clock{mono: s.Own.Mono, wall: s.Wall, same: s.Own.Same, made: s.Own.Made}, s.Own.End
	return r.all(s.GoTraces)
}

// all reads streams, in the order of recording.
func (r *reader) all(list []trace.GoTrace) (*Info, error) {
	for i := range list {
		g := &list[i]
		if err := r.stream(&input{g.Stream, fmt.Sprintf("Go execution trace %d", g.Stream), g.Missing, g.Reader}); err != nil {
			return r.info, fmt.Errorf("reading Go execution trace %d: %w", g.Stream, err)
		}
	}
	r.finish()
	return r.info, nil
}

// ReadPlain reads a Go execution trace that is not in a trace of ours, as runtime/trace wrote it.
// Its times count from its own beginning. It returns only errors of reading from in.
func ReadPlain(in io.Reader, h Handler) (*Info, error) {
	r := newReader(h)
	r.clock, r.end = clock{same: true, alone: true}, math.MaxInt64
	if err := r.stream(&input{0, "the Go execution trace", false, func() io.Reader { return in }}); err != nil {
		return r.info, fmt.Errorf("reading the Go execution trace: %w", err)
	}
	r.finish()
	return r.info, nil
}
