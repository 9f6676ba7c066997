package doctor

import (
	"errors"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// readStates reads the goroutines' states and the CPU profile's samples. It returns nil if
// the trace has no states.
func (x *loader) readStates() (*states.Facts, error) {
	m := x.m
	if m.merged > 0 {
		return nil, nil // see ofMerged
	}
	yields := map[uint32]bool{} // whether a runnable goroutine's stack is a yield; set at the end
	seen := uint(0)
	f, err := states.EachOf(x.t, states.Handler{
		Interval: func(_ *states.Facts, v *states.Interval) {
			if seen++; seen%(1<<14) == 0 && x.o.Progress != nil && x.ctx.Err() == nil {
				x.o.Progress(v.To)
			}
			if x.ctx.Err() == nil && x.interval(v) && v.State == states.Runnable && v.Stack != 0 {
				yields[v.Stack] = false
			}
		},
		Sample: func(_ *states.Facts, s *gotrace.Sample, _ states.State) {
			if s.Time >= m.from && s.Time <= m.to && s.Goid != 0 {
				x.sampled = append(x.sampled, *s)
			}
		},
	})
	switch {
	case errors.Is(err, gotrace.ErrNone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	m.stack, m.switches = f.Stack, f.Switches
	m.markYields(yields)
	x.noteStates(f)
	m.hasGo = len(m.gs) > 0
	if !m.hasGo {
		m.noGo = "the Go execution trace does not cover the range"
		if len(f.Problems) > 0 {
			m.noGo = f.Problems[0]
		}
		return nil, nil
	}
	return f, nil
}

// markYields marks the intervals in which goroutines yielded, by the stacks of runnable
// goroutines.
func (m *model) markYields(yields map[uint32]bool) {
	for id := range yields {
		frames := m.stack(id)
		yields[id] = len(frames) > 0 && frames[0].Func == "runtime.Gosched"
	}
	for _, g := range m.gs {
		for i := range g.ivs {
			v := &g.ivs[i]
			v.yield = v.state == states.Runnable && yields[v.stack]
		}
	}
}

// interval adds an interval of a goroutine, and reports whether it lies in the range.
func (x *loader) interval(v *states.Interval) bool {
	m := x.m
	from, to := max(v.From, m.from), min(v.To, m.to)
	if to <= from {
		return false
	}
	y := iv{from: from, to: to, stack: v.Stack, lock: -1, state: v.State, send: v.ReasonName == "chan send"}
	if v.To <= m.to {
		y.by = v.By
	}
	if y.state == states.Syscall && !v.On && to-from > longSyscall {
		y.state = states.Blocked
	}
	y.core = running(y.state) || y.state == states.GC && v.Thread != 0 || y.state == states.Preempted && !m.crowded()
	if k := (wakeup{v.Stack, v.ByStack}); k.at != 0 && k.by != 0 && y.by != 0 {
		m.wakers[k] += to - from
	}
	g := m.g(v.Goid)
	g.ivs = append(g.ivs, y)
	return true
}

// noteStates adds notes on the limits of the states.
func (x *loader) noteStates(f *states.Facts) {
	if !f.Switches && len(x.m.gs) > 0 {
		x.notes = append(x.notes, "thread switches were not recorded ("+f.SwitchesWhy+"): time taken by other programs counts as running")
	}
	x.notes = append(x.notes, f.Problems...)
	for _, c := range f.Checks.List() {
		if c.Known && !c.OK {
			x.notes = append(x.notes, "a check of the states failed: "+c.Text)
		}
	}
}

// longSyscall is the longest system call, in ns, that counts as running where it is not
// known whether its thread was on a CPU: after that Go takes its processor away.
const longSyscall = 20_000

// roles sets the role, creator and site of each goroutine.
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

// samples assigns the CPU profile's samples to goroutines and places.
func (x *loader) samples() {
	m := x.m
	yields := m.yields()
	for _, s := range x.sampled {
		if g := m.byID[s.Goid]; g != nil {
			frames := m.stack(s.Stack)
			p := sample{g: g, at: s.Time, stack: s.Stack, polls: polls(frames), alloc: allocates(frames)}
			if f := own(frames); f != nil {
				p.place = m.text(f)
				if y := yields[g]; f == frames[0] && y != nil && y.Func == f.Func && max(f.Line, y.Line)-min(f.Line, y.Line) <= loopLines {
					p.loops, p.place = true, m.text(y)
				}
			}
			m.samples = append(m.samples, p)
		}
	}
	x.sampled = nil
}

// loopLines is the maximum distance between a loop's lines and the line where it yields. An
// inlined atomic load has the loop's own lines, and none of package atomic's.
const loopLines = 3

// yields returns the place where each goroutine yields most often, for those that do so more
// than a few times.
func (m *model) yields() map[*gor]*symbols.Frame {
	most := map[*gor]*symbols.Frame{}
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
