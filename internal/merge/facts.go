package merge

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// left names what a merged trace lacks, in its fact "merged".
const left = "samples, counted stacks, stored files and the cost of recording are only in the processes' own traces"

// shared lists the facts that the merged trace keeps if all processes have the same value.
var shared = []string{"go", "os", "arch", "cpu", "kernel", "host", "boot", "module", "version", "scopeview", "snapshot", "snapshot_reason", "lock_threshold", "lock_threshold_ns"}

// sum adds numbers that come from files.
func sum(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// blocks writes the contents of an input's blocks, except those that left names.
func (c *converter) blocks() error {
	t := c.in.t
	for why, n := range t.Lost() {
		if int(why) < len(c.lost) {
			c.lost[why] = sum(c.lost[why], n)
		}
	}
	for _, g := range t.Gaps() {
		if g.Count > 0 {
			c.w.Block(format.BlockGap, format.AppendGap(nil, &format.Gap{From: c.block(g.From), To: c.block(g.To), Count: g.Count, Reason: g.Reason}))
		}
	}
	for _, n := range t.Notes {
		c.note(n.Time, n.Text)
	}
	for _, b := range t.Breaks() {
		c.note(b.To, fmt.Sprintf("its clock stepped within %d ns; durations across the step are unknown", b.To-b.From))
	}
	c.calls()
	c.places()
	return t.EachLockSums(func(l *format.LockSums) bool {
		l.Ticks, l.Addr, l.Name = c.block(t.Nanos(l.Ticks)), c.in.address(l.Addr), c.name(l.Name)
		c.w.Block(format.BlockLock, format.AppendLockSums(nil, l))
		return true
	})
}

// block is at, but not before the merged trace's start.
func (c *converter) block(ns int64) int64 { return max(c.in.at(ns), startTicks) }

func (c *converter) note(at int64, text string) {
	m := c.in.member()
	text = trace.MemberLabel(&m) + ": " + text
	c.w.Block(format.BlockNote, format.AppendNote(nil, c.block(at), text[:min(len(text), format.MaxMemberText)]))
}

// calls writes the call counts of functions that were not recorded at each call.
func (c *converter) calls() {
	t := c.in.t
	end := c.block(t.End())
	for part := range slices.Chunk(t.Calls(), format.MaxCalls) {
		var calls []format.Calls
		var unseen []format.Unseen
		for _, x := range part {
			call := format.Calls{Name: c.name(x.Name), Calls: x.Calls, Recorded: x.Recorded, Off: -1}
			if x.Off {
				call.Off = max(end-c.block(x.Since), 0)
			}
			calls = append(calls, call)
			if x.Unseen > 0 {
				unseen = append(unseen, format.Unseen{Name: call.Name, Calls: x.Unseen})
			}
		}
		c.w.Block(format.BlockCalls, format.AppendCalls(nil, end, calls))
		if unseen != nil {
			c.w.Block(format.BlockUnseen, format.AppendUnseen(nil, end, unseen))
		}
	}
}

// places writes the places of names for which the merged trace has none yet.
func (c *converter) places() {
	for _, p := range c.in.t.NamePlaces(0) {
		at := c.names[p.Name]
		if at <= format.FirstName || c.placed[at-1] || c.in.t.IsObject(p.Name) {
			continue
		}
		c.placed[at-1] = true
		c.w.Block(format.BlockFrame, format.AppendFrame(nil, &format.Frame{
			ID: format.PlaceFrames + at - 1, Function: p.Function, File: p.File, Line: uint32(p.Line), Start: uint32(p.Kind),
		}))
	}
}

// beats writes the heartbeats' values as counters, whose names contain the process.
func (c *converter) beats() error {
	m := c.in.member()
	label := trace.MemberLabel(&m)
	goid, _ := c.in.goid(0, 0, 0)
	count := func(at int64, what string, typ format.SlotType, v uint64) {
		r := format.Record{Start: c.block(at), Stop: int64(v), Head: format.Head(goid, format.KindCounter, false, c.w.Name(label+" "+what)), CPU: uint64(typ)}
		c.w.Record(mostOwners, 0, r, nil)
	}
	busy, last := int64(-1), int64(0)
	return c.in.t.EachBeat(func(b *trace.Beat) bool {
		for _, f := range beatFields {
			if v, ok := b.Value(f.field); ok {
				count(b.Time, f.name, format.SlotInt, uint64(v))
			}
		}
		user, ok := b.Value(format.FieldUser)
		system, ok2 := b.Value(format.FieldSystem)
		if now := user + system; ok && ok2 {
			if busy >= 0 && b.Time > last && now >= busy {
				count(b.Time, "CPUs", format.SlotFloat, math.Float64bits(float64(now-busy)/float64(b.Time-last)))
			}
			busy, last = now, b.Time
		}
		return true
	})
}

var beatFields = []struct {
	field format.Field
	name  string
}{{format.FieldRSS, "memory"}, {format.FieldHeap, "heap"}, {format.FieldGoroutines, "goroutines"}}

// member returns the merged trace's description of the process.
func (in *input) member() format.Member {
	h := in.t.Header()
	m := format.Member{
		From: max(in.at(0), startTicks), To: max(in.at(in.t.End()), startTicks),
		Offset: in.start - h.StartWall, Drift: int64(math.Round(-in.group.slope * 1e9)), Error: in.errorOf(),
		Overwritten: in.t.Overwritten().Records, Breaks: int64(len(in.t.Breaks())),
		Number: in.number, Shift: in.shift, PID: h.PID, PPID: in.ppid, Violated: in.group.violated || in.outside > 0, Apart: in.group.apart,
		Program: in.t.Lookup("program"), Host: in.host, Boot: in.boot, Path: in.name, Lacks: in.lacks(),
	}
	if in.parent != nil {
		m.Parent = in.parent.number
	}
	_, all := in.t.LossesUntil()
	m.Uncounted = !all
	for _, n := range in.t.Lost() {
		m.Lost = sum(m.Lost, n)
	}
	return m
}

// lacks describes what is missing in the input, or wrong with it.
func (in *input) lacks() string {
	var list []string
	if !in.t.State().Closed {
		list = append(list, "not closed")
	}
	for _, p := range in.t.Problems() {
		list = append(list, p.Text)
	}
	if line := analysis.ExcerptLine(in.t); line != "" {
		list = append(list, line)
	}
	if lost := gotrace.Lost(in.t); lost != "" {
		list = append(list, lost)
	}
	list = append(list, in.foreign...)
	return strings.Join(list, "; ")
}

// member writes the description of the converted process.
func (c *converter) member() {
	m := c.in.member()
	c.report.Processes = append(c.report.Processes, m)
	c.w.Block(format.BlockMember, format.AppendMember(nil, &m))
}

// writeFacts writes the facts of all processes together.
func (m *merger) writeFacts() error {
	fact := func(key, value string) {
		m.w.Block(format.BlockInfo, format.AppendInfo(nil, key, value[:min(len(value), format.MaxMemberText)]))
	}
	for _, key := range shared {
		value := m.inputs[0].t.Lookup(key)
		if value != "" && !slices.ContainsFunc(m.inputs, func(in *input) bool { return in.t.Lookup(key) != value }) {
			fact(key, value)
		}
	}
	fact("program", m.programs())
	fact("merged", fmt.Sprintf("%d processes; %s", len(m.inputs), left))
	if m.report.OtherNames > 0 {
		fact("merged_other_names", fmt.Sprint(m.report.OtherNames))
	}
	return m.written()
}

// programs returns the merged trace's program: all its programs, or their last names.
func (m *merger) programs() string {
	var names, paths []string
	for _, in := range m.inputs {
		path := in.t.Lookup("program")
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
			names = append(names, path[strings.LastIndexAny(path, `/\`)+1:])
		}
	}
	if len(paths) == 1 {
		return paths[0]
	}
	return strings.Join(names, ", ")
}

// header returns the header of the merged trace.
func (m *merger) header() format.Header {
	h := format.Header{
		PageSize: 4096, Clock: format.ClockMonotonic,
		Path: format.PathAssembly, Backing: format.BackingDisk, Witness: format.WitnessGoid | format.WitnessYield | format.WitnessSwitch,
		StartTicks: startTicks, StartWall: m.base, TickRate: 1e9,
	}
	id := sha256.New()
	for _, in := range m.inputs {
		x := in.t.Header()
		h.Witness &= x.Witness
		id.Write(x.ID[:])
	}
	copy(h.ID[:], id.Sum(nil))
	return h
}
