package info

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of info --json. Keys may be added; none changes its meaning or is
// removed. null is unknown.
type document struct {
	Path       string           `json:"path"`
	Bytes      int64            `json:"bytes" unit:"bytes" says:"the file's size"`
	State      analysis.State   `json:"state" says:"'closed', 'writing', 'abandoned' (no Stop, and no writer), 'unknown'"`
	Start      time.Time        `json:"start" says:"RFC 3339"`
	DurationNS int64            `json:"duration_ns" unit:"ns" says:"to the trace's last known moment"`
	Lost       map[string]int64 `json:"lost" unit:"records" says:"'total', and by reason those that are not 0. 'unknown': for a reason that this version does not know. 'unknown_after_ns', in ns from the start: losses after that are not known, 0 also where the counters in the trace were changed from outside; absent: all losses are known"`
	Gaps       []gap            `json:"gaps"`
	Ring       *report.Ring     `json:"ring,omitempty" says:"absent: the trace is not a ring"`
	Excerpt    *report.Excerpt  `json:"excerpt,omitempty" says:"absent: the trace is not an excerpt of a recording"`

	PID     uint32            `json:"pid" unit:"number" says:"of the process"`
	Info    map[string]string `json:"info" says:"the recorder's notes: 'program', 'args', 'go', 'module', 'version', 'host', 'boot' (Linux's boot id), 'ppid', 'kernel', 'cpu', …"`
	Format  string            `json:"format" says:"its version, such as '1.2'"`
	Writer  string            `json:"path_kind" says:"the writer's path: 'assembly', 'go', 'pure'"`
	Backing string            `json:"backing" says:"'shm', 'disk', 'heap'"`
	HotPart string            `json:"hot_part,omitempty" says:"of shm, in a trace that is not closed: 'joined', or 'missing', where the last second may be too"`
	Clock   string            `json:"clock" says:"'tsc', 'monotonic'"`
	Witness map[string]bool   `json:"witnesses" says:"'goroutine', 'yield', 'switch': whether each was available"`

	Records  map[string]int64 `json:"records" unit:"records" says:"'total', and by kind as in CSV"`
	Open     map[string]int64 `json:"open" unit:"records" says:"not ended, by kind as in CSV, those that are not 0"`
	Left     map[string]int64 `json:"left_open" unit:"records" says:"of 'open', those whose goroutine ended without ending them, if a Go execution trace shows it"`
	CPU      map[string]int64 `json:"cpu_quality" unit:"tasks" says:"that ended, by 'exact', 'likely', 'at_most', 'unknown'"`
	Cost     cost             `json:"recording_cost"`
	Stacks   stackCount       `json:"stacks"`             // of scope.Stack
	Calls    []function       `json:"functions"`          // whose calls were not all recorded
	LeftOut  []leftOut        `json:"functions_left_out"` // when the program was built
	GoTrace  *goTrace         `json:"go_trace,omitempty" says:"the Go execution trace; absent: there is none"`
	Switches bool             `json:"thread_switches,omitempty" says:"the trace has the times when threads were on a CPU"`
	Archive  *archive         `json:"archive,omitempty" says:"files stored by 'scopeview archive'; absent: none"`
	Merged   []process        `json:"processes,omitempty" says:"those that the trace was merged from; absent: it is not a merged trace"`
	Beats    int64            `json:"heartbeats" unit:"count"`
	LastBeat map[string]int64 `json:"last_heartbeat" unit:"as docs/format.md says" says:"the fields that are known"`

	Notes     []note             `json:"notes"`
	Breaks    []clockStep        `json:"clock_steps"`
	Problems  []problem          `json:"problems"`
	Forgotten []report.Forgotten `json:"never_ended"` // is the second () missing?
}

// function is a function whose calls were not all recorded.
type function struct {
	Name     string     `json:"name"`
	Calls    int64      `json:"calls" unit:"calls" says:"of a function whose calls were not all recorded"`
	Recorded int64      `json:"recorded" unit:"calls" says:"of those; including lost records"`
	Unseen   int64      `json:"unseen" unit:"calls" says:"of those, an estimate: made while calls were not counted"`
	Reason   string     `json:"reason" says:"why not all are recorded"`
	OffSince report.Int `json:"off_since_ns" unit:"ns" says:"from then to the end its calls were only counted; null: they were recorded at the end"`
}

