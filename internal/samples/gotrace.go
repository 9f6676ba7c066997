package samples

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// goReader makes samples from a Go execution trace: from its CPU profile, and from each
// wait.
type goReader struct {
	*sum
	ctx   context.Context
	sel   *Selection
	more  func(ns int64) bool
	in    *executions       // nil: all of the time is selected
	names map[uint64]string // of rows; nil: not needed
	wait  [states.Count]int // metric of each state's waits
	stack []uint32          // by the trace's stack ids: the sum's, plus one; 0: not seen yet
	made  map[uint64]uint32 // by goroutine: id of its origin
	late  late              // samples whose scopes are not known yet
	scope []scopeNode       // scopes of samples; [0] is none
	whose []one             // waits whose goroutine may not be the program's
	ids   []uint32
	cpu   int64 // number of samples of CPU time
	had   int64 // ns that goroutines are known to have been on CPUs

	preset   string    // default counter where there are no samples of CPU time; "": there are no counters
	counters *counters // counters whose samples are kept; nil: none
}

// one is a sample or a wait as it was read.
type one struct {
	time, dur, value int64
	goid             uint64
	pid, thread      uint32
	cpu              uint32 // number of the CPU, plus one; 0: not known
	stack, origin    uint32
	scope            uint32 // innermost scope, an index of goReader.scope; 0: none
	metric           uint16
	state            states.State
	slow             bool
}

func newGoReader(ctx context.Context, s *sum, sel *Selection) *goReader {
	r := &goReader{sum: s, ctx: ctx, sel: sel, more: sel.watch(ctx), made: map[uint64]uint32{}, late: late{}}
	r.wait = s.addWaits()
	return r
}

func (r *goReader) handler() states.Handler {
	return states.Handler{Interval: r.interval, Sample: r.sample, PCs: true}
}

// OfGoTrace reads a Go execution trace of runtime/trace, go test -trace or net/http/pprof.
// The profile's Notes list damage.
func OfGoTrace(ctx context.Context, in io.Reader, sel *Selection) (*Profile, error) {
	if sel.Processes != nil {
		return nil, fmt.Errorf("%w: a plain Go execution trace has no process", errNotRecorded)
	}
	if len(sel.CPUs) > 0 {
		return nil, fmt.Errorf("%w: a Go execution trace has threads and Go's processors, not the system's CPUs", errNotRecorded)
	}
	if sel.Scopes != nil || !sel.allTracks() {
		return nil, fmt.Errorf("%w: a plain Go execution trace has no scopes and no rows", errNotRecorded)
	}
	r := newGoReader(ctx, newSum(), sel)
	f, err := states.EachPlain(in, r.handler())
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	r.settle(f)
	r.finish(f)
	return r.profile()
}

// sample adds a sample of the CPU profile.
func (r *goReader) sample(f *states.Facts, s *gotrace.Sample, in states.State) {
	if in == states.Running || in == states.Unknown {
		in = states.CPU
	}
	if s.Time < r.sel.From || s.Time >= r.sel.to() || !r.wanted(s.Goid, in) || !r.sel.onThread(s.Thread) || len(r.sel.CPUs) > 0 {
		return
	}
	found, slow := r.in.at(s.Goid, s.Time)
	if !found {
		return
	}
	r.cpu++
	r.take(one{
		time: s.Time, value: perSample, goid: s.Goid, thread: s.Thread, stack: r.sampledStack(f, s.Stack, s.Goid),
		origin: r.originOf(f, s.Goid), metric: uint16(r.metrics[cpu.Name]), state: in, slow: slow,
	})
}

