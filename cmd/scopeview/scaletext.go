package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/scopeview/scopeview/internal/scale"
)

// text writes what scale found for people.
func (r *scaleReport) text(w io.Writer, st styles, plain bool) error {
	var b bytes.Buffer
	t := newTable("GOMAXPROCS", "wall", "from", "to", "speed-up", "CPU", "CPU factor", "<")
	for _, p := range r.Points {
		beyond := ""
		if p.Beyond {
			beyond = "more than CPUs"
		}
		factor := "-"
		if p.Inflation > 0 {
			factor = fmt.Sprintf("%.2f", p.Inflation)
		}
		t.add(fmt.Sprint(p.Procs), humane(p.Wall), humane(p.Least), humane(p.Most), fmt.Sprintf("%.2f", p.Speedup), humane(p.CPU), factor, beyond)
	}
	if err := t.write(&b, st); err != nil {
		return err
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(&b, "%s\n", st.yellow(text))
	}
	b.WriteByte('\n')
	r.law(&b, st)
	if err := r.names(&b, st, plain); err != nil {
		return err
	}
	if r.Memory != nil {
		b.WriteByte('\n')
		if err := membenchText(&b, r.Memory, st); err != nil {
			return err
		}
	}
	_, err := b.WriteTo(w)
	return err
}

// law tells of the fit, or why there is none.
func (r *scaleReport) law(b *bytes.Buffer, st styles) {
	if r.Fit == nil {
		fmt.Fprintf(b, "the Universal Scalability Law is not fitted: %s\n", r.Refused)
		return
	}
	f, last := r.Fit, r.Points[len(r.Points)-1].Procs
	fmt.Fprintf(b, "%s σ = %.4f, κ = %.6f; the medians deviate by %s\n", st.bold("Universal Scalability Law:"), f.Sigma, f.Kappa, percent(f.Error))
	if f.Error > scale.MaxError {
		fmt.Fprintf(b, "%s\n", st.yellow("that is much: the times do not follow the law, so it does not tell what the processors are lost to; more runs (-n) on a quiet machine may help"))
		return
	}
	switch r.Dominant {
	case scale.LossNone:
		fmt.Fprintf(b, "up to %d it loses less than a tenth: it scales nearly linearly\n", last)
	case scale.LossSerialization:
		fmt.Fprintf(b, "σ dominates: what is done by one at a time (a lock, a serial part, a queue) costs it most; even endlessly many processors would make it at most %.1f times as fast\n", 1/f.Sigma)
	case scale.LossCoherence:
		b.WriteString("κ dominates: what each processor costs the others (cache lines that all write, memory bandwidth) costs it most\n")
	}
	switch {
	case r.Peak == nil:
		b.WriteString("more processors never make it slower, by the law\n")
	default:
		fmt.Fprintf(b, "it is fastest on %.1f processors, %.2f times as fast as on one; more make it slower\n", *r.Peak, f.Speedup(*r.Peak))
	}
}

// inflated is how much more CPU time an execution has to take to be called inflated.
const inflated = 1.1

// names tells what one execution of each name costs.
func (r *scaleReport) names(b *bytes.Buffer, st styles, plain bool) error {
	if len(r.Names) == 0 {
		if !plain {
			b.WriteString("\nno CPU times by name: the command has recorded nothing; import scope/auto, or give it {trace}\n")
		}
		return nil
	}
	heads := []string{"<CPU per execution"}
	for _, p := range r.Points {
		heads = append(heads, fmt.Sprint(p.Procs))
	}
	t := newTable(append(heads, "factor", "<")...)
	for _, n := range r.Names {
		row := []string{shorten(show(n.Name), nameWidth)}
		for _, c := range n.CPU {
			cell := "unknown"
			if c >= 0 {
				cell = humane(c)
			}
			row = append(row, cell)
		}
		factor, verdict := "-", ""
		if n.Factor > 0 {
			factor = fmt.Sprintf("%.2f", n.Factor)
		}
		if n.Factor > inflated {
			verdict = "inflated"
		}
		t.add(append(row, factor, verdict)...)
	}
	b.WriteByte('\n')
	return t.write(b, st)
}
