package states

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// text writes the table for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	r.head(b)
	switch {
	case len(r.groups) > 0:
		r.table().Write(b, r.groups)
	case r.by == analysis.ByName:
		b.WriteString("no scopes\n")
	default:
		b.WriteString("no goroutines\n")
	}
}

// head writes the extent of the recording, and its reliability.
func (r *found) head(b *report.Text) {
	f := r.facts
	fmt.Fprintf(b, "Go execution trace from %s to %s: %s, whose state changed %s times\n", show.Duration(f.From), show.Duration(f.To),
		show.Plural(int64(len(f.Goroutines)), "goroutine"), show.Count(f.Info.Transitions))
	if f.Switches {
		fmt.Fprintf(b, "%s, which came onto CPUs or left them %s times\n", show.Plural(int64(f.Threads), "thread"), show.Count(f.Switched))
	} else {
		fmt.Fprintln(b, b.Yellow("running time is not split into on a CPU and off it: "+show.Text(f.SwitchesWhy)))
		if text := waitedForCPU(r.t); text != "" {
			fmt.Fprintln(b, text)
		}
	}
	for _, p := range f.Problems {
		fmt.Fprintln(b, b.Yellow(show.Text(p)))
	}
	for _, c := range f.Checks.List() {
		text := c.Text + " (up to " + show.Percent(c.Tolerance) + " is fine)"
		switch {
		case !c.Known:
			fmt.Fprintln(b, b.Yellow("not checked: "+show.Text(c.Text)))
		case c.OK:
			fmt.Fprintln(b, "ok: "+text)
		default:
			fmt.Fprintln(b, b.Red("NOT ok: "+text))
		}
	}
	b.WriteByte('\n')
}

// waitedForCPU returns the heartbeats' sum of the time for which threads waited for a CPU.
func waitedForCPU(t *trace.Trace) string {
	var cpu, wait int64
	err := t.EachBeat(func(b *trace.Beat) bool {
		for _, th := range b.Threads {
			cpu, wait = cpu+max(th.CPU, 0), wait+max(th.Wait, 0)
		}
		return true
	})
	if err != nil || cpu+wait == 0 {
		return ""
	}
	return "by the heartbeats threads had CPUs for " + show.Duration(cpu) + " and waited for one for " + show.Duration(wait)
}
