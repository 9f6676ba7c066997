package states

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Facts is the result of Read. Times are ns from the trace's start.
type Facts struct {
	From, To   int64             // the time of the Go execution trace
	Stretches  []gotrace.Stretch // the parts of it that are covered: it may have been interrupted
	Goroutines map[uint64]*Goroutine
	// Totals are the times by state of the program's own goroutines.
	Totals [Count]int64
	// Runtime are those of the runtime's and the recorder's goroutines: the collector's workers,
	// and others.
	Runtime [Count]int64
	// Switches reports whether there are switches of threads. If not, SwitchesWhy is a sentence
	// with the reason, and no state is CPU, Preempted, TextFault, DataFault, Stalled or Blocked.
	Switches    bool
	SwitchesWhy string
	Switched    int64 // number of switches
	Threads     int   // number of threads with switches
	Checks      checks
	Problems    []string
	Info        *gotrace.Info

	stolen int64 // ns taken by the host, while clocks can be compared
	over   int64 // ns of CPUs that two goroutines had at once
	used   int64 // ns of CPUs that goroutines had, while clocks can be compared
	from   int64 // the time in which they can
	to     int64
}

// Goroutine is a goroutine that existed while the Go execution trace was recorded.
type Goroutine struct {
	ID      uint64
	Creator uint64 // 0: unknown
	From    int64  // its creation, or the start of the recording
	To      int64  // its end, or the end of the recording
	Created bool   // it was created during the recording
	Ended   bool
	System  bool   // it belongs to the runtime, or to the recorder
	Site    uint32 // stack of the go statement; 0: unknown
	Start   uint32 // stack of its entry function; 0: unknown

	sum int64 // total of its intervals
}

// Stack returns a stack's frames, the leaf first; nil for 0.
func (f *Facts) Stack(id uint32) []*symbols.Frame {
	if f.Info == nil {
		return nil
	}
	return f.Info.Stack(id)
}

// Read calls fn with the intervals of all goroutines, those of one goroutine in order; the argument
// is valid during the call. The error wraps gotrace.ErrNone if there is no Go execution trace. It
// reads some million events per second, and its memory grows with the number of goroutines, not of
// intervals.
func Read(t *trace.Trace, fn func(*Interval)) (*Facts, error) {
	return Each(t, func(_ *Facts, v *Interval) {
		if fn != nil {
			fn(v)
		}
	})
}

// Each is Read for callers that need the stacks at once: during the reading, only Stack of the
// Facts may be used.
func Each(t *trace.Trace, fn func(*Facts, *Interval)) (*Facts, error) {
	return EachOf(t, Handler{Interval: fn})
}

// Handler receives the results of EachOf and EachPlain. During the reading, only Stack of the
// Facts, and the Goroutines seen so far, may be used.
type Handler struct {
	Interval func(*Facts, *Interval)
	// Sample receives a sample of the CPU profile, with its goroutine's state.
	Sample func(f *Facts, s *gotrace.Sample, in State)
	PCs    bool // see gotrace.Handler
	// Transition receives the changes of state of which the intervals are made, in the order in
	// which they are read.
	Transition func(*Facts, *gotrace.Transition)
	// Done is called by EachOf after everything was read and checked, but not if reading fails.
	Done func(*Facts)
}

// EachPlain is EachOf for a plain Go execution trace, outside of a scope trace. It has no switches,
// and no CPU clocks to compare with.
func EachPlain(in io.Reader, h Handler) (*Facts, error) {
	f := &Facts{Goroutines: map[uint64]*Goroutine{}, SwitchesWhy: "a plain Go execution trace has none"}
	return f.read([]Handler{h}, &switches{}, func(gh gotrace.Handler) (*gotrace.Info, error) { return gotrace.ReadPlain(in, gh) })
}

