package main

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// infoJSON is the document of info --json. Keys may be added; none changes its
// meaning or goes away. null is unknown.
type infoJSON struct {
	Path       string           `json:"path"`
	Bytes      int64            `json:"bytes"`
	State      analysis.State   `json:"state"` // closed, writing, abandoned (no Stop, nobody writes it), unknown
	Start      time.Time        `json:"start"`
	DurationNS int64            `json:"duration_ns"`
	Lost       map[string]int64 `json:"lost"` // total, and by reason
	Gaps       []gapJSON        `json:"gaps"`
	Ring       *ringJSON        `json:"ring,omitempty"` // absent: the trace is none

	PID     uint32            `json:"pid"`
	Info    map[string]string `json:"info"` // program, args, go, module, version, host, …
	Format  string            `json:"format"`
	Writer  string            `json:"path_kind"`          // assembly, go, pure
	Backing string            `json:"backing"`            // disk, heap, shm
	HotPart string            `json:"hot_part,omitempty"` // of shm, if it is not closed: joined, or missing
	Clock   string            `json:"clock"`              // tsc, monotonic
	Witness map[string]bool   `json:"witnesses"`          // goroutine, yield, switch

	Records  map[string]int64 `json:"records"` // total, and by kind as in CSV
	Open     map[string]int64 `json:"open"`
	CPU      map[string]int64 `json:"cpu_quality"` // ended tasks: exact, likely, at_most, unknown
	Cost     costJSON         `json:"recording_cost"`
	Stacks   stackCountJSON   `json:"stacks"`                    // of scope.Stack
	GoTrace  *goTraceJSON     `json:"go_trace,omitempty"`        // absent: there is none; info's gotrace, gotrace_profile and thread_switches say why
	Switches bool             `json:"thread_switches,omitempty"` // there are records of when threads were on a CPU
	Beats    int64            `json:"heartbeats"`
	LastBeat map[string]int64 `json:"last_heartbeat"` // what is known, by field

	Notes     []noteJSON      `json:"notes"`
	Breaks    []breakJSON     `json:"clock_steps"`
	Problems  []problemJSON   `json:"problems"`
	Forgotten []forgottenJSON `json:"never_ended"` // is the second () missing?
}

// ringJSON is what a ring holds. What began before whole_from_ns is there in part.
type ringJSON struct {
	Bytes       int64 `json:"bytes"`
	Overwritten int64 `json:"overwritten"` // records
	WholeFrom   int64 `json:"whole_from_ns"`
}

// goTraceJSON is what can be read of the Go execution trace.
type goTraceJSON struct {
	Bytes       int64      `json:"bytes"`
	Spans       []spanJSON `json:"spans"` // what it tells of
	Transitions int64      `json:"transitions"`
	Samples     int64      `json:"samples"`
	Missing     bool       `json:"missing"` // parts were overwritten, found no room, or were not written yet
	Problems    []string   `json:"problems"`
}

type spanJSON struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

func goTraceDocument(r *analysis.Report) *goTraceJSON {
	if r.Go == nil {
		return nil
	}
	j := &goTraceJSON{Spans: []spanJSON{}, Transitions: r.Go.Transitions, Samples: r.Go.Samples, Missing: r.Go.Missing, Problems: append([]string{}, r.Go.Problems...)}
	for _, g := range r.Trace.GoTraces() {
		j.Bytes += g.Size
	}
	for _, s := range r.Go.Spans {
		j.Spans = append(j.Spans, spanJSON{s.From, s.To})
	}
	return j
}

func ringDocument(t *trace.Trace) *ringJSON {
	if t.Ring() == 0 {
		return nil
	}
	o := t.Overwritten()
	return &ringJSON{t.Ring(), o.Records, o.Until}
}

func hotPart(t *trace.Trace) string {
	switch {
	case t.Cool():
		return "missing"
	case t.State().Joined:
		return "joined"
	}
	return ""
}

type stackCountJSON struct {
	Calls  int64 `json:"calls"`
	Names  int64 `json:"names"`
	Stacks int64 `json:"stacks"`
}

type gapJSON struct {
	From   int64  `json:"from_ns"`
	To     int64  `json:"to_ns"`
	Count  int64  `json:"count"`
	Reason string `json:"reason"`
}

type costJSON struct {
	Percent   *float64 `json:"percent_of_cpu"`
	Process   *int64   `json:"process_cpu_ns"`
	Measured  *int64   `json:"measured_ns"`
	Estimated *int64   `json:"estimated_ns"`
	Missing   []string `json:"not_measured"`
}

