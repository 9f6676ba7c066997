package outside

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/sys"
)

// taken is an event that waits until all earlier ones are there.
type taken struct {
	perf.Event
	of *perf.Watched
}

// read reads the rings.
func (r *recorder) read() {
	now := sys.Monotonic()
	for k, w := range r.counters {
		for i := range w.CPUs {
			r.raw = w.Read(i, r.raw[:0])
			if _, lost := w.Full(i, len(r.raw)); lost && k == 0 {
				r.gap = sys.Monotonic()
			}
			perf.Parse(r.raw, func(e *perf.Event) {
				x := taken{*e, w}
				x.Keep()
				r.waiting = append(r.waiting, x)
			})
		}
	}
	// Each CPU has a ring of its own: the mapping for a sample's addresses may be in another
	// one.
	slices.SortStableFunc(r.waiting, func(a, b taken) int { return cmp.Compare(a.Time, b.Time) })
	n := 0
	for n < len(r.waiting) && (r.ended || r.waiting[n].Time < now-int64(settle)) {
		r.take(&r.waiting[n])
		n++
	}
	r.waiting = slices.Delete(r.waiting, 0, n)
}

// take processes an event.
func (r *recorder) take(e *taken) {
	switch e.Kind {
	case perf.KindSample:
		r.sample(e)
	case perf.KindSwitch:
		r.switched(e)
	case perf.KindMap:
		r.space(e.PID).put(&code{from: e.Addr, to: e.Addr + e.Size, offset: e.Offset, file: e.File, inode: e.Inode, time: e.Time + r.epoch})
	case perf.KindName:
		if e.Exec() {
			r.spaces[e.PID] = &space{}
		}
	case perf.KindFork:
		if e.PID != e.Parent {
			r.spaces[e.PID] = r.space(e.Parent).copyOf()
		}
	default:
		r.lose(e.of, e.of.Take(&e.Event))
	}
}

// lose counts lost records of a counter. The kernel does not report their threads.
func (r *recorder) lose(w *perf.Watched, n int64) {
	switch {
	case n == 0:
	case w.Name == "":
		r.lostRest += n
	default:
		r.lost += n
		r.of(0, w).Lost += n
	}
}

// space returns the mappings of a process.
func (r *recorder) space(pid uint32) *space {
	s := r.spaces[pid]
	if s == nil {
		s = &space{}
		r.spaces[pid] = s
	}
	return s
}

// of returns the samples of a thread by a counter that are not written yet.
func (r *recorder) of(thread uint32, w *perf.Watched) *format.Samples {
	k := series{thread, w}
	s := r.series[k]
	if s == nil {
		s = &format.Samples{Thread: thread, Base: max(r.until[k], r.began), Counter: w.Name, Unit: w.Unit()}
		r.series[k] = s
	}
	return s
}

func (r *recorder) sample(e *taken) {
	if r.full != nil {
		r.lose(e.of, 1)
		return
	}
	space := r.space(e.PID)
	r.pcs = e.PCs(r.pcs[:0], text{space, &r.objects}, &space.cache)
	for i, pc := range r.pcs {
		r.pcs[i] = r.objects.place(space, pc)
	}
	stack := r.names.Stack(r.pcs, r.objects.frames)
	r.process(e, space)
	s := r.of(e.TID, e.of)
	s.List = append(s.List, format.CodeSample{Time: max(e.Time, s.Base), Kernel: e.Kernel(), CPU: e.CPU, Weight: e.Period, Stack: stack})
	r.samples++
	if len(s.List) == format.FullSamples {
		r.write(series{e.TID, e.of}, e.Time)
	}
}

// process records the process of a thread, if it is new.
func (r *recorder) process(e *taken, s *space) {
	last := r.threads[e.TID]
	if x := (format.Program{Thread: e.TID, PID: e.PID, Base: max(e.Time, last.Base), Path: s.program}); x.PID != last.PID || x.Path != last.Path {
		r.threads[e.TID] = x
		r.w.block(format.BlockProgram, format.AppendProgram(nil, &x), 0)
	}
}

// switched processes a switch of a thread.
func (r *recorder) switched(e *taken) {
	if r.full != nil {
		return
	}
	if e.Time < r.gap {
		return
	}
	s := r.switches[e.TID]
	switch {
	case s == nil:
		s = &format.Switches{Thread: e.TID, Base: e.Time, First: true}
		r.switches[e.TID] = s
	case s.Base < r.gap: // the unwritten part is incomplete
		*s = format.Switches{Thread: e.TID, Base: e.Time, First: s.First, Lost: true, List: s.List[:0]}
	case e.Time < s.Base:
		return // already written
	}
	s.List = append(s.List, format.Switch{Time: e.Time, How: e.How()})
	if len(s.List) == format.FullSamples {
		r.writeSwitches(s, e.Time)
	}
}

// flush writes all that is final up to now.
func (r *recorder) flush(now int64) {
	for k := range r.series {
		r.write(k, now)
	}
	for _, s := range r.switches {
		if len(s.List) > 0 && s.Base >= r.gap {
			r.writeSwitches(s, now)
		}
	}
}

// write writes the samples of a thread by a counter.
func (r *recorder) write(k series, now int64) {
	s := r.series[k]
	delete(r.series, k)
	if len(s.List) == 0 && s.Lost == 0 {
		return
	}
	s.Until = max(now, s.Base)
	if n := len(s.List); n > 0 {
		s.Until = max(s.Until, s.List[n-1].Time)
	}
	r.until[k] = s.Until
	r.w.block(format.BlockSamples, format.AppendSamples(nil, s), now)
}

// writeSwitches writes a thread's switches, and begins the next block.
func (r *recorder) writeSwitches(s *format.Switches, now int64) {
	last := s.List[len(s.List)-1]
	s.Until = max(now, last.Time)
	r.w.block(format.BlockSwitch, format.AppendSwitches(nil, s), now)
	*s = format.Switches{Thread: s.Thread, Base: s.Until, On: last.How == format.SwitchIn, List: s.List[:0]}
}