// EachOf reads the Go execution traces of t once, as Read does, for all handlers. They are called
// one after the other with the same values.
func EachOf(t *trace.Trace, hs ...Handler) (*Facts, error) {
	f := &Facts{Goroutines: map[uint64]*Goroutine{}, Switches: t.HasSwitches()}
	if !f.Switches {
		f.SwitchesWhy = whyNot(t)
	}
	c := clocksOf(t)
	f.from, f.to = c.from, c.to
	_, f.stolen = stealOf(t).between(c.from, c.to)
	all, err := newSwitches(t, c.from, c.to)
	if err != nil {
		return nil, fmt.Errorf("reading thread switches: %w", err)
	}
	if len(t.Processes()) > 0 {
		return f.merged(t, all, hs)
	}
	s := all[0]
	f.Switched, f.Threads = s.total, len(s.threads)
	if _, err := f.read(hs, s, func(gh gotrace.Handler) (*gotrace.Info, error) { return gotrace.Read(t, gh) }); err != nil {
		return nil, err
	}
	f.check(s, &c)
	if t.Lookup(gotrace.FactMade) != "" {
		for _, text := range f.Info.Damage {
			t.AddDamage(text)
		}
	}
	for i := range hs {
		if hs[i].Done != nil {
			hs[i].Done(f)
		}
	}
	return f, nil
}

// read joins what from delivers with the switches.
func (f *Facts) read(hs []Handler, s *switches, from func(gotrace.Handler) (*gotrace.Info, error)) (*Facts, error) {
	j := newJoiner(f, s, func(v *Interval) {
		for i := range hs {
			if hs[i].Interval != nil {
				hs[i].Interval(f, v)
			}
		}
	})
	gh := j.handler()
	gh.Transition = func(tr *gotrace.Transition) {
		for i := range hs {
			if hs[i].Transition != nil {
				hs[i].Transition(f, tr)
			}
		}
		j.transition(tr)
	}
	gh.PCs = slices.ContainsFunc(hs, func(h Handler) bool { return h.PCs })
	gh.Info = func(i *gotrace.Info) { f.Info = i }
	gh.Sample = func(s *gotrace.Sample) {
		in := j.stateOf(s.Goid)
		for i := range hs {
			if hs[i].Sample != nil {
				hs[i].Sample(f, s, in)
			}
		}
	}
	info, err := from(gh)
	if err == nil {
		err = j.err
	}
	if err != nil {
		return nil, fmt.Errorf("reading the goroutines' states: %w", err)
	}
	f.Info, j.info = info, info
	j.finish()
	f.From, f.To, f.Stretches = info.From, info.To, info.Stretches
	f.Problems = append(f.Problems, info.Problems...)
	return f, nil
}

// whyNot returns why a trace has no switches.
func whyNot(t *trace.Trace) string {
	why, off := strings.CutPrefix(t.Lookup("thread_switches"), "off: ")
	if off && why != "" {
		return why
	}
	return "thread switches were not recorded"
}

// add adds a goroutine's times when it has ended: only then is its kind known.
func (f *Facts) add(g *live) {
	to := &f.Totals
	if g.System {
		to = &f.Runtime
	}
	for s, d := range g.times {
		to[s] += d
		g.sum += d
	}
}

// ran records that a goroutine had a thread that was on a CPU.
func (f *Facts) ran(th *thread, from, to int64) {
	from, to = max(from, f.from), min(to, f.to)
	if to <= from {
		return
	}
	f.used += to - from
	if th.until > from {
		f.over += min(th.until, to) - from
	}
	th.until = max(th.until, to)
}

// clocks is the CPU time of all threads between two times.
type clocks struct {
	from, to int64 // ns from the trace's start; equal: unknown
	cpu      int64 // ns between them
}

// clockFact parses a fact with monotonic time and CPU time.
func clockFact(t *trace.Trace, key string) (at, cpu int64, ok bool) {
	first, second, _ := strings.Cut(t.Lookup(key), " ")
	mono, err1 := strconv.ParseInt(first, 10, 64)
	cpu, err2 := strconv.ParseInt(second, 10, 64)
	return mono - t.Header().StartMono, cpu, err1 == nil && err2 == nil
}
