package samples

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// taskClock is the counter of CPU time. Its samples show whether the thread was in the
// kernel, so they are two metrics, and taskClock is their sum.
const taskClock = "task-clock"

var taskClocks = [2]Metric{
	{Name: "user", Title: "CPU time in the program, by the counter task-clock", Unit: Nanoseconds, Sampled: true},
	{Name: "system", Title: "CPU time in the kernel, by the counter task-clock", Unit: Nanoseconds, Sampled: true},
}

// counters has the samples of a trace's counters until their goroutines are known.
type counters struct {
	r       *goReader
	t       *trace.Trace
	metrics map[string][2]int // by counter: in user mode, in the kernel
	stacks  map[uint32]uint32 // the trace's stack ids to the sum's
	threads map[uint32][]one  // by time
	preset  string            // first metric; "": there are no samples
}

// readCounters reads the samples of a recording's counters. With later the samples are kept
// until it is known which goroutine each thread ran, otherwise they are counted at once.
func (r *goReader) readCounters(t *trace.Trace, later bool) (*counters, error) {
	c := &counters{r: r, t: t, metrics: map[string][2]int{}, stacks: map[uint32]uint32{}, threads: map[uint32][]one{}}
	for _, k := range t.Counters() {
		if !isHeap(k.Name) {
			c.add(k)
		}
		if k.Lost > 0 {
			r.p.Notes = append(r.p.Notes, fmt.Sprintf("%d samples of the counter %s were lost: there was no room for them", k.Lost, k.Name))
		}
	}
	heap := r.newHeap(t)
	r.readFacts(t)
	programs := programs{t, map[format.Program]bool{}}
	err := t.EachSample(func(x *trace.Sample) bool {
		if isHeap(x.Counter) {
			heap.take(x, c.stack(x.Stack))
		} else if x.Time >= r.sel.From && x.Time < r.sel.to() && r.sel.onThread(x.Thread) && r.sel.onCPU(x.CPU) {
			mode := 0
			if x.Kernel {
				mode = 1
			}
			one := one{
				time: x.Time, value: x.Weight, pid: programs.of(x), thread: x.Thread, cpu: x.CPU + 1, stack: c.stack(x.Stack), metric: uint16(c.metrics[x.Counter][mode]), state: states.CPU,
			}
			if later {
				c.threads[x.Thread] = append(c.threads[x.Thread], one)
			} else {
				c.count(nil, &one)
			}
		}
		return r.more(x.Time)
	})
	heap.finish()
	r.p.Notes = append(r.p.Notes, programs.notes()...)
	for _, list := range c.threads {
		slices.SortStableFunc(list, func(a, b one) int { return cmp.Compare(a.time, b.time) })
	}
	return c, cmp.Or(err, r.ctx.Err())
}

// readFacts reads the recording's facts on counters and functions.
func (s *sum) readFacts(t *trace.Trace) {
	for _, i := range t.Info {
		if name, ok := strings.CutPrefix(i.Key, "aliases_"); ok {
			s.alias(name, strings.Fields(i.Value))
		}
		if name, ok := strings.CutPrefix(i.Key, "counter_"); ok && i.Value != "on" && i.Value == t.Lookup(i.Key) {
			s.p.Notes = append(s.p.Notes, "the counter "+name+" is "+i.Value)
		}
	}
}

// alias adds the other names of a function. Several files may have one of its name.
func (s *sum) alias(name string, others []string) {
	if s.p.Aliases == nil {
		s.p.Aliases = map[string][]string{}
	}
	list := append(s.p.Aliases[name], others...)
	slices.Sort(list)
	s.p.Aliases[name] = slices.Compact(list)
}

// add adds the metrics of a counter.
func (c *counters) add(k trace.Counter) {
	s := c.r.sum
	name := k.Name
	for s.p.Metric(name) >= 0 { // scopeview itself writes no such name
		name += "_"
	}
	if k.Name != taskClock {
		m := s.metric(Metric{Name: name, Title: "samples of the counter " + k.Name, Unit: Unit(k.Unit), Sampled: true})
		c.metrics[k.Name] = [2]int{m, m}
	} else {
		both := [2]int{s.metric(taskClocks[0]), s.metric(taskClocks[1])}
		if s.p.Metric(cpu.Name) < 0 { // there is no other CPU time
			name = cpu.Name
		}
		s.metric(Metric{Name: name, Title: "CPU time by the counter task-clock, user and system", Unit: Nanoseconds, Sampled: true, Of: both[:]})
		c.metrics[k.Name] = both
	}
	if c.preset == "" || k.Name == taskClock {
		c.preset = name
	}
}

