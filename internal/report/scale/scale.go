// Package scale tells how a program scales with GOMAXPROCS, and what keeps it from it: what
// internal/scale has measured, for people and for programs.
package scale

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/membench"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/scale"
)

// Options are what the report is of, beside the runs.
type Options struct {
	Command []string
	CPUs    int              // that the runs could use
	Plain   bool             // nothing was recorded
	Memory  *membench.Result // null: not measured
}

// found is what scale shows, and its document. Times are integer nanoseconds.
type found struct {
	Command []string `json:"command"`
	*scale.Result
	Warnings []string         `json:"warnings"`
	Memory   *membench.Result `json:"memory"` // null without --membench
}

// Of returns the report of runs.
func Of(runs []scale.Run, o Options) *report.Report {
	r := &found{o.Command, scale.Summarize(runs, o.CPUs), nil, o.Memory}
	r.Warnings = warnings(r.Points, o.CPUs)
	return &report.Report{Text: func(b *report.Text) { r.text(b, o.Plain) }, Document: r}
}

// warnings says what the numbers can't tell.
func warnings(points []scale.Point, cpus int) []string {
	ws := []string{}
	if last := points[len(points)-1].Procs; last > cpus {
		ws = append(ws, fmt.Sprintf("GOMAXPROCS above the %s that this process may use tells how the program bears too many threads, and not how it would run on more CPUs; the law takes the missing CPUs for serialization", analysis.Plural(int64(cpus), "CPU")))
	}
	if first := points[0].Procs; first != 1 {
		ws = append(ws, fmt.Sprintf("without a run on one processor, speed-ups are over that on %d", first))
	}
	return ws
}
