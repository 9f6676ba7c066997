package states

import (
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
)

// joiner combines transitions, ranges and switches to intervals.
type joiner struct {
	f        func(*Interval)
	facts    *Facts
	switches *switches
	info     *gotrace.Info // while it is being read
	live     map[uint64]*live
	lately   gotrace.Lately[live] // caches live
	procs    map[int32]*live      // the last goroutine on each of Go's processors
	stacks   []stackInfo
	world    []gotrace.Stretch // when it was stopped; To 0: it still is
	err      error             // from reading switches
	iv       Interval
	last     Interval // the last one passed to f
	who      *live    // the goroutine of iv
	base     State    // state of iv if its thread were on a CPU
}

// live is a goroutine with its state since at.
type live struct {
	*Goroutine
	kind   kind
	state  gotrace.GoState
	at     int64
	stack  uint32
	thread uint32
	proc   int32
	lost   int64 // time when another goroutine got its processor during a system call; 0: none did
	reason string
	assist bool
	seen   bool // a stack that identifies its kind was seen
	times  [Count]int64
}

// stackInfo caches the properties of a stack that was examined.
type stackInfo struct {
	known bool
	kind  kind
	inner kind  // by the innermost function outside of the runtime
	state State // of a goroutine that waits there
}

func newJoiner(facts *Facts, s *switches, f func(*Interval)) *joiner {
	return &joiner{f: f, facts: facts, switches: s, live: map[uint64]*live{}, procs: map[int32]*live{}}
}

func (j *joiner) handler() gotrace.Handler {
	return gotrace.Handler{Transition: j.transition, Begun: j.begun, Range: j.ended}
}

// stateOf returns the current state of a goroutine, as far as its transitions show.
func (j *joiner) stateOf(goid uint64) State {
	g := j.live[goid]
	switch {
	case g == nil:
		return Unknown
	case g.state == gotrace.Syscall:
		return Syscall
	case g.state != gotrace.Running:
		return Unknown
	case g.assist || g.kind == worker:
		return GC
	}
	return Running
}

// look returns what is known from a stack.
func (j *joiner) look(id uint32) stackInfo {
	if id == 0 {
		return stackInfo{}
	}
	for int(id) >= len(j.stacks) {
		j.stacks = append(j.stacks, stackInfo{})
	}
	s := &j.stacks[id]
	if !s.known {
		frames := j.facts.Stack(id)
		*s = stackInfo{true, kindOf(frames), innerKind(frames), stackState(frames)}
	}
	return *s
}

// transition handles a goroutine's change of state.
func (j *joiner) transition(tr *gotrace.Transition) {
	g := j.lately.Of(j.live, tr.Goid)
	if g == nil {
		g = j.meet(tr)
	} else {
		if tr.Thread != 0 && g.thread == 0 && (g.state == gotrace.Running || g.state == gotrace.Syscall) {
			g.thread = tr.Thread
		}
		if g.proc < 0 && g.state == gotrace.Running {
			g.proc = tr.Proc
		}
		if tr.Stack != 0 && (tr.From == gotrace.Running || tr.From == gotrace.Syscall) {
			j.identify(g, tr.Stack)
		}
		if !g.seen && tr.From == gotrace.Waiting && j.look(tr.ByStack).inner == system {
			g.kind, g.System = system, true // it waits since before the recording, for the recorder
		}
		j.close(g, tr.Time, tr.By, tr.ByStack)
	}
	g.state = tr.To
	switch tr.To {
	case gotrace.NotExist:
		g.Ended = true
		j.facts.add(g)
		delete(j.live, tr.Goid)
		j.lately.Forget(tr.Goid)
		return
	case gotrace.Running:
		g.stack, g.reason = 0, ""
	case gotrace.Runnable: // a woken goroutine is still where it waited
		if tr.From != gotrace.Waiting {
			g.stack, g.reason = tr.Stack, ""
		}
	default:
		g.stack, g.reason = tr.Stack, tr.Reason
	}
	g.thread, g.proc, g.lost = 0, -1, 0
	if tr.To == gotrace.Running || tr.To == gotrace.Syscall {
		g.thread = tr.Thread
		j.occupy(g, tr.Proc, tr.Time)
	}
}

// occupy records that a goroutine has a processor. During a system call it may lose it,
// which no event reports.
func (j *joiner) occupy(g *live, proc int32, now int64) {
	if g.proc = proc; proc < 0 {
		return
	}
	if before := j.procs[proc]; before != nil && before != g && before.proc == proc && before.lost == 0 {
		before.lost = now
	}
	j.procs[proc] = g
}

// meet begins a goroutine's life.
func (j *joiner) meet(tr *gotrace.Transition) *live {
	g := &live{Goroutine: j.facts.Goroutines[tr.Goid], at: tr.Time, proc: -1}
	if g.Goroutine == nil {
		g.Goroutine = &Goroutine{ID: tr.Goid, From: tr.Time, To: tr.Time}
		j.facts.Goroutines[tr.Goid] = g.Goroutine
	} else { // an id that had ended: the trace is corrupt
		g.at, g.Ended = g.To, false
		j.close(g, tr.Time, 0, 0)
	}
	if tr.From == gotrace.NotExist {
		g.Created, g.Creator, g.Site, g.Start = true, tr.By, tr.ByStack, tr.Stack
	}
	j.identify(g, tr.Stack)
	j.live[tr.Goid] = g
	return g
}

