package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// loader makes the model of a trace.
type loader struct {
	t      *trace.Trace
	o      *Options
	m      *model
	ctx    context.Context
	locks  map[lockKey]*lock
	placed map[uint64][]turn // holds of locks without a name, by their addresses
	waited map[lockKey]bool  // that such a lock was waited for in a place
	notes  []string

	spans   int   // kept so far
	shorter int64 // ns: scopes that are not longer than this are left out
	left    int64 // how many were
}

type lockKey struct {
	addr uint64
	name uint16
}

// maxSpans bounds the scopes that are kept, with 32 bytes each. Of more the shortest are
// left out: what they are in is then said to be in the scope around them.
const maxSpans = 8 << 20

func (x *loader) load() error {
	m := x.m
	x.readBeats()
	facts, err := x.readStates()
	if err != nil {
		return err
	}
	if err := x.readEvents(); err != nil {
		return err
	}
	x.holders()
	if err := x.readSums(); err != nil {
		return err
	}
	if facts != nil {
		m.roles(facts)
		if err := x.readSamples(); err != nil {
			return err
		}
	}
	m.finish()
	x.notes = append(x.notes, m.misused()...)
	return x.ctx.Err()
}

// readBeats takes the heartbeats around the range, or the first and the last one.
func (x *loader) readBeats() {
	m := x.m
	m.beats = unknownBeats
	var first, last trace.Beat
	n := 0
	err := x.t.EachBeat(func(b *trace.Beat) bool {
		last = trace.Beat{Time: b.Time, Values: append(last.Values[:0:0], b.Values...)}
		if n == 0 || b.Time <= m.from {
			first = last
		}
		n++
		return b.Time < m.to && x.ctx.Err() == nil
	})
	if err != nil {
		x.notes = append(x.notes, "not all heartbeats could be read: "+err.Error())
	}
	if n == 0 {
		return
	}
	m.readCores(&last)
	since := func(f format.Field) int64 {
		a, okA := first.Value(f)
		b, okB := last.Value(f)
		if !okA || !okB || b < a {
			return -1
		}
		return b - a
	}
	if n > 1 {
		m.beats = beats{over: last.Time - first.Time, user: since(format.FieldUser), system: since(format.FieldSystem),
			minor: since(format.FieldMinorFaults), major: max(since(format.FieldMajorFaults), 0), gcPause: max(since(format.FieldGCPauseNS), 0),
			throttled: since(format.FieldThrottled), busy: since(format.FieldMachineBusy), steal: since(format.FieldSteal), wait: -1}
		// Threads that have ended since take their waits along.
		if listed, rest := grown(&first, &last, format.FieldThreadWait), grown(&first, &last, format.FieldRestWait); listed != nil && rest != nil {
			m.beats.wait = max(*listed+*rest, 0)
		}
		a, okA := first.Value(format.FieldRSS)
		b, okB := last.Value(format.FieldRSS)
		if okA && okB && b > a && m.beats.minor >= 0 {
			// Memory that the program has kept is none that it takes again and again.
			m.beats.minor = max(m.beats.minor-(b-a)/int64(max(x.t.Header().PageSize, 4096)), 0)
		}
		if m.beats.user < 0 || m.beats.system < 0 || m.beats.minor < 0 {
			m.beats.over = 0
		}
	}
}

// grown is by how much a field that may shrink has grown; nil: not known.
func grown(first, last *trace.Beat, f format.Field) *int64 {
	a, okA := first.Value(f)
	b, okB := last.Value(f)
	if !okA || !okB {
		return nil
	}
	b -= a
	return &b
}

// readCores finds how many CPUs the program could use: the least of GOMAXPROCS, the CPUs
// that the process may use, and the cgroup's limit.
func (m *model) readCores(b *trace.Beat) {
	least := func(f format.Field, scale float64, why string) {
		if v, ok := b.Value(f); ok && v > 0 && (m.cores.Count == 0 || float64(v)*scale < m.cores.Count) {
			m.cores = Cores{float64(v) * scale, why}
		}
	}
	least(format.FieldCPUs, 1, "the CPUs that the process may use")
	least(format.FieldGOMAXPROCS, 1, "GOMAXPROCS")
	m.asked = m.cores.Count
	least(format.FieldCPULimit, 0.001, "the cgroup's limit")
	m.procs, _ = b.Value(format.FieldGOMAXPROCS)
	if milli, ok := b.Value(format.FieldCPULimit); ok {
		m.limit = float64(milli) / 1000
	}
}