type noteJSON struct {
	Time int64  `json:"time_ns"`
	Text string `json:"text"`
}

type breakJSON struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

type problemJSON struct {
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
	Count  int64  `json:"count"`
	Damage bool   `json:"damage"`
}

type forgottenJSON struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // task, taskf, process, pending, hold
	Begun int64  `json:"begun"`
}

func infoDocument(r *analysis.Report) *infoJSON {
	t, h := r.Trace, r.Trace.Header()
	bit := func(b uint32) bool { return h.Witness&b != 0 }
	j := &infoJSON{
		Path: r.Path, Bytes: t.Size(), State: r.State, Start: t.Start(), DurationNS: t.End(),
		Lost: lostJSON(t), Gaps: []gapJSON{}, Ring: ringDocument(t),
		PID: h.PID, Info: map[string]string{}, Format: fmt.Sprintf("%d.%d", h.Major, h.Minor),
		Writer: h.Path.String(), Backing: h.Backing.String(), HotPart: hotPart(t), Clock: h.Clock.String(),
		Witness: map[string]bool{
			"goroutine": bit(format.WitnessGoid), "yield": bit(format.WitnessYield), "switch": bit(format.WitnessSwitch),
		},
		Records: map[string]int64{}, Open: map[string]int64{},
		CPU: map[string]int64{
			"exact": r.Census.CPU[format.Exact], "likely": r.Census.CPU[format.Likely],
			"at_most": r.Census.CPU[format.AtMost], "unknown": r.Census.CPU[format.Unknown],
		},
		Stacks: stackCountJSON(analysis.Stacks(t)), GoTrace: goTraceDocument(r), Switches: t.HasSwitches(),
		Beats: int64(len(t.Beats())), LastBeat: map[string]int64{},
		Notes: []noteJSON{}, Breaks: []breakJSON{}, Problems: []problemJSON{}, Forgotten: []forgottenJSON{},
	}
	for _, i := range t.Info() {
		j.Info[i.Key] = i.Value
	}
	for _, g := range t.Gaps() {
		j.Gaps = append(j.Gaps, gapJSON{g.From, g.To, g.Count, g.Reason.String()})
	}
	for _, k := range r.Kinds() {
		j.Records[k.Name] = k.Count
		if k.Open > 0 {
			j.Open[k.Name] = k.Open
		}
	}
	j.Records["total"] = r.Census.Total()
	j.Cost = costDocument(r)
	if n := len(t.Beats()); n > 0 {
		for _, v := range t.Beats()[n-1].Values {
			j.LastBeat[v.Field.String()] = v.Value
		}
	}
	for _, n := range t.Notes() {
		j.Notes = append(j.Notes, noteJSON{n.Time, n.Text})
	}
	for _, b := range t.Breaks() {
		j.Breaks = append(j.Breaks, breakJSON{b.From, b.To})
	}
	for _, p := range t.Problems() {
		j.Problems = append(j.Problems, problemJSON{p.Offset, p.Text, p.Count, p.Damage()})
	}
	for _, f := range r.Census.Forgotten() {
		j.Forgotten = append(j.Forgotten, forgottenJSON{t.Name(f.Name), f.Kind.String(), f.Begun})
	}
	return j
}

// lostJSON counts what was lost by reason, and says from when on that is not known, if
// it is not.
func lostJSON(t *trace.Trace) map[string]int64 {
	list, total := analysis.Losses(t)
	m := map[string]int64{"total": total}
	if until, all := t.LossesUntil(); !all {
		m["unknown_after_ns"] = until
	}
	for _, l := range list {
		if l.Reason == 0 {
			m["unknown"] = l.Count
			continue
		}
		m[l.Reason.String()] = l.Count
	}
	return m
}

func costDocument(r *analysis.Report) (j costJSON) {
	known := func(ns int64) *int64 {
		if ns < 0 {
			return nil
		}
		return &ns
	}
	j.Missing = analysis.NotMeasured(r.Trace)
	j.Process, j.Measured, j.Estimated = known(r.Cost.Process), known(r.Cost.Measured), known(r.Cost.Estimated)
	if m, ok := r.Cost.Share(r.Cost.Measured); ok {
		if e, ok := r.Cost.Share(r.Cost.Estimated); ok {
			sum := m + e
			j.Percent = &sum
		}
	}
	return j
}
