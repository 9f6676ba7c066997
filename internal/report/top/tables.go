package top

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// document is the document of top --json.
type document struct {
	report.Kept
	By         string               `json:"by" says:"'name', 'track'"`
	Scopes     report.List[scope]   `json:"scopes"`
	Locks      report.List[lock]    `json:"locks"`
	Events     report.List[event]   `json:"events"`
	Counters   report.List[counter] `json:"counters"`
	NeverEnded []report.Forgotten   `json:"never_ended"`
}

// scope is a row for the scopes of a name or a track. All times except those of open scopes are of
// scopes that ended.
type scope struct {
	Name       string       `json:"name" says:"by track, the row's"`
	Process    bool         `json:"process" says:"'scope.Process': CPU is the process's"`
	Count      int64        `json:"count" unit:"scopes" compare:"grows" says:"that ended; all times but 'open_ns' and 'open_self_ns' are theirs"`
	Calls      report.Int   `json:"calls" unit:"calls" says:"recorded or not; null: not known for a part of the trace, or by row"`
	Unseen     report.Int   `json:"unseen" unit:"calls" says:"of 'calls', an estimate: made while calls were not counted"`
	Total      int64        `json:"total_ns" unit:"ns" of:"count" compare:"grows worse part" says:"the sum of the durations"`
	Self       report.Int   `json:"self_ns" unit:"ns" of:"count" compare:"grows worse part" says:"the part of 'total_ns' in no scope inside, and not waiting for a lock"`
	Mean       report.Int   `json:"mean_ns" unit:"ns" says:"the mean duration"`
	Min        report.Int   `json:"min_ns" unit:"ns" says:"the shortest"`
	P50        report.Int   `json:"p50_ns" unit:"ns" compare:"worse" says:"half were not longer; quantiles are exact up to 64 scopes, else within 0.8 %"`
	P90        report.Int   `json:"p90_ns" unit:"ns" compare:"worse" says:"90 of 100 were not longer"`
	P99        report.Int   `json:"p99_ns" unit:"ns" compare:"worse" says:"99 of 100 were not longer"`
	P999       report.Int   `json:"p999_ns" head:"p99.9" unit:"ns" compare:"worse" says:"999 of 1,000 were not longer"`
	Max        report.Int   `json:"max_ns" unit:"ns" compare:"worse" says:"the longest"`
	CPU        report.Int   `json:"cpu_ns" unit:"ns" says:"CPU time that is known"`
	CPUWall    int64        `json:"cpu_wall_ns" unit:"ns" says:"durations of the scopes whose CPU time is known"`
	CPUShare   report.Float `json:"cpu_coverage" head:"known" unit:"0 to 1" says:"'cpu_wall_ns' of 'total_ns'"`
	CPUPerWall report.Float `json:"cpu_per_wall" head:"cpu/wall" unit:"ratio" says:"'cpu_ns' over 'cpu_wall_ns'"`
	AtMost     int64        `json:"cpu_max_ns" head:"cpu max" unit:"ns" says:"upper bounds of other scopes"`
	AtMostWall int64        `json:"cpu_max_wall_ns" unit:"ns" says:"durations of those"`
	Open       int64        `json:"open" unit:"scopes" says:"that have not ended"`
	Left       int64        `json:"left_open" unit:"scopes" says:"of 'open', those whose goroutine ended without ending them, if a Go execution trace shows it"`
	OpenTime   int64        `json:"open_ns" head:"open time" unit:"ns" says:"to the trace's last known moment, or to the end of their goroutine"`
	OpenSelf   report.Int   `json:"open_self_ns" head:"open self" unit:"ns" says:"the part of 'open_ns' in no scope inside"`
	Across     int64        `json:"across_clock_steps" unit:"scopes" says:"with unknown duration; not in the other numbers"`

	Source string `json:"-" head:"source"`

	// Per execution, with fractions of a nanosecond.
	MeanEach report.Float `json:"-" head:"mean each" unit:"ns" compare:"worse"`
	CPUEach  report.Float `json:"-" head:"cpu each" unit:"ns" compare:"worse"`

	byTrack, skipped bool // the row is of a track; some calls were not recorded
}

var scopes = report.Table{
	Row:     scope{},
	What:    "name",
	Text:    "name, count, calls, total, self, mean, min, p50, p90, p99, max, cpu, known, cpu/wall, cpu max, open",
	Brief:   "name, source, count, total, self, mean, p50, p99, max, cpu/wall",
	Sort:    "count, cpu, max, mean, name, p99, p99.9, self, total",
	Compare: "total, count, self, mean=mean each, p50, p90, p99, max, cpu=cpu each, cpu/wall",
	Cells: report.CellsOf(map[string]func(scope) string{
		"name": scope.title, "calls": scope.callsCell, "cpu max": scope.atMostCell, "open": scope.openCell,
	}),
	BriefCells: report.CellsOf(map[string]func(scope) string{
		"name":   func(s scope) string { return report.Cell(s.code()) },
		"source": func(s scope) string { return report.Cell(s.Source) },
		"count":  scope.countCell,
	}),
}

