package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Examine looks for problems. It keeps each goroutine's states in memory, some 50 bytes for
// each change of state, and the scopes, 32 bytes each up to a bound.
func Examine(t *trace.Trace, o Options) (*Report, error) {
	ctx := o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	m := newModel(max(o.From, 0), t.End(), t.Name)
	m.merged = t.Merged()
	if o.To > 0 {
		m.to = min(m.to, o.To)
	}
	m.bandwidth, m.drawn = o.Bandwidth, o.Drawn
	m.given, m.module = t.FirstPlaces(), t.Lookup("module")
	x := &loader{t: t, o: &o, m: m, ctx: ctx, locks: map[lockKey]*lock{}, placed: map[uint64][]turn{}, waited: map[lockKey]bool{}}
	if m.to > m.from {
		if err := x.load(); err != nil {
			return nil, err
		}
	}
	r := m.report()
	r.End = analysis.EndOf(t, o.State)
	if o.Spares != "" {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Verdict == gc || f.Verdict == pageFaults {
				f.Evidence, f.sentences.evidence = append(f.Evidence, o.Spares), append(f.sentences.evidence, marked(o.Spares))
			}
		}
	}
	r.Notes = append(r.Notes, x.notes...)
	if line := analysis.UnknownLosses(t); line != "" {
		r.Notes = append(r.Notes, line)
	}
	if line := analysis.LossText(analysis.Losses(t)); line != "" {
		r.Notes = append(r.Notes, line+": their contents are missing here")
		for i := range r.Findings {
			r.Findings[i].Confidence = rounded(0.8 * r.Findings[i].Confidence)
		}
	}
	if line := analysis.KeptLine(t); line != "" {
		r.Notes = append(r.Notes, line)
	}
	if line := analysis.OverwrittenLine(t); line != "" {
		r.Notes = append(r.Notes, line)
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !chosen(m, &o, &f) })
	r.markedNotes = r.Notes
	r.Notes = make([]string, len(r.markedNotes))
	for i, n := range r.markedNotes {
		r.Notes[i] = plain(n)
	}
	return r, ctx.Err()
}

// chosen reports whether the options select the names and rows of a finding.
func chosen(m *model, o *Options, f *Finding) bool {
	name := o.Names.All() || o.Names.Match(f.Object) || slices.ContainsFunc(f.Scopes, o.Names.Match)
	track := o.Tracks.All() || slices.ContainsFunc(f.Goids, func(id uint64) bool {
		g := m.byID[id]
		return g != nil && o.Tracks.Match(g.track)
	})
	return name && track
}

func newModel(from, to int64, name func(uint16) string) *model {
	return &model{
		from: from, to: to, byID: map[uint64]*gor{}, ids: map[string]uint16{}, placed: map[uint32]string{}, name: name,
		beats: unknownBeats, wakers: map[wakeup]int64{},
	}
}

// report makes the report of a complete model.
func (m *model) report() *Report {
	r := &Report{
		Findings: []Finding{}, FromNS: m.from, ToNS: m.to, Cores: m.cores,
		Speedup: []Slice{}, Parallelism: []float64{}, CriticalPath: []Path{}, Slow: []Slow{}, Unexamined: []Unexamined{}, Notes: []string{},
	}
	if m.to <= m.from {
		r.Notes = append(r.Notes, "the selected range is empty")
		return r
	}
	m.locksUsed, m.base, m.taken = nil, nil, -1
	m.starved = m.findStarved()
	r.Starved = m.starved.withText(m)
	m.look()
	if m.hasGo {
		m.base = m.plan()
		r.CriticalPath = m.paths()
		r.Slow = m.slow()
		m.speedup(r)
		if m.sweep.known > 0 && float64(m.sweep.known) < 0.9*float64(m.span()) {
			r.Notes = append(r.Notes, fmt.Sprintf("the states of all goroutines are known for %s of the time; the shares refer to that part", show.Percent(float64(m.sweep.known)/float64(m.span()))))
		}
	}
	r.Findings = m.examine()
	r.Unexamined = m.unexamined()
	if len(r.Findings) == 0 && r.Starved == nil {
		if why := m.severalRunsNote(); why != "" {
			r.Notes = append(r.Notes, why)
		}
	}
	return r
}

// If no rule found anything, the report suggests several runs from these values on.
const (
	poorUse    = 0.5 // part of the cores that the program's goroutines use only at most: VTune calls it poor
	muchSystem = 0.2 // part of the CPU time that is the system's at least; ours
)

// severalRunsNote returns a note that recommends several runs, where no rule found anything although
// cores are idle or the system takes much of the CPU time: one run can't show the time with
// fewer processors for goroutines that wake each other across CPUs.
func (m *model) severalRunsNote() string {
	if m.cores.Count < 2 || !m.hasGo || m.sweep.known <= 0 {
		return ""
	}
	why := ""
	if use := m.sweep.lost[partRun] / float64(m.sweep.known) / m.cores.Count; use < poorUse {
		why = "the program's goroutines use only " + show.Percent(use) + " of the cores"
	}
	if b := &m.beats; b.cpuKnown() && float64(b.system) >= muchSystem*float64(b.user+b.system) && b.user+b.system > 0 {
		if why != "" {
			why += ", and "
		}
		why += "the system takes " + show.Percent(float64(b.system)/float64(b.user+b.system)) + " of the program's CPU time"
	}
	if why == "" {
		return ""
	}
	return why + ": it may be as fast, or faster, with fewer processors; one run can't show it, scopeview scale runs it with several numbers of them"
}

// speedup computes the speed-up stack and the histogram of parallelism.
func (m *model) speedup(r *Report) {
	s := m.sweep
	if s.known <= 0 {
		return
	}
	for _, d := range s.hist {
		r.Parallelism = append(r.Parallelism, s.share(d))
	}
	if m.cores.Count <= 0 {
		return
	}
	lost := s.lost
	if v := m.starved; v != nil && !m.switches { // the time that goroutines ran includes time without a CPU
		x := min((v.Others+v.Quota)*float64(s.known), lost[partRun])
		lost[partRun], lost[partSystem] = lost[partRun]-x, lost[partSystem]+x
	}
	for p, x := range lost {
		r.Speedup = append(r.Speedup, Slice{partNames[p], x / float64(s.known)})
	}
}
