package states

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// text writes the table for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	r.head(b)
	r.table(b)
}

// head writes what was recorded, and how far it can be believed.
func (r *found) head(b *report.Text) {
	f := r.sums.Facts
	fmt.Fprintf(b, "Go execution trace from %s to %s: %s, whose state changed %s times\n", show.Duration(f.From), show.Duration(f.To),
		show.Plural(int64(len(f.Goroutines)), "goroutine"), show.Count(f.Info.Transitions))
	if f.Switches {
		fmt.Fprintf(b, "%s, which came onto CPUs or left them %s times\n", show.Plural(int64(f.Threads), "thread"), show.Count(f.Switched))
	} else {
		fmt.Fprintln(b, b.Yellow("running is not split into what had a CPU and what had not: "+show.Text(f.SwitchesWhy)))
		if text := waitedForCPU(r.t); text != "" {
			fmt.Fprintln(b, text)
		}
	}
	for _, p := range f.Problems {
		fmt.Fprintln(b, b.Yellow(show.Text(p)))
	}
	for _, c := range f.Checks.List() {
		text := c.Text + fmt.Sprintf(" (up to %g %% is well)", 100*c.Tolerance)
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

// table writes the groups, with the states that any of them has.
func (r *found) table(b *report.Text) {
	groups := r.sums.Groups
	if len(groups) == 0 {
		b.WriteString("no " + map[bool]string{true: "scopes", false: "goroutines"}[r.by == analysis.ByName] + "\n")
		return
	}
	heads := []string{"<" + string(r.by), "count", "total"}
	if r.by == analysis.ByGoroutine {
		heads = []string{"goroutine", "<track", "life"}
	}
	report.Grid(b, "row", append(heads, states.Names[:]...), groups, func(g *analysis.StateGroup) []string {
		times := &g.Total
		if r.self {
			times = &g.Self
		}
		row := []string{r.title(g), show.Count(g.Count), show.Duration(times.Sum())}
		if r.by == analysis.ByGoroutine {
			row = []string{strconv.FormatUint(g.Goid, 10), report.Name(g.Text), show.Duration(times.Sum())}
		}
		return append(row, shares(times)...)
	})
}

// title returns a group's name as people see it.
func (r *found) title(g *analysis.StateGroup) string {
	switch {
	case g.Rest && r.by == analysis.BySite:
		return "(made before the recording)"
	case g.Rest:
		return "(rows without a name)"
	case r.by == analysis.BySite:
		return show.Name(g.Text)
	}
	return report.Name(g.Text)
}

// shares writes the shares of the states; empty where there is nothing.
func shares(t *analysis.StateTimes) []string {
	cells := make([]string, states.Count)
	all := t.Sum()
	for i, d := range t {
		if d > 0 {
			cells[i] = show.Percent(float64(d) / float64(all))
		}
	}
	return cells
}

// waitedForCPU returns what the heartbeats know of threads that waited for a CPU.
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