// ownFrames returns a stack of the trace in the form of the Go execution trace's stacks.
func ownFrames(t *trace.Trace, id uint32) (frames []symbols.Frame) {
	for _, f := range t.AppendFrames(nil, id) {
		frames = append(frames, symbols.FrameOf(&f))
	}
	if t.CutOff(id) {
		return append(frames, symbols.Frame{Func: TruncatedName})
	}
	return frames[:gotrace.WithoutBegin(len(frames), func(i int) string { return frames[i].Func })]
}

// stack returns the sum's id of a stack of the trace.
func (c *counters) stack(id uint32) uint32 {
	if stack, ok := c.stacks[id]; ok {
		return stack
	}
	frames, pcs := ownFrames(c.t, id), c.t.PCs(id)
	var ids []uint32
	for _, f := range frames {
		if f.Line == 0 && f.File != "" { // it has no known source
			if f.File != c.r.p.Binary {
				f.Object = f.File
			}
			f.File = ""
		}
		if len(pcs) > 0 {
			f.PC = pcs[0]
			if o := c.t.CodeAt(f.PC); o != nil {
				f.Object = c.object(o)
				if o.Addr != 0 {
					f.PC += o.Addr - o.From
				}
			}
			if !f.Inlined {
				pcs = pcs[1:]
			}
		}
		ids = append(ids, c.r.frameID(f))
	}
	if len(ids) == 0 || id == format.OtherStacks {
		ids = append(ids[:0], c.r.frameID(symbols.Frame{}))
	}
	stack := c.r.sum.stack(ids)
	c.stacks[id] = stack
	return stack
}

// ran sets the goroutine of the samples that a thread took in an interval.
func (c *counters) ran(v *states.Interval) {
	list := c.threads[v.Thread]
	if v.Thread == 0 || len(list) == 0 {
		return
	}
	for i := sort.Search(len(list), func(k int) bool { return list[k].time >= v.From }); i < len(list) && list[i].time < v.To; i++ {
		list[i].goid = v.Goid
	}
}

// fault returns the sum's id of the stack of a goroutine's wait for a page, if the counter
// of major page faults has sampled each with its stack, which it does once the page is
// there; 0 otherwise.
func (c *counters) fault(v *states.Interval) uint32 {
	if c == nil || v.State != states.TextFault && v.State != states.DataFault {
		return 0
	}
	metric, counted := c.metrics["major-faults"]
	if !counted {
		return 0
	}
	list := c.threads[v.Thread]
	for i := sort.Search(len(list), func(k int) bool { return list[k].time >= v.To }); i < len(list) && list[i].time < v.To+format.AfterFault; i++ {
		if int(list[i].metric) == metric[0] {
			return list[i].stack
		}
	}
	return 0
}

// take counts the kept samples.
func (c *counters) take(f *states.Facts) {
	for _, thread := range sortedKeys(c.threads) {
		for i := range c.threads[thread] {
			c.count(f, &c.threads[thread][i])
		}
	}
	c.threads = nil
}

// count counts a sample, if it is selected.
func (c *counters) count(f *states.Facts, x *one) {
	r := c.r
	found, slow := r.in.at(x.goid, x.time)
	if !found || !r.wanted(x.goid, x.state) {
		return
	}
	x.slow = slow
	if f != nil {
		x.origin = r.originOf(f, x.goid)
	}
	r.take(*x)
}

func sortedKeys(m map[uint32][]one) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// noGoroutines explains why counters alone allow no selection by goroutine.
const noGoroutines = "the goroutines, scopes and rows of samples are not known without a Go execution trace"

// ofCounters adds the samples of counters, without a Go execution trace.
func (r *goReader) ofCounters(t *trace.Trace) error {
	of := *r.sel
	of.Split.Scope = false // goroutines are not known, so no sample has a scope
	r.sel = &of
	if of.Scopes != nil || !of.allTracks() || len(of.Goroutines) > 0 {
		r.p.Notes = append(r.p.Notes, noGoroutines)
	}
	c, err := r.readCounters(t, false)
	if c.preset == "" && r.p.Metric(format.AllocBytes) >= 0 {
		c.preset = format.AllocBytes
	}
	if err != nil || c.preset == "" {
		return err
	}
	r.p.Preset = c.preset
	r.p.From, r.p.To = max(0, r.sel.From), min(t.End(), r.sel.to())
	return nil
}