// identify determines the kind of a goroutine.
func (j *joiner) identify(g *live, stack uint32) {
	if g.seen || stack == 0 {
		return
	}
	g.seen = true
	g.kind = j.look(stack).kind
	g.System = g.kind != program
}

// begun handles the begin of a range.
func (j *joiner) begun(r *gotrace.Range) {
	switch {
	case r.Goid == 0 && strings.HasPrefix(r.Name, "stop-the-world"):
		if n := len(j.world); n == 0 || j.world[n-1].To != 0 { // only one stop at a time
			j.world = append(j.world, gotrace.Stretch{From: r.From})
		}
	case r.Name == "GC mark assist":
		if g := j.live[r.Goid]; g != nil {
			j.close(g, r.From, 0, 0)
			g.assist = true
		}
	}
}

// ended handles the end of a range.
func (j *joiner) ended(r *gotrace.Range) {
	switch {
	case r.Goid == 0 && strings.HasPrefix(r.Name, "stop-the-world"):
		if n := len(j.world); n > 0 && j.world[n-1].To == 0 {
			j.world[n-1].To = r.To
		}
	case r.Name == "GC mark assist":
		if g := j.live[r.Goid]; g != nil && g.assist {
			j.close(g, r.To, 0, 0)
			g.assist = false
		}
	}
}

// close reports what a goroutine did up to now.
func (j *joiner) close(g *live, now int64, by uint64, byStack uint32) {
	if now <= g.at {
		return
	}
	from := g.at
	g.at, g.To = now, now
	j.who, j.iv = g, Interval{Goid: g.ID, Thread: g.thread, Proc: g.proc, Stack: g.stack}
	switch g.state {
	case gotrace.Running, gotrace.Syscall:
		j.base = CPU
		if g.state == gotrace.Syscall {
			j.base = Syscall
		}
		if g.assist || g.kind == worker {
			j.base = GC
		}
		if err := j.switches.cut(g.thread, from, now, j.piece); err != nil && j.err == nil {
			j.err = err
		}
	case gotrace.Runnable:
		j.runnable(from, now)
	case gotrace.Waiting:
		j.iv.ReasonName = g.reason
		j.iv.By, j.iv.ByStack = by, byStack
		j.deliver(from, now, j.waits(g, byStack))
	default:
		j.deliver(from, now, Unknown)
	}
}

// piece reports a stretch of running or of a system call.
func (j *joiner) piece(from, to int64, w where) {
	state := j.base
	switch {
	case w == nowhere && state == CPU:
		state = Running
	case w == preempted:
		state = Preempted
	case w == forData:
		state = DataFault
	case w == forText:
		state = TextFault
	case w == waiting && j.who.state == gotrace.Syscall:
		state = Blocked
	case w == waiting:
		state = Stalled
	}
	j.iv.On = w == onIt
	if j.iv.On {
		j.facts.ran(j.switches.threads[j.iv.Thread], from, to)
	}
	j.deliver(from, to, state)
}

// runnable reports a stretch of waiting for a processor; while the world was stopped,
// the state is GC.
func (j *joiner) runnable(from, to int64) {
	i := len(j.world)
	for i > 0 && (j.world[i-1].To == 0 || j.world[i-1].To > from) {
		i--
	}
	for _, w := range j.world[i:] {
		end := w.To
		if end == 0 {
			end = to
		}
		a, b := max(w.From, from), min(end, to)
		if b <= a {
			continue
		}
		j.deliver(from, a, Runnable)
		j.deliver(a, b, GC)
		from = b
	}
	j.deliver(from, to, Runnable)
}

// waits returns the state of a wait that was ended at byStack.
func (j *joiner) waits(g *live, byStack uint32) State {
	switch g.reason {
	case "sync", "forever":
		return j.look(g.stack).state
	case "": // since before the recording
		if g.stack != 0 {
			return j.look(g.stack).state
		}
		if s := j.look(byStack).state; s != Other {
			return s // the function that unlocks, sends or is done shows what was waited for
		}
		return Unknown
	}
	if s, ok := reasons[g.reason]; ok {
		return s
	}
	return Other
}

// deliver passes an interval on.
func (j *joiner) deliver(from, to int64, s State) {
	if to <= from {
		return
	}
	j.last = j.iv // in place: allocating each would dominate the cost of reading
	v := &j.last
	v.From, v.To, v.State = from, to, s
	if j.who.lost != 0 && from >= j.who.lost {
		v.Proc = -1
	}
	j.who.times[s] += to - from
	if j.f != nil {
		j.f(v)
	}
}

// finish ends all intervals.
func (j *joiner) finish() {
	for _, g := range j.live {
		if g.state != gotrace.Unknown { // the reader ends live goroutines
			j.close(g, j.info.To, 0, 0)
		}
		j.facts.add(g)
	}
}
