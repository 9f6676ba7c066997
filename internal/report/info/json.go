package info

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of info --json. Keys may be added; none changes its
// meaning or goes away. null is unknown.
type document struct {
	Path       string           `json:"path"`
	Bytes      int64            `json:"bytes"`
	State      analysis.State   `json:"state"` // closed, writing, abandoned (no Stop, nobody writes it), unknown
	Start      time.Time        `json:"start"`
	DurationNS int64            `json:"duration_ns"`
	Lost       map[string]int64 `json:"lost"` // total, and by reason
	Gaps       []gap            `json:"gaps"`
	Ring       *report.Ring     `json:"ring,omitempty"` // absent: the trace is none

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
	Left     map[string]int64 `json:"left_open"`   // of open, those whose goroutine has ended
	CPU      map[string]int64 `json:"cpu_quality"` // ended tasks: exact, likely, at_most, unknown
	Cost     cost             `json:"recording_cost"`
	Stacks   stackCount       `json:"stacks"`                    // of scope.Stack
	Calls    []function       `json:"functions"`                 // that were not recorded at each call
	LeftOut  []leftOut        `json:"functions_left_out"`        // when the program was built
	GoTrace  *goTrace         `json:"go_trace,omitempty"`        // absent: there is none; info's gotrace, gotrace_profile and thread_switches say why
	Switches bool             `json:"thread_switches,omitempty"` // there are records of when threads were on a CPU
	Archive  *archive         `json:"archive,omitempty"`         // absent: no file is stored with the trace
	Merged   []process        `json:"processes,omitempty"`       // absent: the trace was not merged
	Beats    int64            `json:"heartbeats"`
	LastBeat map[string]int64 `json:"last_heartbeat"` // what is known, by field

	Notes     []note             `json:"notes"`
	Breaks    []clockStep        `json:"clock_steps"`
	Problems  []problem          `json:"problems"`
	Forgotten []report.Forgotten `json:"never_ended"` // is the second () missing?
}

// function is one that was not recorded at each call.
type function struct {
	Name     string `json:"name"`
	Calls    int64  `json:"calls"`
	Recorded int64  `json:"recorded"`
	Unseen   int64  `json:"unseen"` // of the calls, an estimate: they were not even counted
	Reason   string `json:"reason"`
	OffSince *int64 `json:"off_since_ns"` // null: it was recorded at the end
}

func (r found) functions() []function {
	list := []function{}
	for _, c := range r.Trace.Calls() {
		f := function{r.Trace.Name(c.Name), c.All(), c.Recorded, c.Unseen, analysis.Budget, nil}
		if c.Off {
			f.OffSince = &c.Since
		}
		list = append(list, f)
	}
	return list
}

// leftOut is a reason why functions were left out when the program was built.
type leftOut struct {
	Why   string   `json:"why"`
	Count int64    `json:"count"`
	Names []string `json:"names"` // where they are few
}

func (r found) leftOut() []leftOut {
	list := []leftOut{}
	for _, l := range analysis.FunctionsLeftOut(r.Trace) {
		list = append(list, leftOut{l.Why, l.Count, append([]string{}, l.Names...)})
	}
	return list
}

// goTrace is what can be read of the Go execution trace.
type goTrace struct {
	Bytes       int64    `json:"bytes"`
	Spans       []span   `json:"spans"` // what it tells of
	Transitions int64    `json:"transitions"`
	Samples     int64    `json:"samples"`
	Missing     bool     `json:"missing"` // parts were overwritten, found no room, or were not written yet
	Problems    []string `json:"problems"`
}

type span struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

func (r found) goTraceJSON() *goTrace {
	if r.Go == nil {
		return nil
	}
	j := &goTrace{Spans: []span{}, Transitions: r.Go.Transitions, Samples: r.Go.Samples, Missing: r.Go.Missing, Problems: append([]string{}, r.Go.Problems...)}
	for _, g := range r.Trace.GoTraces() {
		j.Bytes += g.Size
	}
	for _, s := range r.Go.Stretches {
		j.Spans = append(j.Spans, span{s.From, s.To})
	}
	return j
}

// process is one of those that a trace was merged of.
type process struct {
	Number      uint32 `json:"number"`
	Parent      uint32 `json:"parent"` // its number; 0: not among them
	Program     string `json:"program"`
	PID         uint32 `json:"pid"`
	PPID        uint32 `json:"ppid"`
	Host        string `json:"host"`
	Boot        string `json:"boot"`
	Path        string `json:"path"`
	From        int64  `json:"from_ns"`
	To          int64  `json:"to_ns"`
	Offset      int64  `json:"clock_offset_ns"` // that was added to its wall clock
	Drift       int64  `json:"clock_drift_ppb"`
	Error       *int64 `json:"clock_error_ns"`      // null: not known
	Violated    bool   `json:"clock_contradiction"` // pairs contradict one another by that much
	Apart       bool   `json:"boot_contradiction"`
	Lost        int64  `json:"lost"`
	Overwritten int64  `json:"overwritten"`
	Breaks      int64  `json:"clock_steps"`
	Lacks       string `json:"lacks"`
}

