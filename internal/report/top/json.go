package top

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
)

// document is the document of top --json. Times are integer nanoseconds. Keys may
// be added; none changes its meaning or goes away. null is unknown.
type document struct {
	report.Kept
	By         string               `json:"by"` // name, track
	Scopes     report.List[scope]   `json:"scopes"`
	Locks      report.List[lock]    `json:"locks"`
	Events     report.List[event]   `json:"events"`
	Counters   report.List[counter] `json:"counters"`
	NeverEnded []report.Forgotten   `json:"never_ended"` // is the second () missing?
}

type scope struct {
	Name       string   `json:"name"`
	Process    bool     `json:"process"` // scope.Process: CPU is the process's
	Count      int64    `json:"count"`   // ended; so are all times but open_ns and open_self_ns
	Calls      *int64   `json:"calls"`   // the recorded ones, and those that were not
	Unseen     *int64   `json:"unseen"`  // of those, an estimate
	Total      int64    `json:"total_ns"`
	Self       *int64   `json:"self_ns"`
	Mean       *int64   `json:"mean_ns"`
	Min        *int64   `json:"min_ns"`
	P50        *int64   `json:"p50_ns"`
	P90        *int64   `json:"p90_ns"`
	P99        *int64   `json:"p99_ns"`
	Max        *int64   `json:"max_ns"`
	CPU        *int64   `json:"cpu_ns"`          // sum of what is known
	CPUWall    int64    `json:"cpu_wall_ns"`     // duration of the scopes of which it is
	CPUShare   *float64 `json:"cpu_coverage"`    // cpu_wall_ns / total_ns
	CPUPerWall *float64 `json:"cpu_per_wall"`    // cpu_ns / cpu_wall_ns
	AtMost     int64    `json:"cpu_max_ns"`      // sum of upper bounds of others
	AtMostWall int64    `json:"cpu_max_wall_ns"` // duration of those
	Open       int64    `json:"open"`
	Left       int64    `json:"left_open"` // of Open, those whose goroutine has ended
	OpenTime   int64    `json:"open_ns"`
	OpenSelf   *int64   `json:"open_self_ns"`
	Across     int64    `json:"across_clock_steps"` // counted nowhere else
}

type lock struct {
	Name   string          `json:"name"`
	Waits  int64           `json:"waits"`
	Wait   int64           `json:"wait_ns"`
	MaxW   int64           `json:"wait_max_ns"`
	OpenW  int64           `json:"waiting"` // not ended
	OpenWT int64           `json:"waiting_ns"`
	Holds  int64           `json:"holds"`
	Hold   int64           `json:"hold_ns"`
	MaxH   int64           `json:"hold_max_ns"`
	SinceH bool            `json:"hold_at_least"` // some holds were longer than their records tell
	OpenH  int64           `json:"held"`          // not ended
	OpenHT int64           `json:"held_ns"`
	HeldBy []report.Holder `json:"held_by"`
}

func (r *found) document() *document {
	d := &document{
		Kept: report.KeptOf(r.t), By: "name",
		Scopes: report.ListOf(r.stats, r.scope), Locks: report.ListOf(r.locks, r.lock),
		Events: report.ListOf(r.instants, r.event), Counters: report.ListOf(r.counters, r.counter),
		NeverEnded: report.ForgottenOf(r.t, &r.endings),
	}
	if r.byTrack {
		d.By = "track"
	}
	return d
}

func (r *found) scope(s *analysis.Stats) scope {
	j := scope{
		Name: r.t.Name(s.Name), Process: s.Process, Count: s.Count, Total: s.Total,
		CPUWall: s.CPUWall, AtMost: s.AtMost, AtMostWall: s.AtMostWall,
		Open: s.Open, Left: s.Left, OpenTime: s.OpenTime, Across: s.Across,
	}
	some := func(v int64) *int64 { return &v }
	if n, unseen, ok := r.calls(s); ok {
		j.Calls, j.Unseen = &n, &unseen
	}
	if s.NoSelf == 0 {
		j.Self, j.OpenSelf = &s.Self, &s.OpenSelf
	}
	if s.Count > 0 {
		j.Mean, j.Min, j.Max = some(s.Mean()), some(s.Times.Min()), some(s.Times.Max())
		j.P50, j.P90, j.P99 = some(s.Times.Quantile(0.5)), some(s.Times.Quantile(0.9)), some(s.Times.Quantile(0.99))
	}
	if share, ok := s.Coverage(); ok {
		j.CPUShare = &share
	}
	if ratio, ok := s.PerWall(); ok {
		j.CPU, j.CPUPerWall = &s.CPU, &ratio
	}
	return j
}

func (r *found) lock(l *analysis.Lock) lock {
	return lock{
		Name:  r.t.Name(l.Name),
		Waits: l.Waits.Count, Wait: l.Waits.Total, MaxW: l.Waits.Max, OpenW: l.Waits.Open, OpenWT: l.Waits.OpenTime,
		Holds: l.Holds.Count, Hold: l.Holds.Total, MaxH: l.Holds.Max, SinceH: l.Since, OpenH: l.Holds.Open, OpenHT: l.Holds.OpenTime,
		HeldBy: report.HoldersOf(r.t, l.HeldBy()),
	}
}