// interval adds a goroutine's wait.
func (r *goReader) interval(f *states.Facts, v *states.Interval) {
	if v.On {
		r.had += v.To - v.From
	}
	metric := r.wait[v.State]
	if len(r.sel.CPUs) > 0 {
		return // Go does not record the CPU of a wait
	}
	if metric < 0 || v.State == states.GC && v.Thread != 0 || !r.wanted(v.Goid, v.State) || len(r.sel.Threads) > 0 && !r.sel.onThread(v.Thread) {
		return
	}
	if g := f.Goroutines[v.Goid]; g != nil && g.System && len(r.sel.Goroutines) == 0 {
		return // the runtime's and the recorder's own goroutines wait nearly always
	}
	from, to := max(v.From, r.sel.From), min(v.To, r.sel.to())
	stack := r.counters.fault(v)
	if stack == 0 {
		stack = r.stackOf(f, v.Stack, v.Goid)
	}
	r.in.each(v.Goid, from, to, func(from, to int64, slow bool) {
		if to <= from {
			return
		}
		x := one{
			time: from, dur: to - from, value: to - from, goid: v.Goid, thread: v.Thread, stack: stack,
			origin: r.originOf(f, v.Goid), metric: uint16(metric), state: v.State, slow: slow,
		}
		if v.Stack == 0 { // a later stack may show that the goroutine is the runtime's
			r.whose = append(r.whose, x)
			return
		}
		r.take(x)
	})
}

// settle adds the kept waits whose goroutines turned out to be the program's.
func (r *goReader) settle(f *states.Facts) {
	for _, x := range r.whose {
		if g := f.Goroutines[x.goid]; g == nil || !g.System || len(r.sel.Goroutines) > 0 {
			r.take(x)
		}
	}
	r.whose = nil
}

func (r *goReader) wanted(goid uint64, state states.State) bool {
	return r.sel.wants(goid, state) && (r.sel.allTracks() || r.sel.Tracks.Match(r.names[goid])) && r.ctx.Err() == nil
}

// take counts a sample, or keeps it until its scope is known.
func (r *goReader) take(x one) {
	r.p.Samples++
	if r.p.Samples%(1<<12) == 0 {
		r.more(x.time)
	}
	if r.sel.Split.Scope {
		r.late.add(&x)
		return
	}
	r.count(&x, "")
}

// count adds a sample to the sums.
func (r *goReader) count(x *one, scope string) {
	if !r.wantsObject(r.sel, x.stack) {
		return
	}
	all := Labels{Goid: x.goid, PID: x.pid, Thread: x.thread, Track: r.names[x.goid], Scope: scope, State: x.state, Slow: x.slow}
	if r.sel.Each != nil {
		r.sel.Each(&Sample{
			Time: x.time, Dur: x.dur, Metric: x.metric, Value: x.value, OnCPU: r.onCPU(x), Stack: [2]uint32{x.stack, x.origin},
			Frames: r.framesOf(x.stack, x.origin), Labels: all, CPU: int32(x.cpu) - 1, Scopes: r.scopesOf(x.scope),
		})
	}
	r.add(stackKey{x.stack, x.origin, r.label(r.sel.Split.of(all))}, int(x.metric), x.value)
}

// onCPU returns the value for Sample.OnCPU. Counters are read after Go's own samples.
func (r *goReader) onCPU(x *one) bool {
	name := r.p.Metrics[x.metric].Name
	return name == cpu.Name || r.cpu == 0 && (name == taskClocks[0].Name || name == taskClocks[1].Name)
}

// of returns the labels by which samples are kept separate.
func (p Split) of(l Labels) Labels {
	kept := Labels{Slow: l.Slow}
	if p.Goroutine {
		kept.Goid = l.Goid
	}
	if p.Process {
		kept.PID = l.PID
	}
	if p.Thread {
		kept.Thread = l.Thread
	}
	if p.Track {
		kept.Track = l.Track
	}
	if p.Scope {
		kept.Scope = l.Scope
	}
	if p.State {
		kept.State = l.State
	}
	return kept
}

// Maximum number of frames that Go keeps of a stack: in an execution trace
// (tracev2.MaxFramesPerStack), and of a sample of CPU time (runtime.maxCPUProfStack). The
// latter end in runtime.goexit, which is left out, so that whole ones are shorter.
const (
	deepestOfGo     = 128
	deepestSampleGo = 64
)