// readStates takes in what the goroutines did; nil where the trace does not tell.
func (x *loader) readStates() (*states.Facts, error) {
	m := x.m
	kinds := map[uint32]stackKind{}
	var facts *states.Facts
	look := func(id uint32) stackKind { return kinds[id] }
	seen := uint(0)
	f, err := states.Read(x.t, func(v *states.Interval) {
		if seen++; seen%(1<<14) == 0 && x.o.Progress != nil && x.ctx.Err() == nil {
			x.o.Progress(v.To)
		}
		from, to := max(v.From, m.from), min(v.To, m.to)
		if to <= from || x.ctx.Err() != nil {
			return
		}
		y := iv{from: from, to: to, stack: v.Stack, lock: -1, state: v.State}
		if v.To <= m.to {
			y.by = v.By
		}
		if y.state == states.Syscall && !v.On && to-from > longSyscall {
			y.state = states.Blocked
		}
		y.core = running(y.state) || y.state == states.GC && v.Thread != 0 || y.state == states.Preempted && !m.crowded()
		y.send = v.ReasonName == "chan send"
		g := m.g(v.Goid)
		g.ivs = append(g.ivs, y)
		if v.State == states.Runnable && v.Stack != 0 {
			kinds[v.Stack] = 0 // looked at when the stacks are known
		}
	})
	switch {
	case errors.Is(err, gotrace.ErrNone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	facts = f
	m.stack, m.switches = f.Stack, f.Switches
	for id := range kinds {
		kinds[id] = kindOf(f.Stack(id))
	}
	for _, g := range m.gs {
		for i := range g.ivs {
			if v := &g.ivs[i]; v.state == states.Runnable && look(v.stack) == kindYield {
				v.yield = true
			}
		}
	}
	if !f.Switches && len(m.gs) > 0 {
		x.notes = append(x.notes, "when threads were on a CPU is not known ("+f.SwitchesWhy+"): what other programs took counts as running")
	}
	x.notes = append(x.notes, f.Problems...)
	for _, c := range f.Checks.List() {
		if c.Known && !c.OK {
			x.notes = append(x.notes, "a check of the states does not hold: "+c.Text)
		}
	}
	m.hasGo = len(m.gs) > 0
	if !m.hasGo {
		m.noGo = "nothing of the Go execution trace lies in the range"
		if len(f.Problems) > 0 {
			m.noGo = f.Problems[0]
		}
		return nil, nil
	}
	return facts, nil
}

// longSyscall is how long a system call may take to count as running, where nobody knows
// whether its thread was on a CPU: from then on Go takes its processor away.
const longSyscall = 20_000

type stackKind uint8

const kindYield stackKind = 1

func kindOf(frames []gotrace.Frame) stackKind {
	if len(frames) > 0 && frames[0].Func == "runtime.Gosched" {
		return kindYield
	}
	return 0
}

// roles finds out whose goroutines they are, and where they come from.
func (m *model) roles(facts *states.Facts) {
	for _, g := range m.gs {
		f := facts.Goroutines[g.id]
		if f == nil {
			continue
		}
		g.creator, g.created, g.ended, g.site = f.Creator, f.Created && f.From >= m.from, f.Ended && f.To <= m.to, f.Site
		frames := facts.Stack(f.Start)
		for i := 0; len(frames) == 0 && i < len(g.ivs); i++ {
			frames = facts.Stack(g.ivs[i].stack)
		}
		if len(frames) > 0 {
			g.role = roleOf(frames[len(frames)-1].Func)
		}
		if f.System && g.role == roleUser {
			g.role = roleRuntime
			for i := range g.ivs {
				if g.ivs[i].core && g.ivs[i].state == states.GC {
					g.role = roleCollector
				}
			}
		}
	}
}

// readEvents takes in scopes, waits and holds.
func (x *loader) readEvents() error {
	m := x.m
	breaks := analysis.Breaks(x.t.Breaks())
	watch := x.o.Watch()
	err := x.t.Events(trace.Options{From: m.from, To: m.to, AsRecorded: true}, func(e *trace.Event) bool {
		if e.Goid == 0 || breaks.Across(e) {
			return true
		}
		from, to := max(e.Start, m.from), min(e.Start+e.Dur, m.to)
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess:
			x.scope(e, from, to)
		case format.KindWait, format.KindHold:
			if to > from {
				x.turn(e, from, to)
			}
		}
		return watch.Look(x.ctx, e.Start) == nil
	})
	if err == nil {
		err = x.ctx.Err()
	}
	if x.left > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s shorter than %s were left out, to keep the memory bounded: what was in them counts for the scopes around them",
			analysis.Plural(x.left, "scope"), analysis.Humane(x.shorter)))
	}
	return err
}

func (x *loader) scope(e *trace.Event, from, to int64) {
	if to-from <= x.shorter {
		if x.shorter > 0 {
			x.left++
		}
		return
	}
	if x.spans == maxSpans {
		x.thin()
	}
	m := x.m
	g := m.g(e.Goid)
	s := span{from: from, to: to, cpu: -1, name: e.Name, depth: e.Depth}
	whole := from == e.Start && to == e.Start+e.Dur && !e.Open && e.Kind != format.KindProcess
	if whole && (e.Quality == format.Exact || e.Quality == format.Likely) {
		s.cpu = e.CPU
	} else if !whole {
		s.cpu = cpuNever
	}
	if e.Track != format.NameEmpty {
		g.track = x.t.Name(e.Track)
	}
	g.spans = append(g.spans, s)
	x.spans++
	if name := x.t.Name(e.Name); m.ids[name] == 0 {
		m.ids[name] = e.Name
	}
}

