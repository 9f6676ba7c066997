// Package goscopes converts a Go execution trace on its own, as go test -trace, runtime/trace
// and /debug/pprof/trace write it, to a trace.
//
// # Design
//
//  1. internal/gotrace reads the states of goroutines from the Go execution trace itself,
//     which the resulting trace contains, byte for byte. So all tools that read traces
//     read these too, without special cases.
//  2. This package converts the rest: user regions and tasks become scopes, logs
//     become events, and rows have the names of the functions with which their goroutines
//     began. That needs no order between threads but that of time. So it is done by
//     scanning, some ten times as fast as decoding, a generation at a time and several at
//     once.
//  3. A scope that ends in a later generation than it began gets an end apart, as
//     in a recording. So no record has to wait for its end, and the memory needed is that of some
//     generations and of the open scopes.
package goscopes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// Options hold what the bytes of a Go execution trace do not contain.
type Options struct {
	Name string // of the trace's file
	// Written is the file's modification time. It is used if the trace has no date.
	Written time.Time
	// Progress, if not nil, is called with the number of bytes read so far.
	Progress func(bytes int64)
}

// Convert writes to f a trace made from the Go execution trace in. Parts of it that can't be
// read are left out; readers of the trace report them. The errors are sentences about the Go
// execution trace, or errors of reading and writing.
func Convert(ctx context.Context, f *os.File, in io.Reader, o Options) error {
	cut, err := gowire.NewCutter(in)
	if err == io.EOF {
		err = fmt.Errorf("the file is empty; %w", gowire.ErrNone)
	}
	if err != nil {
		return err
	}
	c := &converter{file: newFile(f), nameless: map[uint64]struct{}{}, created: map[uint64]made{}, open: newOpenScopes()}
	read := int64(gowire.HeaderSize)
	c.goTrace(cut.Head())
	first := true
	err = eachScanned(ctx, cut, func(g *gowire.Generation, s *scanned) error {
		c.open.whole, first = c.open.whole || first && g.Number == 1, false
		for _, b := range g.Blocks() {
			c.goTrace(b)
		}
		c.generation(g, s)
		if read += g.Size(); o.Progress != nil {
			o.Progress(read)
		}
		return c.Err
	})
	if err != nil {
		return err
	}
	rest, err := cut.Rest()
	if err != nil {
		return err
	}
	c.unread.bytes, c.unread.of = c.unread.bytes+rest, c.unread.of+rest
	return c.finish(cut.Version(), o)
}

// eachScanned calls f with each generation and its scan result. Some generations are scanned
// ahead.
func eachScanned(ctx context.Context, cut *gowire.Cutter, f func(*gowire.Generation, *scanned) error) error {
	type job struct {
		g    *gowire.Generation
		done chan *scanned
	}
	var ahead []job
	more, first := true, true
	for more || len(ahead) > 0 {
		for more && len(ahead) < runtime.GOMAXPROCS(0)+1 {
			g, err := cut.Next()
			if err == io.EOF {
				more = false
				break
			}
			if err != nil {
				return err
			}
			j := job{g, make(chan *scanned, 1)}
			all := first
			go func() { j.done <- scan(j.g, all) }()
			ahead, first = append(ahead, j), false
		}
		if len(ahead) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		j := ahead[0]
		ahead = ahead[1:]
		if err := f(j.g, <-j.done); err != nil {
			return err
		}
		j.g.Free()
	}
	return nil
}

// converter turns scan results into records.
type converter struct {
	*file
	begun    bool
	base     int64 // ns of the monotonic clock at the trace's begin
	wall     int64 // at the trace's begin; 0: unknown
	off      int64 // added to a time of this generation to obtain a tick
	end      int64 // the last tick
	named    bool  // the rows of the goroutines that existed at the beginning are named, or in nameless
	s        *scanned
	nameless map[uint64]struct{} // goroutines whose row has no name yet
	created  map[uint64]made     // goroutines that have not run yet
	open     openScopes
	unread   unread
	list     []*scope // of this generation
	ends     []ending // ends apart in this generation
	slots    []format.Slot
	scopes   int64
	beat     beat // the heartbeat to write when a later one comes
}

// made describes a goroutine that was created.
type made struct {
	at      int64
	creator uint64
	name    uint16
}

