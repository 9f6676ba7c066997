// Package gotrace reads the Go execution traces that were recorded along with a trace:
// what every goroutine did, by the Go scheduler's account, on the trace's own clock.
//
// # Design
//
// Decoding is golang.org/x/exp/trace's. What is added here:
//
//  1. Times. Each generation of an execution trace (about a second of it) says what
//     its clock and the monotonic clock were at one moment. On Linux both are the same
//     clock, and the trace's header has it too, so that its times are exact to the 64 ns
//     in which Go counts. Elsewhere the wall clocks are compared: see clock.
//  2. One story. A recording may have several streams: where tracing was interrupted,
//     and of the flight recorder one for each snapshot, which overlap. They are read by
//     the order in which they were taken, each from where the one before ended; where
//     nothing was recorded in between every goroutine's state is Unknown. So for each
//     goroutine the From of a transition is the To of the one before.
//  3. Identity. Scopes begin and end while their goroutine runs, on a thread that is
//     often known: a stream in which they don't is of another process, or its clock is
//     not ours. It is told and not delivered; otherwise people would be shown waits
//     that never were.
//  4. Times once more. The decoder delays what happened while a thread was put off the
//     CPU in the middle of tracing, so that states would be wrong on busy machines: see
//     stamps, and order.
//  5. Hostile bytes. The decoder may panic, and what it keeps of a generation is as
//     large as the generation. The first is caught, the second bounded.
package gotrace

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/scopeview/scopeview/internal/trace"
)

// ErrNone says that no Go execution trace was recorded along with the trace.
var ErrNone = errors.New("the trace has no Go execution trace: it was recorded without gotrace.With()")

// GoState is what a goroutine does, as Go's scheduler sees it.
type GoState uint8

// The states. A goroutine that is Running may be off the CPU nevertheless: the
// scheduler does not know what the system does with its threads.
const (
	Unknown  GoState = iota // nothing is known: before a stream, and behind its end
	NotExist                // not begun, or ended
	Runnable                // it waits for one of Go's processors
	Running                 // it has one
	Waiting                 // for something that Reason tells
	Syscall                 // it is in a system call, or in C
)

var stateNames = [...]string{"unknown", "not there", "runnable", "running", "waiting", "syscall"}

func (s GoState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state-?"
}

// Frame is a function on a stack, and where in it. Line 0 is not known.
type Frame struct {
	Func, File string
	Line       uint64
	PC         uint64 // an address inside the call, of a leaf the instruction's; 0 unless Handler.PCs asks for it
}

// Transition is a goroutine's change from one state to another.
//
// Those of one goroutine come by time. The first one of a goroutine that was there
// when a stream began has the time of that, and may come later than what other
// goroutines did in the meantime: Go tells its state only when something happens to it,
// or when a second is over.
type Transition struct {
	Time     int64 // ns from the trace's start
	Goid     uint64
	From, To GoState
	Reason   string // why it stopped running, in Go's words; "coroutine" for a switch to another one
	Stack    uint32 // where it stopped running; at its creation what it begins with. See Info.Stack
	Thread   uint32 // the system's id of the thread on which it ran until now, or runs from now on; 0: neither, or not known
	Proc     int32  // the same: Go's processor; -1
	By       uint64 // the goroutine that made it, or that woke it; 0: none did, or it is not known
	ByStack  uint32 // where that was
}

// Sample is where a goroutine was when the CPU profile's timer of its thread went off.
type Sample struct {
	Time   int64 // ns from the trace's start
	Goid   uint64
	Thread uint32
	Stack  uint32
}

// Range is a stretch in which the runtime did something, by the runtime's name for it:
// "stop-the-world (…)", "GC concurrent mark phase", "GC mark assist",
// "GC incremental sweep".
type Range struct {
	From, To int64 // ns from the trace's start
	Name     string
	Goid     uint64 // whose time it took; 0: the whole program's
}

// Handler takes what Read finds; of kinds that have no function nothing is delivered.
// The arguments are reused from call to call.
type Handler struct {
	Info       func(*Info) // the first that is called: what Read will return, for its Stack
	Transition func(*Transition)
	Sample     func(*Sample)
	Range      func(*Range) // by their ends
	Begun      func(*Range) // when one begins that Range is told of later; its To is not known
	After      *Info        // of a reading before: this one's stacks get numbers behind those of that one
	PCs        bool         // frames have their PCs; so a line may be in several frames, and there are more stacks
}

// Stretch is a piece of time, in ns from the trace's start.
type Stretch struct{ From, To int64 }

// Info is what Read says about what it read.
type Info struct {
	From, To    int64     // ns from the trace's start: the first and the last moment told of
	Stretches   []Stretch // what is told of between them, by time; none overlap
	Transitions int64
	Samples     int64
	Ranges      int64
	// Problems are sentences about what could not be read or believed.
	Problems []string
	// Damage are those of them that say that bytes are not as they were written.
	Damage []string
	// Foreign are the streams that were left out, because they are of another process or another time.
	Foreign []uint32
	// Missing tells that parts were overwritten, found no room, or were not written
	// yet when the program was killed.
	Missing bool
	// Checked is at how many begins and ends of scopes it was looked whether their
	// goroutine runs, and Right at how many it did.
	Checked, Right int64

	// Rough is in how many of Go's generations (a second each) times may be too late
	// where a thread was put off the CPU while it traced; see stamps.
	Rough int64

	stacks *stackTable
}

// NewInfo returns an Info without anything, for Handler.After of several readings whose stacks it gets.
func NewInfo() *Info { return &Info{stacks: newStacks()} }

// Stack returns a stack's frames, the leaf first; nil for 0. It may be called from the
// Handler, and is good until the Info is.
func (i *Info) Stack(id uint32) []Frame { return i.stacks.frames(id) }

// Read reads the Go execution traces of t, by time. Its error is ErrNone where there is
// none; of what is damaged, incomplete or foreign Info.Problems tells, and what is good
// is delivered. It reads some 4 million events in a second.
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
	return r.all(all)
}

// ReadSched is Read for a process of which a trace was merged. Times and goroutines are those of the
// process's own trace. That the streams are the process's was checked when the trace was merged.
func ReadSched(s *trace.Sched, h Handler) (*Info, error) {
	r := newReader(h)
	r.clock, r.end = clock{mono: s.Own.Mono, wall: s.Wall, same: s.Own.Same, made: s.Own.Made}, s.Own.End
	return r.all(s.GoTraces)
}

// all reads streams, by the order in which they were taken.
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

// ReadPlain reads a Go execution trace that is in no trace of ours, as runtime/trace wrote
// it. Its times are from its own beginning. The error is only one of reading from in.
func ReadPlain(in io.Reader, h Handler) (*Info, error) {
	r := newReader(h)
	r.clock, r.end = clock{same: true, alone: true}, math.MaxInt64
	if err := r.stream(&input{0, "the Go execution trace", false, func() io.Reader { return in }}); err != nil {
		return r.info, fmt.Errorf("reading the Go execution trace: %w", err)
	}
	r.finish()
	return r.info, nil
}