func (r found) functions() []function {
	return report.RowsOf(r.Trace.Calls(), func(c trace.CallCount) function {
		return function{r.Trace.Name(c.Name), c.All(), c.Recorded, c.Unseen, analysis.Budget, report.Known(c.Since, c.Off)}
	})
}

// leftOut is a reason why functions were left out when the program was built.
type leftOut struct {
	Why   string   `json:"why"`
	Count int64    `json:"count" unit:"functions" says:"left out when the program was built"`
	Names []string `json:"names" says:"their names; none if they are many"`
}

func (r found) leftOut() []leftOut {
	return report.RowsOf(analysis.FunctionsLeftOut(r.Trace), func(l analysis.LeftOut) leftOut {
		return leftOut{l.Why, l.Count, append([]string{}, l.Names...)}
	})
}

// goTrace summarizes the readable part of the Go execution trace.
type goTrace struct {
	Bytes       int64    `json:"bytes" unit:"bytes"`
	Spans       []span   `json:"spans"` // that it covers
	Transitions int64    `json:"transitions" unit:"count" says:"of goroutines, from state to state"`
	Samples     int64    `json:"samples" unit:"samples" says:"of its CPU profile"`
	Missing     bool     `json:"missing" says:"parts were overwritten, had no room, or were not written yet"`
	Problems    []string `json:"problems" says:"sentences"`
}