func processesOf(t *trace.Trace) (list []process) {
	for _, p := range t.Processes() {
		x := process{
			p.Number, p.Parent, p.Program, p.PID, p.PPID, p.Host, p.Boot, p.Path, p.From, p.To, p.Offset, p.Drift, &p.Error, p.Violated, p.Apart,
			p.Lost, p.Overwritten, p.Breaks, p.Lacks,
		}
		if p.Error < 0 {
			x.Error = nil
		}
		list = append(list, x)
	}
	return list
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

// archive is what scopeview archive has stored.
type archive struct {
	Executable string `json:"executable"` // where it was; "": it is not there
	Sources    int64  `json:"sources"`
	Bytes      int64  `json:"bytes"`        // of all files
	Stored     int64  `json:"stored_bytes"` // of the trace, that they take
	Missing    int64  `json:"incomplete"`   // files that lack a part
}

func archiveOf(t *trace.Trace) *archive {
	s := archive(analysis.Stored(t))
	if s == (archive{}) {
		return nil
	}
	return &s
}

type stackCount struct {
	Calls  int64 `json:"calls"`
	Names  int64 `json:"names"`
	Stacks int64 `json:"stacks"`
}

type gap struct {
	From   int64  `json:"from_ns"`
	To     int64  `json:"to_ns"`
	Count  int64  `json:"count"`
	Reason string `json:"reason"`
}

type cost struct {
	Percent   *float64 `json:"percent_of_cpu"`
	Process   *int64   `json:"process_cpu_ns"`
	Measured  *int64   `json:"measured_ns"`
	Estimated *int64   `json:"estimated_ns"`
	Missing   []string `json:"not_measured"`
}

type note struct {
	Time int64  `json:"time_ns"`
	Text string `json:"text"`
}

type clockStep struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

type problem struct {
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
	Count  int64  `json:"count"`
	Damage bool   `json:"damage"`
}

func (r found) document() *document {
	t, h, kept := r.Trace, r.Trace.Header(), report.KeptOf(r.Trace)
	bit := func(b uint32) bool { return h.Witness&b != 0 }
	j := &document{
		Path: r.Path, Bytes: t.Size(), State: r.State, Start: t.Start(), DurationNS: t.End(),
		Lost: kept.Lost, Gaps: []gap{}, Ring: kept.Ring,
		PID: h.PID, Info: map[string]string{}, Format: fmt.Sprintf("%d.%d", h.Major, h.Minor),
		Writer: h.Path.String(), Backing: h.Backing.String(), HotPart: hotPart(t), Clock: h.Clock.String(),
		Witness: map[string]bool{
			"goroutine": bit(format.WitnessGoid), "yield": bit(format.WitnessYield), "switch": bit(format.WitnessSwitch),
		},
		Records: map[string]int64{}, Open: map[string]int64{}, Left: map[string]int64{},
		CPU: map[string]int64{
			"exact": r.Census.CPU[format.Exact], "likely": r.Census.CPU[format.Likely],
			"at_most": r.Census.CPU[format.AtMost], "unknown": r.Census.CPU[format.Unknown],
		},
		Stacks: stackCount(analysis.Stacks(t)), GoTrace: r.goTraceJSON(), Switches: t.HasSwitches(), Archive: archiveOf(t),
		Merged: processesOf(t), Beats: int64(len(t.Beats())), LastBeat: map[string]int64{},
		Calls: r.functions(), LeftOut: r.leftOut(), Notes: []note{}, Breaks: []clockStep{}, Problems: []problem{}, Forgotten: report.ForgottenOf(t, &r.Census.Endings),
	}
	for _, i := range t.Info {
		j.Info[i.Key] = i.Value
	}
	for _, g := range t.Gaps() {
		j.Gaps = append(j.Gaps, gap{g.From, g.To, g.Count, g.Reason.String()})
	}
	for _, k := range r.Kinds() {
		j.Records[k.Name] = k.Count
		if k.Open > 0 {
			j.Open[k.Name] = k.Open
		}
		if k.Left > 0 {
			j.Left[k.Name] = k.Left
		}
	}
	j.Records["total"] = r.Census.Total()
	j.Cost = r.costJSON()
	if n := len(t.Beats()); n > 0 {
		for _, v := range t.Beats()[n-1].Values {
			j.LastBeat[v.Field.String()] = v.Value
		}
	}
	for _, n := range t.Notes {
		j.Notes = append(j.Notes, note{n.Time, n.Text})
	}
	for _, b := range t.Breaks() {
		j.Breaks = append(j.Breaks, clockStep{b.From, b.To})
	}
	for _, p := range t.Problems() {
		j.Problems = append(j.Problems, problem{p.Offset, p.Text, p.Count, p.Damage()})
	}
	return j
}

func (r found) costJSON() (j cost) {
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
