// Package trace is the reader: from an io.ReaderAt to ordered events. It never maps a file, never
// panics on bad data, and its memory does not grow with the number of records. A trace may still be
// written, may be cut off, and its writer may have been killed. The reader returns everything that
// is complete, and reports what is missing.
//
// # Design
//
// Open reads the file header, every chunk's header (64 bytes each) and every block; Events reads
// the records. Both rely on:
//
//  1. A chunk's Since is a lower bound of the starts in it, so the index alone cuts
//     time into stretches, each with the chunks that begin in it and those that
//     continue from the one before: stretch.go. Otherwise ordering would need an
//     index of all records. In memory are some stretches, and the chunks that were
//     being written at one moment: one or two per writer.
//  2. The order is (start, place in the file). A parent is begun, and placed, before
//     its children, so equal starts come out in the order of begin.
//  3. Ends apart are joined by an index of eight bytes for each, built from the
//     chunks that are flagged as holding some. A scope that is open from start to
//     end costs one entry, however long the trace is.
//  4. Records refer to one another by Locs, which only addresses.go converts to
//     offsets. Overwritten records that are still known come from memory, as if
//     they lay in a chunk: reconstructed.go.
//  5. No value read is trusted as a length, an offset or an index before it has
//     been compared with its bound. Otherwise a flipped bit is a panic.
//  6. A stretch is read, sorted and scanned without the earlier ones. Then it takes
//     its turn: it gets the scopes that run on its rows, the rows' names and the
//     pending events that happen in it, and passes on its own: runstate.go. Only
//     the turns run one after the other, in time proportional to the rows and the
//     continuing scopes, not to the records. Otherwise more processors would not
//     read faster; docs/performance.md has the numbers.
//  7. Goroutines that read share no memory except the chunks, which are not changed
//     once they are loaded. Otherwise processors would wait for one another's
//     caches.
//  8. The stretches of a trace depend on the trace alone, and problems are counted
//     by stretch. Otherwise two runs would give different results.
//
// # Files
//
// A file uses mostly those of its own line and of the lines below it:
//
//	verify*                                     the rules of docs/format.md
//	follow*                                     a Follower: a trace that is being written
//	part player plain pending cputimes          the events of a stretch
//	eventrun scan reach                         a run over all stretches
//	runningscopes stretch merge cursor rows     one stretch; runstate is what it passes on
//	decode ends reconstructed carry             a record, joined with its end or its carry
//	open blocks processfilter                   opening, and each kind of block by its subject:
//	beats calls losses names processes samples sched stacks storedfiles
//	index chunk pages blockcache addresses      chunks and their bytes
//	trace event errors                          the types that all use
//
// A Trace holds the file's contents at the time it was opened. For a trace that is still being
// written, open it again, or use a Follower.
package trace

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace/clock"
)

// Trace is an opened trace: its header, names, heartbeats and an index of its
// chunks. Records are read by Events. Its methods may be called from several
// goroutines.
type Trace struct {
	Info  []Info // the process's facts in the order written; Lookup finds one
	Notes []Note // the operator's changes while recording

	r      io.ReaderAt
	path   string
	closer io.Closer
	size   int64 // of the file

	stopped bool // its machine may have stopped before it was closed: pages may be missing

	header format.Header
	state  format.State
	addr   addresses
	chunks []chunkInfo // chunks that were handed out, by loc
	used   int64       // end of the last place in which a chunk was handed out

	names   atomic.Pointer[nameTable]
	tails   []blockTail // positions of further blocks
	beats   []beatRef   // by time
	latest  int64       // ticks of the last beat
	calibs  []format.Calib
	rawGap  []format.Gap
	breaks  []rawBreak
	stacks  stackTable
	calls   map[uint16]calledSum
	carried carryTable
	onCarry func(carryKey) // a Follower's, called after a carry block
	sched   schedRefs
	counter map[string]*Counter // by their names
	files   map[uint32]*File    // by their numbers
	members []format.Member     // of a merged trace, by their numbers
	scheds  []format.Sched      // of those
	// goroutines are those at the begin of an excerpt's Go execution trace.
	goroutines []format.Goroutine
	code       []*format.Object // the code at the addresses of samples' stacks, by From
	// programs holds each thread's processes, by time.
	programs map[uint32][]format.Program
	filter   *processFilter // nil: nothing is left out
	stop     int64          // ticks of the stop block; 0: none
	last     int64          // ticks: the last known time
	clock    clock.Clock
	cpu      clock.Clock // CPU ticks to ns by the frozen rate

	lastValues []format.FieldValue              // of the last beat
	counted    [format.CounterReasons + 1]int64 // losses, by chunk 0
	miscounted bool

	mu            sync.Mutex
	allBeats      []Beat   // set by Beats
	openProblems  problems // by Open
	eventProblems problems // by Events: the largest count of a run
	ends          *endIndex
	reach         *chunkReach // set by Events
	workers       int         // goroutines that read events; 0: as many as processors, less than 0: none
	cpuTimes      cpuTimes
	grows         bool // when it was opened a program was writing it, or may have been
	nameSearches  int  // number of searches for new names since Open

	objectsOf   func([]Place) []Object // nil: places keep their names
	objects     atomic.Pointer[objectTable]
	needsNames  atomic.Bool // objectsOf must be called
	naming      sync.Mutex  // held while it is called
	namedPlaces int         // number of places it was called for

	overwrittenChunks struct { // chunks that were overwritten before they were read
		mu     sync.Mutex
		chunks map[format.Loc]struct{}
		state  format.State // read when a chunk was found gone
	}
}