func (r *found) scope(s *analysis.Stats) scope {
	ended := s.Count > 0
	quantile := func(q float64) report.Int { return report.Known(s.Times.Quantile(q), ended) }
	row := scope{
		Name: r.t.Name(s.Name), Process: s.Process, Count: s.Count,
		Total: s.Total, Self: partly(s.Self, s), Mean: report.Known(s.Mean(), ended),
		Min: report.Known(s.Times.Min(), ended), P50: quantile(0.5), P90: quantile(0.9), P99: quantile(0.99), P999: quantile(0.999), Max: report.Known(s.Times.Max(), ended),
		CPUWall: s.CPUWall, CPUShare: report.Known(s.Coverage()), CPUPerWall: report.Known(s.PerWall()),
		AtMost: s.AtMost, AtMostWall: s.AtMostWall,
		Open: s.Open, Left: s.Left, OpenTime: s.OpenTime, OpenSelf: partly(s.OpenSelf, s), Across: s.Across,
		MeanEach: report.Known(float64(s.Total)/float64(s.Count), ended), CPUEach: report.Known(float64(s.CPU)/float64(s.CPUCount), s.CPUCount > 0),
		byTrack: r.byTrack, skipped: !s.Process && r.skipped[s.Name].Skipped() > 0,
	}
	row.CPU = report.Known(s.CPU, row.CPUPerWall.Kind == report.Exact)
	n, unseen, ok := r.calls(s)
	row.Calls, row.Unseen = report.Known(n, ok), report.Known(unseen, ok)
	return row
}

// partly returns a time of scopes: exact if the goroutines of all scopes are known, a lower bound
// if those of some are, else unknown.
func partly(ns int64, s *analysis.Stats) report.Int {
	switch {
	case s.NoSelf == 0:
		return report.Int{N: ns, Kind: report.Exact}
	case s.NoSelf < s.Count+s.Open+s.Across:
		return report.Int{N: ns, Kind: report.AtLeast}
	}
	return report.Int{N: ns}
}

// calls returns the number of calls of a function, recorded or not, and how many of them are an
// estimate; ok is false if it is not known.
func (r *found) calls(s *analysis.Stats) (n, unseen int64, ok bool) {
	n = s.Count + s.Open + s.Across
	if c := r.skipped[s.Name]; !s.Process {
		n, unseen = n+c.Skipped(), c.Unseen
	}
	return n, unseen, r.skipped != nil
}

// title returns the row's name for people.
func (s scope) title() string {
	switch {
	case s.byTrack && s.Name == "":
		return "(rows without a name)"
	case s.Process:
		return report.Name(s.Name) + " (process)"
	}
	return report.Name(s.Name)
}

// code returns the row's name in Markdown.
func (s scope) code() string {
	switch {
	case s.byTrack && s.Name == "":
		return "rows without a name"
	case s.Process:
		return report.CodeName(s.Name) + " (process)"
	}
	return report.CodeName(s.Name)
}

func (s scope) callsCell() string {
	if !s.skipped {
		return ""
	}
	return analysis.CallCount(s.Calls.N, s.Unseen.N)
}

func (s scope) atMostCell() string {
	if s.Count == 0 || s.AtMostWall == 0 {
		return ""
	}
	return report.AtMost.String() + show.Duration(s.AtMost)
}

func (s scope) openCell() string {
	text := report.Still(s.Open, s.OpenTime)
	switch {
	case s.Open == 0:
		return ""
	case s.Left == s.Open:
		text += ", never ended"
	case s.Left > 0:
		text += ", " + show.Count(s.Left) + " never ended"
	}
	if self := s.OpenSelf.N; self > 0 && self < s.OpenTime {
		text += ", self " + show.Duration(self)
	}
	return text
}

func (s scope) countCell() string {
	text := show.Count(s.Count)
	if s.Open > 0 {
		text += " and " + show.Count(s.Open) + " open"
	}
	if s.Left > 0 {
		text += " (" + show.Count(s.Left) + " never ended)"
	}
	return text
}