// sampledStack is stackOf for a sample of CPU time.
func (r *goReader) sampledStack(f *states.Facts, id uint32, goid uint64) uint32 {
	stack := r.stackOf(f, id, goid)
	if ids := r.stacks[stack]; len(ids) == deepestSampleGo {
		stack = r.sum.stack(append(slices.Clone(ids), r.frameID(symbols.Frame{Func: TruncatedName})))
	}
	return stack
}

// stackOf returns the sum's id of one of the trace's stacks. An unknown stack becomes
// <Unknown>, called by the function that its goroutine began with.
func (r *goReader) stackOf(f *states.Facts, id uint32, goid uint64) uint32 {
	if id == 0 {
		r.ids = append(r.ids[:0], r.frameID(symbols.Frame{}))
		if g := f.Goroutines[goid]; g != nil {
			r.ids = r.appendFrames(r.ids, f, g.Start)
		}
		return r.sum.stack(r.ids)
	}
	for int(id) >= len(r.stack) {
		r.stack = append(r.stack, make([]uint32, 1+len(r.stack))...)
	}
	if r.stack[id] == 0 {
		r.ids = r.appendFrames(r.ids[:0], f, id)
		r.stack[id] = 1 + r.sum.stack(r.ids)
	}
	return r.stack[id] - 1
}

func (r *goReader) appendFrames(ids []uint32, f *states.Facts, stack uint32) []uint32 {
	frames := f.Stack(stack)
	for _, fr := range frames {
		ids = append(ids, r.frameID(*fr))
	}
	if len(frames) >= deepestOfGo {
		ids = append(ids, r.frameID(symbols.Frame{Func: TruncatedName}))
	}
	return ids
}

// originOf returns the id of a goroutine's origin; 0 if it is not wanted or not known.
func (r *goReader) originOf(f *states.Facts, goid uint64) uint32 {
	if !r.sel.Imputed || goid == 0 {
		return 0
	}
	if o, ok := r.made[goid]; ok {
		return o
	}
	r.made[goid] = 0 // corrupt traces may have goroutines that created each other
	g := f.Goroutines[goid]
	if g == nil || !g.Created || g.Site == 0 {
		return 0
	}
	o := r.origin(r.stackOf(f, g.Site, g.Creator), r.originOf(f, g.Creator))
	r.made[goid] = o
	return o
}

// finish adds notes on the reliability of the samples.
func (r *goReader) finish(f *states.Facts) {
	p := r.p
	p.From, p.To = max(f.From, r.sel.From), min(f.To, r.sel.to())
	p.Preset = cpu.Name
	if r.cpu == 0 {
		p.Preset = cmp.Or(r.preset, "off")
	}
	if r.cpu == 0 && r.preset == "" && r.whole() {
		p.Notes = append(p.Notes, "there are no samples of CPU time: the program did not take a CPU profile while it was traced, or had no CPU for 10 ms")
	}
	if r.cpu > 0 && r.whole() && f.Switches {
		p.Notes = append(p.Notes, fmt.Sprintf("CPU time is estimated from samples: %v, where goroutines had CPUs for %v by the threads' switches",
			time.Duration(r.cpu*perSample), time.Duration(r.had).Round(time.Millisecond)))
	}
	if len(r.sel.CPUs) > 0 {
		p.Notes = append(p.Notes, "only samples of counters have the CPU: waits, and the CPU time of Go's own profile, are left out")
	}
	if !f.Switches {
		p.Notes = append(p.Notes, "waits for a CPU of the system can't be distinguished from system calls that waited: "+f.SwitchesWhy)
	}
	p.Notes = append(p.Notes, f.Problems...)
	p.Damage = f.Info.Damage
	if f.Info.Missing && len(f.Problems) > 0 {
		p.Missing = f.Problems[len(f.Problems)-1]
	}
}

// whole reports whether the selection leaves nothing out.
func (r *goReader) whole() bool { return r.sel.anytime() }
