package outside

import (
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// taken is an event that waits until all before it are there.
type taken struct{ event }

// read takes in what the rings have.
func (r *recorder) read() {
	now := sys.Monotonic()
	for _, ring := range r.rings {
		r.raw = ring.Read(r.raw[:0])
		parse(r.raw, func(e *event) {
			x := taken{event: *e}
			x.chain = slices.Clone(e.chain)
			r.waiting = append(r.waiting, x)
		})
	}
	// The CPUs tell each for itself: what a sample's addresses mean another one may have told.
	slices.SortStableFunc(r.waiting, func(a, b taken) int { return cmp.Compare(a.time, b.time) })
	n := 0
	for n < len(r.waiting) && (r.ended || r.waiting[n].time < now-int64(settle)) {
		r.take(&r.waiting[n])
		n++
	}
	r.waiting = slices.Delete(r.waiting, 0, n)
}

// take takes in one event.
func (r *recorder) take(e *taken) {
	switch e.kind {
	case typeSample:
		r.sample(e)
	case typeSwitch:
		r.switched(e)
	case typeMmap2:
		r.space(e.pid).put(mapping{e.addr, e.addr + e.size, e.offset, e.text})
	case typeComm:
		if e.misc&miscExec != 0 {
			r.spaces[e.pid] = &space{}
		}
	case typeFork:
		if e.pid != e.parent {
			r.spaces[e.pid] = r.space(e.parent).copyOf()
		}
	case typeLost:
		r.lost += e.lost
		if c := r.counters[e.id]; c.Name != "" {
			r.of(0, c).Lost += e.lost
		}
	}
}

// space returns what a process has mapped.
func (r *recorder) space(pid uint32) *space {
	s := r.spaces[pid]
	if s == nil {
		s = &space{}
		r.spaces[pid] = s
	}
	return s
}

// of returns the samples of a thread by a counter that are not written yet.
func (r *recorder) of(thread uint32, c Counter) *format.Samples {
	k := series{thread, c.Name}
	s := r.series[k]
	if s == nil {
		s = &format.Samples{Thread: thread, Base: max(r.until[k], r.began), Counter: c.Name, Unit: c.unit()}
		r.series[k] = s
	}
	return s
}

// mostPending is how many samples are kept until they are written: a block has to fit a chunk.
const mostPending = 2000

func (r *recorder) sample(e *taken) {
	c := r.counters[e.id]
	if c.Name == "" {
		return
	}
	s := r.of(e.tid, c)
	s.List = append(s.List, format.CodeSample{Time: max(e.time, s.Base), Kernel: e.kernel, CPU: e.cpu, Weight: e.period, Stack: r.stack(e.pid, e.pcs(r.space(e.pid).frameless(&r.objects)), e.time)})
	r.samples++
	if len(s.List) == mostPending {
		r.write(series{e.tid, c.Name}, e.time)
	}
}

// stack returns the number of a stack, which it tells the trace if it is new.
func (r *recorder) stack(pid uint32, pcs []uint64, now int64) uint32 {
	const last = 1<<18 - 1 // the largest number that the format has
	r.key = binary.LittleEndian.AppendUint32(r.key[:0], pid)
	pcs = pcs[:min(len(pcs), format.MaxStackFrames)]
	for _, pc := range pcs {
		r.key = binary.LittleEndian.AppendUint64(r.key, pc)
	}
	if id, ok := r.stacks[string(r.key)]; ok {
		return id
	}
	id := uint32(format.CodeStacks + len(r.stacks))
	if id > last || len(pcs) == 0 {
		return format.OtherStacks
	}
	s := format.Stack{ID: id}
	code := format.Code{Stack: id}
	for _, pc := range pcs {
		list := r.objects.frames(r.space(pid), pc)
		if len(s.Frames) > 0 && len(list) == 1 && sys.Wrapper(&runtime.Frame{Function: list[0].Function, File: list[0].File}) {
			continue // Go's own profiles leave it out too
		}
		if len(s.Frames)+len(list) > format.MaxStackFrames {
			s.Cut = true
			break
		}
		code.PCs = append(code.PCs, pc)
		for _, f := range list {
			s.Frames = append(s.Frames, r.frame(f, now))
		}
	}
	r.stacks[string(r.key)] = id
	r.w.block(format.BlockStack, format.AppendStack(nil, &s), now)
	r.w.block(format.BlockCode, format.AppendCode(nil, &code), now)
	return id
}

// frame returns the number of a frame, which it tells the trace if it is new. Beyond what the
// format has numbers for all are the first one, which is <Unknown>.
func (r *recorder) frame(f format.Frame, now int64) uint32 {
	const last = 1<<19 - 1
	if len(r.frames) == 0 {
		r.frames[format.Frame{Function: "<Unknown>"}] = format.CodeFrames
		r.w.block(format.BlockFrame, format.AppendFrame(nil, &format.Frame{ID: format.CodeFrames, Function: "<Unknown>"}), now)
	}
	id, ok := r.frames[f]
	if ok {
		return id
	}
	if id = uint32(format.CodeFrames + len(r.frames)); id > last {
		return format.CodeFrames
	}
	r.frames[f] = id
	named := f
	named.ID = id
	r.w.block(format.BlockFrame, format.AppendFrame(nil, &named), now)
	return id
}

// switched takes in that a thread came onto a CPU or left it.
func (r *recorder) switched(e *taken) {
	s := r.switches[e.tid]
	if s == nil {
		s = &format.Switches{Thread: e.tid, Base: e.time, First: true}
		r.switches[e.tid] = s
	}
	how := format.SwitchIn
	switch {
	case e.misc&miscOut == 0:
	case e.misc&miscPreempt != 0:
		how = format.SwitchPreempt
	default:
		how = format.SwitchOut
	}
	if e.time < s.Base {
		return // told already
	}
	s.List = append(s.List, format.Switch{Time: e.time, How: how})
	if len(s.List) == mostPending {
		r.writeSwitches(s, e.time)
	}
}

// flush writes what is known up to now.
func (r *recorder) flush(now int64) {
	for k := range r.series {
		r.write(k, now)
	}
	for _, s := range r.switches {
		if len(s.List) > 0 {
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

// writeSwitches writes a thread's switches, and begins the next ones.
func (r *recorder) writeSwitches(s *format.Switches, now int64) {
	last := s.List[len(s.List)-1]
	s.Until = max(now, last.Time)
	r.w.block(format.BlockSwitch, format.AppendSwitches(nil, s), now)
	*s = format.Switches{Thread: s.Thread, Base: s.Until, On: last.How == format.SwitchIn, List: s.List[:0]}
}
