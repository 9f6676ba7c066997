package scale

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

var points = report.Table{Row: point{}, Text: "GOMAXPROCS, wall, from, to, speed-up, CPU, CPU factor, =more than CPUs"}

// text writes the report for people.
func (r *document) text(b *report.Text, plain bool) {
	points.Write(b, r.Points)
	for _, text := range r.Warnings {
		fmt.Fprintf(b, "%s\n", b.Yellow(text))
	}
	b.WriteByte('\n')
	r.law(b)
	r.nameTable(b, plain)
	if r.Memory != nil {
		b.WriteByte('\n')
		r.Memory.Report().Text(b)
	}
}

// law writes the fit, or why there is none.
func (r *document) law(b *report.Text) {
	if r.Fit == nil {
		fmt.Fprintf(b, "the Universal Scalability Law is not fitted: %s\n", r.Refused)
		return
	}
	f, last := r.Fit, r.Points[len(r.Points)-1].Procs
	fmt.Fprintf(b, "%s σ = %.4f, κ = %.6f; the medians deviate by %s\n", b.Bold("Universal Scalability Law:"), f.Sigma, f.Kappa, show.Percent(f.Error))
	if f.Error > maxError {
		fmt.Fprintf(b, "%s\n", b.Yellow("the times do not follow the law, so the kind of loss is not known; more runs (-n) on a quiet machine may help"))
		return
	}
	switch r.Dominant {
	case lossNone:
		fmt.Fprintf(b, "up to %d it loses less than a tenth: it scales nearly linearly\n", last)
	case lossSerialization:
		fmt.Fprintf(b, "σ dominates: serialized work (a lock, a serial part, a queue) costs it most; even with unlimited processors it would be at most %s times as fast\n", show.Ratio(1/f.Sigma))
	case lossCoherence:
		b.WriteString("κ dominates: the cost of processors to each other (cache lines that all write, memory bandwidth) costs it most\n")
	}
	switch {
	case r.Peak == nil:
		b.WriteString("more processors never make it slower, by the law\n")
	default:
		fmt.Fprintf(b, "it is fastest on %.1f processors, %s times as fast as on one; more make it slower\n", *r.Peak, show.Ratio(f.speedup(*r.Peak)))
	}
}

// inflated is the growth of an execution's CPU time from which on it is called inflated.
const inflated = 1.1

// nameTable writes the cost of one execution of each name.
func (r *document) nameTable(b *report.Text, plain bool) {
	if len(r.Names) == 0 {
		if !plain {
			b.WriteString("\nno CPU times by name: the command recorded nothing; import scope/auto, or pass it {trace}\n")
		}
		return
	}
	heads := []string{"<CPU per execution"}
	for _, p := range r.Points {
		heads = append(heads, fmt.Sprint(p.Procs))
	}
	b.WriteByte('\n')
	report.Grid(b, "", append(heads, "factor", "<"), r.Names, func(n inflation) []string {
		row := []string{report.Name(n.Name)}
		for _, c := range n.CPU {
			cell := "-"
			if c >= 0 {
				cell = show.Duration(c)
			}
			row = append(row, cell)
		}
		factor, verdict := "-", ""
		if n.Factor > 0 {
			factor = show.Ratio(n.Factor)
		}
		if n.Factor > inflated {
			verdict = "inflated"
		}
		return append(row, factor, verdict)
	})
}