type lock struct {
	Name   string          `json:"name" says:"of a lock without a name: its object as named in the source, or the place where it is locked"`
	Waits  int64           `json:"waits" unit:"waits" says:"that ended"`
	Wait   int64           `json:"wait_ns" head:"wait total" unit:"ns" says:"the sum of the waits that ended"`
	MaxW   int64           `json:"wait_max_ns" head:"wait max" unit:"ns" of:"waits" says:"the longest wait that ended"`
	OpenW  int64           `json:"waiting" unit:"waits" says:"that have not ended"`
	OpenWT int64           `json:"waiting_ns" head:"waiting time" unit:"ns" says:"of those"`
	Holds  int64           `json:"holds" unit:"holds" says:"that ended"`
	Hold   int64           `json:"hold_ns" head:"hold total" unit:"ns" bound:"at least" says:"the sum of the holds that ended"`
	MaxH   int64           `json:"hold_max_ns" head:"hold max" unit:"ns" of:"holds" bound:"at least" says:"the longest hold that ended"`
	SinceH bool            `json:"hold_at_least" head:"at least" says:"some holds began before their records"`
	OpenH  int64           `json:"held" head:"held now" unit:"holds" says:"that have not ended"`
	OpenHT int64           `json:"held_ns" head:"held time" unit:"ns" says:"of those"`
	HeldBy []report.Holder `json:"held_by" head:"held by" says:"what the holders were in while they held it"`

	Source string `json:"-" head:"source"`
}

// Hints returns the columns of the tables of scopes and of locks, for the page.
func Hints() (ofScopes, ofLocks []report.Hint) { return scopes.Hints(), locks.Hints() }

var locks = report.Table{
	Row:   lock{},
	What:  "lock",
	Text:  "name, waits, wait total, wait max, holds, hold total, hold max, waiting, held now, held by",
	Brief: "name, source, waits, wait total, wait max, holds, hold total, held by",
	Cells: report.CellsOf(map[string]func(lock) string{
		"waiting":  func(l lock) string { return report.Still(l.OpenW, l.OpenWT) },
		"held now": func(l lock) string { return report.Still(l.OpenH, l.OpenHT) },
		"held by":  lock.heldBy,
	}),
	BriefCells: report.CellsOf(map[string]func(lock) string{
		"source":  func(l lock) string { return report.Cell(l.Source) },
		"held by": func(l lock) string { return report.Cell(report.Code(l.heldBy())) },
	}),
}

func (r *found) lock(l *analysis.Lock) lock {
	return lock{
		Name:  r.t.Name(l.Name),
		Waits: l.Waits.Count, Wait: l.Waits.Total, MaxW: l.Waits.Max, OpenW: l.Waits.Open, OpenWT: l.Waits.OpenTime,
		Holds: l.Holds.Count, Hold: l.Holds.Total, MaxH: l.Holds.Max, SinceH: l.Since, OpenH: l.Holds.Open, OpenHT: l.Holds.OpenTime,
		HeldBy: report.HoldersOf(r.t, l.HeldBy()),
	}
}

func (l lock) heldBy() string { return report.First(l.HeldBy, report.Holder.ShareOf) }

type event struct {
	Name      string `json:"name"`
	Pending   bool   `json:"pending" says:"of 'scope.Pending'"`
	Count     int64  `json:"count" unit:"events" compare:"grows"`
	Announced int64  `json:"to_come" head:"to come" unit:"events" zero:"" says:"pending ones that have not ended"`
	First     int64  `json:"first_ns" unit:"ns" of:"count"`
	Last      int64  `json:"last_ns" unit:"ns" of:"count"`

	Rate report.Float `json:"-" head:"per second" unit:"events"` // between the first and the last
}

var events = report.Table{
	Row:  event{},
	What: "event", Text: "name, count, per second, first, last, to come", Compare: "count",
	Cells: report.CellsOf(map[string]func(event) string{"name": func(e event) string {
		if e.Pending {
			return report.Name(e.Name) + " (pending)"
		}
		return report.Name(e.Name)
	}}),
}

func (r *found) event(x *analysis.Instants) event {
	rate := float64(x.Count-1) / (float64(x.Last-x.First) / 1e9)
	return event{r.t.Name(x.Name), x.Kind == format.KindPending, x.Count, x.Announced, x.First, x.Last, report.Known(rate, x.Last > x.First)}
}

type counter struct {
	Name  string        `json:"name"`
	Count int64         `json:"count" unit:"values"`
	Min   report.Sample `json:"min" unit:"the program's"`
	Max   report.Sample `json:"max" unit:"the program's"`
	Last  report.Sample `json:"last" unit:"the program's" says:"'\"NaN\"', '\"+Inf\"', '\"-Inf\"' are strings"`
}

var counters = report.Table{Row: counter{}, What: "counter", Text: "name, count, min, max, last"}

func (r *found) counter(c *analysis.Counter) counter {
	return counter{r.t.Name(c.Name), c.Count, report.Sample(c.Min), report.Sample(c.Max), report.Sample(c.Last)}
}
