package states

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// member reads what the goroutines of one process in a merged trace did. Times and goroutine ids
// are those of the merged trace; processors and threads are the process's own.
type member struct {
	*trace.Sched
	facts    *Facts // of all processes
	switches *switches
	pcs      bool
	info     *gotrace.Info
	large    int64 // transitions of goroutines whose ids are too large
	err      error

	next *Interval
	pull func() (*Interval, bool)
	stop func()
}

// merged reads the processes of a merged trace in parallel, and passes their intervals on in the
// order of their ends.
func (f *Facts) merged(t *trace.Trace, switched map[uint32]*switches, hs []Handler) (*Facts, error) {
	var waiting []*member
	scheds := t.Scheds()
	for i := range scheds {
		m := &member{Sched: &scheds[i], facts: f, switches: switched[scheds[i].Number]}
		m.pcs = slices.ContainsFunc(hs, func(h Handler) bool { return h.PCs })
		if m.switches == nil {
			m.switches = &switches{}
		}
		waiting = append(waiting, m)
	}
	if waiting == nil {
		return nil, gotrace.ErrNone
	}
	f.Info = gotrace.NewInfo()
	all := slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b *member) int { return cmp.Compare(a.From, b.From) })
	var reading []*member
	for len(waiting)+len(reading) > 0 {
		if n := len(reading); len(waiting) > 0 && (n == 0 || waiting[0].From <= reading[0].next.To) {
			waiting[0].begin()
			reading, waiting = waiting[0].advance(reading), waiting[1:]
			continue
		}
		m := reading[0]
		for i := range hs {
			if hs[i].Interval != nil {
				hs[i].Interval(f, m.next)
			}
		}
		reading = m.advance(reading[1:])
	}
	if err := f.takeMembers(t, all); err != nil {
		return nil, err
	}
	for i := range hs {
		if hs[i].Done != nil {
			hs[i].Done(f)
		}
	}
	return f, nil
}

func (m *member) begin() { m.pull, m.stop = iter.Pull(m.intervals) }

// advance inserts m into the list of members, which is ordered by the ends of their next intervals,
// unless it has no more.
func (m *member) advance(list []*member) []*member {
	var more bool
	if m.next, more = m.pull(); !more {
		m.stop()
		return list
	}
	i, _ := slices.BinarySearchFunc(list, m, func(a, b *member) int { return cmp.Compare(a.next.To, b.next.To) })
	return slices.Insert(list, i, m)
}

// intervals reads the process's Go execution traces. All processes share one table of stacks.
func (m *member) intervals(yield func(*Interval) bool) {
	j := newJoiner(m.facts, m.switches, func(v *Interval) { yield(v) })
	own := j.handler()
	h := gotrace.Handler{
		After: m.facts.Info, PCs: m.pcs,
		Transition: func(tr *gotrace.Transition) {
			x := *tr
			if x.Goid = m.Goid(tr.Goid); x.Goid == 0 {
				m.large++
				return
			}
			x.Time, x.By = m.At(tr.Time), m.Goid(tr.By)
			own.Transition(&x)
		},
		Begun: func(r *gotrace.Range) { x := m.rangeOf(r); own.Begun(&x) },
		Range: func(r *gotrace.Range) { x := m.rangeOf(r); own.Range(&x) },
	}
	var err error
	if m.info, err = gotrace.ReadSched(m.Sched, h); err == nil {
		err = j.err
	}
	if err != nil {
		m.err = fmt.Errorf("reading the goroutines' states of %s: %w", m.Label, err)
		return
	}
	i := m.info
	i.From, i.To = m.At(i.From), m.At(i.To)
	for k := range i.Stretches {
		i.Stretches[k] = gotrace.Stretch{From: m.At(i.Stretches[k].From), To: m.At(i.Stretches[k].To)}
	}
	j.info = i
	j.finish()
}

func (m *member) rangeOf(r *gotrace.Range) gotrace.Range {
	return gotrace.Range{From: m.At(r.From), To: m.At(r.To), Name: r.Name, Goid: m.Goid(r.Goid)}
}

// takeMembers sums up what was read of the processes.
func (f *Facts) takeMembers(t *trace.Trace, all []*member) error {
	sum := f.Info
	var why []string // processes without switches
	for _, m := range all {
		if m.err != nil {
			return m.err
		}
		i := m.info
		sum.Transitions, sum.Samples, sum.Ranges, sum.Rough = sum.Transitions+i.Transitions, sum.Samples+i.Samples, sum.Ranges+i.Ranges, sum.Rough+i.Rough
		sum.Missing = sum.Missing || i.Missing
		for _, p := range i.Problems {
			sum.Problems = append(sum.Problems, m.Label+": "+p)
		}
		if m.large > 0 {
			sum.Problems = append(sum.Problems, fmt.Sprintf("%s: %d changes of state are of goroutines whose ids are too large", m.Label, m.large))
		}
		if m.switches.threads == nil {
			why = append(why, m.Label+": running time is not split into on a CPU and off it: "+m.Own.Why)
		}
		f.Switched += m.switches.total
		f.Threads += len(m.switches.threads)
	}
	if f.Switches {
		sum.Problems = append(sum.Problems, why...)
	} else {
		f.SwitchesWhy = all[0].Own.Why
	}
	sum.Problems = append(sum.Problems, uncovered(t, all)...)
	sum.From, sum.To, sum.Stretches = covered(t, all)
	f.From, f.To, f.Stretches, f.Problems = sum.From, sum.To, sum.Stretches, sum.Problems
	f.checkSum()
	f.checkUnknown()
	f.Checks.CPU = check{Tolerance: cpuTolerance, Text: "the time of threads on CPUs is compared with their clocks only in the processes' own traces"}
	return nil
}

// uncovered lists the processes for which it is unknown what their goroutines did.
func uncovered(t *trace.Trace, all []*member) []string {
	var names []string
	n := 0
	for _, p := range t.Processes() {
		if slices.ContainsFunc(all, func(m *member) bool { return m.Number == p.Number }) {
			continue
		}
		if n++; n <= 3 {
			names = append(names, p.Label)
		}
	}
	if n == 0 {
		return nil
	}
	if n > len(names) {
		names = append(names, fmt.Sprintf("%d more", n-len(names)))
	}
	return []string{"goroutines' states are not known for " + strings.Join(names, ", ") + ": its own trace has no Go execution trace"}
}

// covered returns the time covered by the processes of a merged trace, and the stretches in which all
// processes that existed then are covered.
func covered(t *trace.Trace, all []*member) (from, to int64, list []gotrace.Stretch) {
	of := map[uint32][]gotrace.Stretch{}
	from = math.MaxInt64
	for _, m := range all {
		of[m.Number] = m.info.Stretches
		from, to = min(from, m.info.From), max(to, m.info.To)
	}
	list = []gotrace.Stretch{{From: from, To: to}}
	for _, p := range t.Processes() {
		at := p.From
		for _, s := range of[p.Number] {
			list = without(list, at, s.From)
			at = s.To
		}
		list = without(list, at, p.To)
	}
	return from, to, list
}

// without removes the time between from and to from stretches.
func without(list []gotrace.Stretch, from, to int64) (left []gotrace.Stretch) {
	for _, s := range list {
		if to <= from || to <= s.From || from >= s.To {
			left = append(left, s)
			continue
		}
		if from > s.From {
			left = append(left, gotrace.Stretch{From: s.From, To: from})
		}
		if to < s.To {
			left = append(left, gotrace.Stretch{From: to, To: s.To})
		}
	}
	return left
}
