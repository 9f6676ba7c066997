package scale

import (
	"context"
	"fmt"
	"runtime"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/membench"
	"github.com/scopeview/scopeview/internal/show"
)

// Of runs the command Runs times with each of Procs.
func Of(ctx context.Context, o Options) (*report.Report, error) {
	runs, err := measure(ctx, o)
	if err != nil {
		return nil, err
	}
	r := summarize(runs, runtime.NumCPU())
	r.Command, r.Warnings = o.Command, warnings(r.Points, r.CPUs)
	if o.Memory {
		if r.Memory, err = membench.Measure(ctx, membench.Options{}); err != nil {
			return nil, err
		}
	}
	return &report.Report{Text: func(b *report.Text) { r.text(b, o.Names == nil) }, Document: r}, nil
}

// warnings returns the limits of the numbers.
func warnings(points []point, cpus int) []string {
	ws := []string{}
	if last := points[len(points)-1].Procs; last > cpus {
		ws = append(ws, fmt.Sprintf("GOMAXPROCS above the %s of this process measures oversubscription, not more CPUs; the fit counts the missing CPUs as serialization", show.Plural(int64(cpus), "CPU")))
	}
	if first := points[0].Procs; first != 1 {
		ws = append(ws, fmt.Sprintf("without a run on one processor, speed-ups are relative to %d", first))
	}
	return ws
}