// scope is a scope or event to be written as a record.
type scope struct {
	format.Record
	thread  uint32
	task    uint64 // 0: none
	above   uint64 // the parent of the task
	message string
	early   bool // it began before the trace
	loc     format.Loc
}

// ending is an end apart.
type ending struct {
	of     *scope
	at     int64
	goid   uint64 // 0: nothing ended it, and its goroutine ended
	thread uint32
}

// generation processes the scan result of a generation.
func (c *converter) generation(g *gowire.Generation, s *scanned) {
	defer c.unread.add(c, g, s)
	if !s.clock || s.first == math.MaxInt64 {
		return
	}
	c.s = s
	first := s.first - s.snap.Ahead()
	if !c.begun {
		c.begun, c.base = true, first
		if s.snap.Known {
			c.wall = s.snap.Wall - (s.snap.Mono - first)
		}
	}
	c.off = startTicks - c.base - s.snap.Ahead()
	for i := range s.list {
		c.event(&s.list[i])
	}
	for _, b := range s.beats {
		b.at = c.ticks(b.at)
		c.beats(b)
	}
	c.end = max(c.end, c.ticks(s.last))
	c.write()
}

// beats writes the previous heartbeat and makes b the next one, with the values of the previous
// one where it has none.
func (c *converter) beats(b beat) {
	was := c.beat
	if b.at < was.at {
		return
	}
	c.flushBeat()
	b.cycles += was.cycles
	b.procs, b.heap, b.goal = cmp.Or(b.procs, was.procs), cmp.Or(b.heap, was.heap), cmp.Or(b.goal, was.goal)
	c.beat = b
}

func (c *converter) flushBeat() {
	b := &c.beat
	if b.at == 0 {
		return
	}
	list := []format.FieldValue{{Field: format.FieldGCCycles, Value: b.cycles}}
	for _, v := range []format.FieldValue{{Field: format.FieldDoubleEnds, Value: c.open.double}, {Field: format.FieldForeignEnds, Value: c.open.foreign}, {Field: format.FieldGOMAXPROCS, Value: b.procs}, {Field: format.FieldHeap, Value: b.heap}, {Field: format.FieldHeapGoal, Value: b.goal}} {
		if v.Value > 0 {
			list = append(list, v)
		}
	}
	c.Block(format.BlockBeat, format.AppendBeat(nil, b.at, list))
}

// ticks converts a time to a tick.
func (c *converter) ticks(at int64) int64 { return min(max(at+c.off, startTicks), format.MaxTicks-1) }

// event processes an event.
func (c *converter) event(e *event) {
	now := c.ticks(e.time)
	if e.goid == unknownGoid || e.goid > format.MaxGoid {
		e.goid = 0
	}
	switch e.kind {
	case gowire.GoCreate:
		c.made(e, now)
	case gowire.GoStart:
		if m, ok := c.created[e.goid]; ok {
			delete(c.created, e.goid)
			c.row(e.goid, m, now, e.thread)
		}
	case gowire.GoStatus:
		c.there(e)
	case gowire.GoDestroy:
		c.endGoroutine(e, now)
	case gowire.UserTaskBegin:
		t := c.scope(format.KindTask, e, now)
		t.task, t.above = e.a, e.b
		c.open.beginTask(t)
	case gowire.UserTaskEnd:
		c.endTask(e, now)
	case gowire.UserRegionBegin:
		r := c.scope(format.KindTask, e, now)
		r.task = e.a
		c.open.beginRegion(r)
	case gowire.UserRegionEnd:
		c.endRegion(e, now)
	case gowire.UserLog:
		l := c.scope(format.KindEvent, e, now)
		l.Stop = 0
		if l.task, l.message = e.a, c.s.texts[e.b]; l.Name() == format.NameEmpty {
			l.Head = format.Head(e.goid, format.KindEvent, false, c.Name("log"))
		}
	}
}

// scope begins a scope.
func (c *converter) scope(kind format.Kind, e *event, now int64) *scope {
	s := &scope{thread: uint32(e.thread)}
	if kind == format.KindTask {
		c.scopes++
	}
	s.Record = format.Record{Start: now, Stop: tracefile.Open, Head: format.Head(e.goid, kind, false, c.Name(c.s.texts[e.text]))}
	c.list = append(c.list, s)
	return s
}

