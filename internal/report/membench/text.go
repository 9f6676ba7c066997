// Package membench measures how much memory a machine moves with one core, two, and so on up to all
// of them, and the number of cores from which on further ones add nothing: a limit for programs
// that only wait for memory.
package membench

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

var points = report.Table{Row: point{}, Text: "cores, copy, a=b+s·c=triad, inflation: memory, compute"}

// Report returns the result for people and for programs.
func (r *Result) Report() *report.Report { return &report.Report{Text: r.text, Document: r} }

func (r *Result) text(b *report.Text) {
	line := show.Plural(r.Cores, "core")
	if r.CPU != "" {
		line = show.Name(r.CPU) + ", " + line
	}
	if r.Cache > 0 {
		line += ", last-level cache " + show.Size(r.Cache)
	}
	fmt.Fprintf(b, "%s; arrays of %s\n", line, show.Size(r.Arrays))
	if r.Doubt != "" {
		fmt.Fprintf(b, "%s\n", b.Yellow(r.Doubt))
	}
	b.WriteByte('\n')
	points.Write(b, r.Inflation())
	last := r.Points[len(r.Points)-1].Cores
	switch {
	case len(r.Points) == 1:
		b.WriteString("\none core can't show how more of them scale\n")
	case r.Saturated > 0:
		fmt.Fprintf(b, "\n%s saturated by %s: more of them move less than a tenth more\n", b.Bold("memory is"), show.Plural(r.Saturated, "core"))
	case r.Doubt == "":
		fmt.Fprintf(b, "\nmemory is not saturated by %s\n", show.Plural(last, "core"))
	}
}
