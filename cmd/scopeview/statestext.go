package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// text writes the table for people.
func (r *statesReport) text(w io.Writer, s styles) error {
	var b bytes.Buffer
	if err := health(&b, r.t, s); err != nil {
		return err
	}
	r.head(&b, s)
	if err := r.table(&b, s); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// head tells what was recorded, and how far it can be believed.
func (r *statesReport) head(b *bytes.Buffer, s styles) {
	f := r.sums.Facts
	fmt.Fprintf(b, "Go execution trace from %s to %s: %s, whose state changed %s times\n", humane(f.From), humane(f.To),
		plural(int64(len(f.Goroutines)), "goroutine"), thousands(f.Info.Transitions))
	if f.Switches {
		fmt.Fprintf(b, "%s, which came onto CPUs or left them %s times\n", plural(int64(f.Threads), "thread"), thousands(f.Switched))
	} else {
		fmt.Fprintln(b, s.yellow("running is not split into what had a CPU and what had not: "+harmless(f.SwitchesWhy)))
		if text := waitedForCPU(r.t); text != "" {
			fmt.Fprintln(b, text)
		}
	}
	for _, p := range f.Problems {
		fmt.Fprintln(b, s.yellow(harmless(p)))
	}
	for _, c := range f.Checks.List() {
		text := c.Text + fmt.Sprintf(" (up to %g %% is well)", 100*c.Tolerance)
		switch {
		case !c.Known:
			fmt.Fprintln(b, s.yellow("not checked: "+harmless(c.Text)))
		case c.OK:
			fmt.Fprintln(b, "ok: "+text)
		default:
			fmt.Fprintln(b, s.red("NOT ok: "+text))
		}
	}
	b.WriteByte('\n')
}

// table writes the groups, with the states that any of them has.
func (r *statesReport) table(b *bytes.Buffer, s styles) error {
	groups := r.sums.Groups
	if len(groups) == 0 {
		b.WriteString("no " + map[bool]string{true: "scopes", false: "goroutines"}[r.by == analysis.ByName] + "\n")
		return nil
	}
	heads := []string{"<" + string(r.by), "count", "total"}
	if r.by == analysis.ByGoroutine {
		heads = []string{"goroutine", "<track", "life"}
	}
	for _, name := range states.Names {
		heads = append(heads, name)
	}
	t := newTable(heads...)
	shown := len(groups)
	if r.limit > 0 {
		shown = min(shown, r.limit)
	}
	for _, g := range groups[:shown] {
		times := &g.Total
		if r.self {
			times = &g.Self
		}
		row := []string{r.title(g), thousands(g.Count), humane(times.Sum())}
		if r.by == analysis.ByGoroutine {
			row = []string{strconv.FormatUint(g.Goid, 10), shorten(show(g.Text), nameWidth), humane(times.Sum())}
		}
		t.add(append(row, shares(times)...)...)
	}
	if err := t.write(b, s); err != nil {
		return err
	}
	b.WriteString(more(len(groups), shown, "row"))
	return nil
}

// title is a group's name as people see it.
func (r *statesReport) title(g *analysis.StateGroup) string {
	switch {
	case g.Rest && r.by == analysis.BySite:
		return "(made before the recording)"
	case g.Rest:
		return "(rows without a name)"
	case r.by == analysis.BySite:
		return show(g.Text)
	}
	return shorten(show(g.Text), nameWidth)
}

// shares are the shares of the states; empty where there is nothing.
func shares(t *analysis.StateTimes) []string {
	cells := make([]string, states.Count)
	all := t.Sum()
	for i, d := range t {
		if d > 0 {
			cells[i] = percent(float64(d) / float64(all))
		}
	}
	return cells
}

// waitedForCPU tells what the heartbeats know of threads that waited for a CPU.
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
	return "by the heartbeats threads had CPUs for " + humane(cpu) + " and waited for one for " + humane(wait)
}