// made processes the creation of a goroutine.
func (c *converter) made(e *event, now int64) {
	if e.a > format.MaxGoid {
		return
	}
	delete(c.nameless, e.a)
	c.open.born[e.a] = struct{}{}
	if name := c.rowName(e.b); name != format.NameEmpty {
		c.created[e.a] = made{now, e.goid, name}
	}
}

// there processes a status: the goroutine has existed since before the trace, or its stack is
// known now.
func (c *converter) there(e *event) {
	if _, ok := c.nameless[e.goid]; !ok && c.named {
		return
	}
	if e.a == 0 {
		c.nameless[e.goid] = struct{}{}
		return
	}
	delete(c.nameless, e.goid)
	if name := c.rowName(e.a); name != format.NameEmpty {
		c.list = append(c.list, &scope{Record: format.Record{Start: startTicks, Head: format.Head(e.goid, format.KindTrack, false, name)}})
	}
}

// rowName returns the name of a goroutine's row: the function in which it began, the outermost
// one of a stack. It is empty for the runtime's own goroutines, which share a row.
func (c *converter) rowName(stack uint64) uint16 {
	r := c.s.roots[stack]
	name := c.s.texts[r.outer]
	if (name == "runtime.main" || name == "runtime.goexit") && r.next != 0 {
		name = c.s.texts[r.next]
	}
	if strings.HasPrefix(name, "runtime.main") || gotrace.Functions.Runtime.Has(name) {
		return format.NameEmpty
	}
	return c.Name(format.ShortFunction(name))
}

// row names the row of a goroutine that was created.
func (c *converter) row(goid uint64, m made, now int64, thread uint64) {
	r := format.Record{Start: now, Stop: min(m.at, now), Head: format.Head(goid, format.KindGo, false, m.name), CPU: m.creator}
	c.list = append(c.list, &scope{Record: r, thread: uint32(thread)})
}

// write writes the records of a generation by their starts, and then the ends apart.
func (c *converter) write() {
	slices.SortStableFunc(c.list, func(a, b *scope) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range c.list {
		s.loc = c.record(s.Record, s.thread, c.arguments(s))
	}
	for _, x := range c.ends {
		end := format.Record{Start: x.at, Stop: x.of.Start, Head: format.Head(x.goid, format.KindEnd, false, x.of.Name())}
		c.record(end, x.thread, []format.Slot{{Type: format.SlotLoc, Value: uint64(x.of.loc)}, {Type: format.SlotGoid, Value: x.of.Goid()}})
	}
	clear(c.list)
	c.list, c.ends = c.list[:0], c.ends[:0]
	c.named = true
}

// arguments returns the arguments of a scope.
func (c *converter) arguments(s *scope) []format.Slot {
	l := c.slots[:0]
	add := func(key string, v format.Slot) {
		l = append(l, format.Slot{Type: format.SlotKey, Value: uint64(c.Name(key))}, v)
	}
	if s.message != "" {
		kept := s.message[:min(len(s.message), format.MaxString)]
		add("message", format.Slot{Type: format.SlotString, Str: []byte(kept), Full: len(s.message)})
	}
	if s.task != 0 && s.task != math.MaxUint64 {
		add("task", format.Slot{Type: format.SlotUint, Value: s.task})
	}
	if s.above != 0 {
		add("of task", format.Slot{Type: format.SlotUint, Value: s.above})
	}
	if s.early {
		text := "before the trace"
		add("began", format.Slot{Type: format.SlotString, Str: []byte(text), Full: len(text)})
	}
	c.slots = l
	return l
}

// finish ends the trace.
func (c *converter) finish(version int, o Options) error {
	for goid, m := range c.created { // these never ran
		c.row(goid, m, m.at, 0)
	}
	c.write()
	if c.beat.at == 0 && c.open.double+c.open.foreign > 0 {
		c.beat.at = max(c.end, startTicks)
	}
	c.flushBeat()
	if c.wall == 0 && !o.Written.IsZero() {
		c.wall = o.Written.UnixNano() - c.end
	}
	c.fact(gotrace.FactMade, fmt.Sprintf("%s, a Go execution trace in the format of Go 1.%d", o.Name, version))
	if c.scopes == 0 {
		c.fact(gotrace.FactScopes, "none")
	}
	c.fact(gotrace.FactUnread, c.unread.text(max(c.end-startTicks, 0)))
	c.fact("thread_switches", "off: a Go execution trace has no thread switches")
	return c.file.finish(c.base, c.wall, max(c.end, startTicks))
}