type span struct {
	From int64 `json:"from_ns" unit:"ns" says:"begin of the time that it covers"`
	To   int64 `json:"to_ns" unit:"ns"`
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

// process is a process of a merged trace.
type process struct {
	Number      uint32     `json:"number" unit:"number" says:"in the upper bits of its goroutines' ids"`
	Parent      uint32     `json:"parent" unit:"number" says:"of the parent process; 0: not among them"`
	Program     string     `json:"program"`
	PID         uint32     `json:"pid" unit:"number"`
	PPID        uint32     `json:"ppid" unit:"number"`
	Host        string     `json:"host"`
	Boot        string     `json:"boot" says:"Linux's boot id"`
	Path        string     `json:"path" says:"its own trace"`
	From        int64      `json:"from_ns" unit:"ns" says:"begin of its own trace"`
	To          int64      `json:"to_ns" unit:"ns"`
	Offset      int64      `json:"clock_offset_ns" unit:"ns" says:"added to its wall clock"`
	Drift       int64      `json:"clock_drift_ppb" unit:"ns a second" says:"correction that slows its clock down"`
	Error       report.Int `json:"clock_error_ns" unit:"ns" says:"largest error of its times against the first given trace; null: not known"`
	Violated    bool       `json:"clock_contradiction" says:"requests and responses contradict one another by 'clock_error_ns': a clock has jumped or is another one, or callers did not wait"`
	Apart       bool       `json:"boot_contradiction" says:"the boot id is that of an earlier process, but wall clocks or requests show another monotonic clock: a time namespace, or a copy of a machine"`
	Lost        int64      `json:"lost" unit:"records"`
	Overwritten int64      `json:"overwritten" unit:"records" says:"by its ring"`
	Breaks      int64      `json:"clock_steps" unit:"count"`
	Lacks       string     `json:"lacks" says:"gaps of its own trace; empty: none"`
}

func processesOf(t *trace.Trace) []process {
	if len(t.Processes()) == 0 {
		return nil // the key is absent
	}
	return report.RowsOf(t.Processes(), func(p trace.Process) process {
		return process{
			p.Number, p.Parent, p.Program, p.PID, p.PPID, p.Host, p.Boot, p.Path, p.From, p.To, p.Offset, p.Drift, report.Known(p.Error, p.Error >= 0), p.Violated, p.Apart,
			p.Lost, p.Overwritten, p.Breaks, p.Lacks,
		}
	})
}

func hotPart(t *trace.Trace) string {
	switch {
	case t.LacksHotPart():
		return "missing"
	case t.State().Joined:
		return "joined"
	}
	return ""
}

// archive describes the files that scopeview archive has stored.
type archive struct {
	Executable string `json:"executable" says:"its path; empty: not stored"`
	Sources    int64  `json:"sources" unit:"count"`
	Bytes      int64  `json:"bytes" unit:"bytes" says:"of all files"`
	Stored     int64  `json:"stored_bytes" unit:"bytes" says:"that they take in the trace"`
	Missing    int64  `json:"incomplete" unit:"files" says:"that lack a part"`
}

func archiveOf(t *trace.Trace) *archive {
	s := archive(analysis.Stored(t))
	if s == (archive{}) {
		return nil
	}
	return &s
}

type stackCount struct {
	Calls  int64 `json:"calls" unit:"calls" says:"of 'scope.Stack'"`
	Names  int64 `json:"names" unit:"count"`
	Stacks int64 `json:"stacks" unit:"count" says:"pairs of a name and a stack"`
}

type gap struct {
	From   int64  `json:"from_ns" unit:"ns"`
	To     int64  `json:"to_ns" unit:"ns"`
	Count  int64  `json:"count" unit:"records" says:"lost meanwhile"`
	Reason string `json:"reason"`
}

type cost struct {
	OfCPU     report.Float `json:"share_of_cpu" unit:"0 to 1" says:"lower bound: estimated plus measured, of 'process_cpu_ns'"`
	Process   report.Int   `json:"process_cpu_ns" unit:"ns" says:"CPU time of the process while it recorded"`
	Measured  report.Int   `json:"measured_ns" unit:"ns" says:"CPU time of the recorder's goroutines, and of reading the CPU clocks of threads"`
	Estimated report.Int   `json:"estimated_ns" unit:"ns" says:"lower bound of the cost of scopes, from the cost of one"`
	Missing   []string     `json:"not_measured" says:"other costs that recording may have had"`
}

type note struct {
	Time int64  `json:"time_ns" unit:"ns"`
	Text string `json:"text" says:"what happened to the recording"`
}

type clockStep struct {
	From int64 `json:"from_ns" unit:"ns" says:"durations across it are unknown"`
	To   int64 `json:"to_ns" unit:"ns"`
}

type problem struct {
	Offset int64  `json:"offset" unit:"bytes" says:"of the first, in the file"`
	Text   string `json:"text"`
	Count  int64  `json:"count" unit:"count" says:"of its kind"`
	Damage bool   `json:"damage" says:"false: an intact writer leaves that too"`
}

func (r found) document() *document {
	t, h, kept := r.Trace, r.Trace.Header(), report.KeptOf(r.Trace)
	bit := func(b uint32) bool { return h.Witness&b != 0 }
	j := &document{
		Path: r.Path, Bytes: t.Size(), State: r.State, Start: t.Start(), DurationNS: t.End(),
		Lost: kept.Lost, Gaps: report.RowsOf(t.Gaps(), func(g trace.Gap) gap { return gap{g.From, g.To, g.Count, g.Reason.String()} }), Ring: kept.Ring, Excerpt: kept.Excerpt,
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
		Calls: r.functions(), LeftOut: r.leftOut(), Forgotten: report.ForgottenOf(t, &r.Census.Endings), Cost: r.costJSON(),
		Notes:    report.RowsOf(t.Notes, func(n trace.Note) note { return note{n.Time, n.Text} }),
		Breaks:   report.RowsOf(t.Breaks(), func(b trace.Break) clockStep { return clockStep{b.From, b.To} }),
		Problems: report.RowsOf(t.Problems(), func(p trace.Problem) problem { return problem{p.Offset, p.Text, p.Count, p.Damage()} }),
	}
	for _, i := range t.Info {
		j.Info[i.Key] = i.Value
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
	if n := len(t.Beats()); n > 0 {
		for _, v := range t.Beats()[n-1].Values {
			j.LastBeat[v.Field.String()] = v.Value
		}
	}
	return j
}

func (r found) costJSON() cost {
	known := func(ns int64) report.Int { return report.Known(ns, ns >= 0) }
	_, knowsMeasured := r.Cost.Share(r.Cost.Measured)
	_, knowsEstimated := r.Cost.Share(r.Cost.Estimated)
	return cost{
		OfCPU:   report.Known(float64(r.Cost.Measured+r.Cost.Estimated)/float64(r.Cost.Process), knowsMeasured && knowsEstimated),
		Process: known(r.Cost.Process), Measured: known(r.Cost.Measured), Estimated: known(r.Cost.Estimated), Missing: analysis.NotMeasured(r.Trace),
	}
}
