package states

import (
	"github.com/scopeview/scopeview/internal/report"
)

// document is the document of states --json. Times are integer nanoseconds. Keys may be added; none
// changes its meaning or is removed. null is unknown.
type document struct {
	report.Kept
	From        int64              `json:"from_ns" unit:"ns" says:"begin of the time that the Go execution trace covers"`
	To          int64              `json:"to_ns" unit:"ns"`
	Goroutines  int                `json:"goroutines" unit:"goroutines" says:"number that it covers"`
	Transitions int64              `json:"transitions" unit:"count" says:"from state to state"`
	Switches    *int64             `json:"switches" unit:"count" says:"of threads onto CPUs and off them; null: not recorded"`
	SwitchesWhy string             `json:"switches_why" says:"why they were not recorded"`
	Problems    []string           `json:"problems" says:"sentences: unreadable or unreliable parts"`
	Checks      []check            `json:"checks"` // sum, cpu, unknown
	By          string             `json:"by" says:"'name', 'track', 'site', 'goroutine'"`
	All         Times              `json:"all_ns" unit:"ns" says:"each state, of the program's goroutines"`
	Runtime     Times              `json:"runtime_ns" unit:"ns" says:"each state, of the runtime's and the recorder's goroutines"`
	Groups      report.List[group] `json:"groups"`
}

type check struct {
	Name      string   `json:"name" says:"'sum', 'cpu', 'unknown'"`
	OK        *bool    `json:"ok" says:"null: it can't be checked"`
	Off       *float64 `json:"off" unit:"0 to 1" says:"by how much; null: not checked"`
	Tolerance float64  `json:"tolerance" unit:"0 to 1"`
	Text      string   `json:"text"`
}

func (r *found) document() *document {
	f := r.facts
	j := &document{
		Kept: report.KeptOf(r.t), By: string(r.by),
		From: f.From, To: f.To, Goroutines: len(f.Goroutines), Transitions: f.Info.Transitions,
		SwitchesWhy: f.SwitchesWhy, Problems: append([]string{}, f.Problems...),
		All: Times(f.Totals), Runtime: Times(f.Runtime), Groups: report.All(r.groups),
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
	return j
}
