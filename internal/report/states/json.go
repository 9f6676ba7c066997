package states

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
)

// document is the document of states --json. Times are integer nanoseconds. Keys may
// be added; none changes its meaning or goes away. null is unknown.
type document struct {
	report.Kept
	From        int64              `json:"from_ns" unit:"ns" says:"what the Go execution trace covers"`
	To          int64              `json:"to_ns" unit:"ns"`
	Goroutines  int                `json:"goroutines" unit:"goroutines" says:"that it tells of"`
	Transitions int64              `json:"transitions" unit:"count" says:"from state to state"`
	Switches    *int64             `json:"switches" unit:"count" says:"threads came onto CPUs or left them; null: not recorded"`
	SwitchesWhy string             `json:"switches_why" says:"why they are not"`
	Problems    []string           `json:"problems" says:"sentences: what could not be read, or not be believed"`
	Checks      []check            `json:"checks"` // sum, cpu, unknown
	By          string             `json:"by" says:"'name', 'track', 'site', 'goroutine'"`
	All         map[string]int64   `json:"all_ns" unit:"ns" says:"each state, of the program's goroutines"`
	Runtime     map[string]int64   `json:"runtime_ns" unit:"ns" says:"each state, of the runtime's own, and the recorder's"`
	Groups      report.List[group] `json:"groups"`
}

type check struct {
	Name      string   `json:"name" says:"'sum', 'cpu', 'unknown'"`
	OK        *bool    `json:"ok" says:"null: it can't be checked"`
	Off       *float64 `json:"off" unit:"0 to 1" says:"by how much; null: not checked"`
	Tolerance float64  `json:"tolerance" unit:"0 to 1"`
	Text      string   `json:"text"`
}

type group struct {
	Name      string           `json:"name" says:"of the scopes, the row, the site; of a goroutine its row's"`
	Goroutine *uint64          `json:"goroutine,omitempty" unit:"number" says:"by goroutine"`
	Count     int64            `json:"count" unit:"count" says:"scopes, or goroutines"`
	Total     int64            `json:"total_ns" unit:"ns" says:"their sum"`
	States    map[string]int64 `json:"states_ns" unit:"ns" says:"each state"`
	Self      map[string]int64 `json:"self_ns,omitempty" unit:"ns" says:"by name: each state, without the scopes inside"`
}

func (r *found) document() *document {
	f := r.sums.Facts
	j := &document{
		Kept: report.KeptOf(r.t), By: string(r.by),
		From: f.From, To: f.To, Goroutines: len(f.Goroutines), Transitions: f.Info.Transitions,
		SwitchesWhy: f.SwitchesWhy, Problems: append([]string{}, f.Problems...),
		All: byState(f.Totals), Runtime: byState(f.Runtime),
	}
	if f.Switches {
		j.Switches = &f.Switched
	}
	for i, c := range f.Checks.List() {
		x := check{Name: []string{"sum", "cpu", "unknown"}[i], Tolerance: c.Tolerance, Text: c.Text}
		if c.Known {
			x.OK, x.Off = &c.OK, &c.Off
		}
		j.Checks = append(j.Checks, x)
	}
	j.Groups = report.ListOf(r.sums.Groups, r.group)
	return j
}

func (r *found) group(g *analysis.StateGroup) group {
	j := group{Name: g.Text, Count: g.Count, Total: g.Total.Sum(), States: byState(g.Total)}
	if r.by == analysis.ByName {
		j.Self = byState(g.Self)
	}
	if g.Goid != 0 {
		j.Goroutine = &g.Goid
	}
	return j
}

// byState returns each state, also where it took no time.
func byState(t [states.Count]int64) map[string]int64 {
	m := make(map[string]int64, states.Count)
	for s, d := range t {
		m[states.Names[s]] = d
	}
	return m
}