// chunkInfo is a chunk's entry in the index.
type chunkInfo struct {
	format.ChunkID
	loc   format.Loc
	at    int64 // offset in the file
	flags uint32
	owner uint32
	path  uint8
	next  int64 // in a ring: when its writer got the next chunk; 0: not known
}

// rawBreak is a clock break in ticks.
type rawBreak struct{ from, to int64 }

// Info is one fact about the recorded process.
type Info struct{ Key, Value string }

// Gap is a time range in which records were lost.
type Gap struct {
	From, To int64 // ns from the trace's start
	Count    int64
	Reason   format.Loss
}

// Note is a change by the operator while recording.
type Note struct {
	Time int64
	Text string

	ticks int64
}

// Break is a clock step: durations across it are unknown.
type Break struct{ From, To int64 }

func (t *Trace) Header() format.Header { return t.header }
func (t *Trace) State() format.State   { return t.state }

// Lookup returns the value of the last fact with that key, "" if there is none.
func (t *Trace) Lookup(key string) string {
	for i := len(t.Info) - 1; i >= 0; i-- {
		if t.Info[i].Key == key {
			return t.Info[i].Value
		}
	}
	return ""
}

// Calibrations lists the heartbeats' readings of the clocks, in the order written.
func (t *Trace) Calibrations() []format.Calib { return slices.Clone(t.calibs) }

// Gaps lists the time ranges in which records were lost.
func (t *Trace) Gaps() []Gap {
	gs := make([]Gap, len(t.rawGap))
	for i, g := range t.rawGap {
		gs[i] = Gap{t.Nanos(g.From), t.Nanos(g.To), g.Count, g.Reason}
	}
	return gs
}

// Breaks lists the clock's steps, by time; none overlap.
func (t *Trace) Breaks() []Break {
	bs := make([]Break, len(t.breaks))
	for i, b := range t.breaks {
		bs[i] = Break{t.Nanos(b.from), t.Nanos(b.to)}
	}
	return bs
}

// AddDamage adds to Problems a defect found by the reader of data stored in the trace.
func (t *Trace) AddDamage(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.eventProblems.set(text, 1)
}

// Problems lists the defects tolerated so far: by Open, and by every Events since.
func (t *Trace) Problems() []Problem {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(t.openProblems.sorted(), t.eventProblems.sorted()...)
}

// Chunk describes a chunk of the index.
type Chunk struct {
	Offset int64  // in the file
	Number uint32 // in a ring, where it is not kept; else 0
	Kind   format.ChunkKind
	Path   format.Path
	Owner  uint32
	Flags  uint32
	Since  int64 // ticks
}

// Chunks lists the chunks that were handed out, by offset.
func (t *Trace) Chunks() []Chunk {
	cs := make([]Chunk, len(t.chunks))
	for i, c := range t.chunks {
		cs[i] = Chunk{c.at, t.addr.number(&c), c.Kind, format.Path(c.path), c.owner, c.flags, c.Since}
	}
	slices.SortFunc(cs, func(a, b Chunk) int { return cmp.Compare(a.Offset, b.Offset) })
	return cs
}

// Closed reports whether Stop ran to its end.
func (t *Trace) Closed() bool { return t.state.Closed }

// LacksHotPart reports whether the trace lacks its hot part, which was not found: the newest second
// may be missing, and chunks between others too.
func (t *Trace) LacksHotPart() bool {
	return t.header.Backing == format.BackingShm && !t.state.Closed && !t.state.Joined
}

// Size returns the size of the trace in bytes, without the prepared window behind its last chunk.
func (t *Trace) Size() int64 { return min(t.used, t.size) }

// Start returns the wall-clock time of Start.
func (t *Trace) Start() time.Time { return time.Unix(0, t.header.StartWall) }

// Wall returns the wall-clock time at ns from the start, by the monotonic clock: a step of the wall
// clock during the recording does not show.
func (t *Trace) Wall(ns int64) time.Time { return t.Start().Add(time.Duration(ns)) }

// Nanos converts ticks to ns from the start, by the calibrations.
func (t *Trace) Nanos(ticks int64) int64 { return t.clock.Nanos(ticks) }

// End returns the last known time of the trace, in ns from the start. It is the latest of the
// flusher's last round, the times in blocks, and those of records in chunks that can hold later
// ones: see lastMoment. Open scopes last until then.
func (t *Trace) End() int64 { return t.Nanos(t.last) }

// blockTail is the position of a chunk's next block.
type blockTail struct {
	loc  format.Loc // of the chunk
	at   int
	torn int // number of times the block there was found torn
}