// cpuNever says of a scope that its CPU time is not to be found out: it is not whole.
const cpuNever = -2

// thin leaves out the shorter half of what is kept, or more.
func (x *loader) thin() {
	for x.spans > maxSpans/2 {
		x.shorter = max(2*x.shorter, 500)
		x.spans = 0
		for _, g := range x.m.gs {
			kept := g.spans[:0]
			for _, s := range g.spans {
				if s.to-s.from > x.shorter {
					kept = append(kept, s)
				} else {
					x.left++
				}
			}
			g.spans = kept
			x.spans += len(kept)
		}
	}
}

// turn takes in a wait or a hold.
func (x *loader) turn(e *trace.Event, from, to int64) {
	var addr, holder uint64
	what := uint64(format.LockEvery) // of version 1.1
	for _, s := range e.Args {
		switch s.Type {
		case format.SlotAddr:
			addr = s.Value
		case format.SlotUint:
			what = s.Value
		case format.SlotGoid:
			holder = s.Value
		}
	}
	kind, mode := format.LockOf(what)
	d := turn{g: x.m.g(e.Goid), from: from, to: to, shared: mode == format.LockShared, holder: holder, open: e.Open}
	if e.Track != format.NameEmpty {
		d.g.track = x.t.Name(e.Track)
	}
	place := what&format.LockPlace != 0
	if place && e.Kind == format.KindHold {
		x.placed[addr] = append(x.placed[addr], d)
		return
	}
	of := addr
	if place {
		of = 0 // all locks without a name that are waited for there
	}
	l := x.lock(of, e.Name, kind)
	l.every = l.every || what&format.LockEvery != 0
	if e.Kind == format.KindHold {
		l.holds = append(l.holds, d)
		return
	}
	if k := (lockKey{addr, e.Name}); place && !x.waited[k] {
		x.waited[k] = true
		l.addrs = append(l.addrs, addr)
	}
	l.waits = append(l.waits, d)
	if l.acquired < 0 {
		l.contended++
	}
}

// holders gives locks without a name, which are called by where they are waited for, the
// holds of others who locked them wherever.
func (x *loader) holders() {
	for _, l := range x.m.locks {
		for _, addr := range l.addrs {
			l.holds = append(l.holds, x.placed[addr]...)
		}
	}
}

func (x *loader) lock(addr uint64, name uint16, kind format.LockKind) *lock {
	k := lockKey{addr, name}
	l := x.locks[k]
	if l == nil {
		l = &lock{addr: addr, name: x.t.Name(name), kind: kind, acquired: -1}
		x.locks[k] = l
		x.m.locks = append(x.m.locks, l)
	}
	return l
}

// readSums takes in what was counted of locks.
func (x *loader) readSums() error {
	return x.t.EachLockSums(func(s *format.LockSums) bool {
		at := x.t.Nanos(s.Ticks)
		l := x.locks[lockKey{s.Addr, s.Name}]
		if l == nil || at < x.m.from || at > x.m.to && x.o.To > 0 {
			return x.ctx.Err() == nil
		}
		if l.acquired < 0 {
			l.acquired, l.contended = 0, 0 // the sums have the waits with a record too
		}
		l.acquired += max(s.Acquired, 0)
		l.contended += s.Contended
		l.shortWait += s.ShortWait
		return x.ctx.Err() == nil
	})
}

// readSamples takes in the CPU profile.
func (x *loader) readSamples() error {
	m := x.m
	var found []gotrace.Sample
	info, err := gotrace.Read(x.t, gotrace.Handler{Sample: func(s *gotrace.Sample) {
		if s.Time >= m.from && s.Time <= m.to && s.Goid != 0 {
			found = append(found, *s)
		}
	}})
	if err != nil {
		return err
	}
	yields := m.yields()
	for _, s := range found {
		if g := m.byID[s.Goid]; g != nil {
			frames := info.Stack(s.Stack)
			p := sample{g: g, polls: polls(frames), alloc: allocates(frames)}
			if f := own(frames); f != nil {
				p.place = frameText(f)
				if y := yields[g]; f == &frames[0] && y != nil && y.Func == f.Func && max(f.Line, y.Line)-min(f.Line, y.Line) <= loopLines {
					p.loops, p.place = true, frameText(y)
				}
			}
			m.samples = append(m.samples, p)
		}
	}
	return x.ctx.Err()
}

// loopLines is how far from where a loop lets others run its other lines may be. What an
// atomic load is compiled to is in the loop's own lines, and in none of package atomic's.
const loopLines = 3

// yields is where each goroutine lets others run most often, of those that do so more than
// a few times.
func (m *model) yields() map[*gor]*gotrace.Frame {
	most := map[*gor]*gotrace.Frame{}
	for _, g := range m.gs {
		count := map[uint32]int{}
		top := uint32(0)
		for i := range g.ivs {
			if v := &g.ivs[i]; v.yield {
				if count[v.stack]++; count[v.stack] > count[top] {
					top = v.stack
				}
			}
		}
		if count[top] > 3 {
			if f := m.frame(top); f != nil {
				most[g] = f
			}
		}
	}
	return most
}
