package top

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if len(r.stats) == 0 {
		b.WriteString("no scopes")
		if r.t.Lookup(gotrace.FactMade) != "" {
			b.WriteString(": the program has no regions and no tasks of runtime/trace; scopeview states --by track tells what its goroutines did")
		}
		b.WriteByte('\n')
	} else {
		r.scopeTable(b)
	}
	if len(r.skipped) > 0 {
		fmt.Fprintf(b, "\n%s\n", b.Yellow("Where calls are shown, not all were recorded: the function "+analysis.Budget+". All other columns are of the recorded ones."))
	}
	if len(r.locks) > 0 {
		b.WriteByte('\n')
		r.lockTable(b)
	}
	r.instantTable(b)
	r.counterTable(b)
	for _, f := range r.endings.Forgotten() {
		fmt.Fprintf(b, "\n%s\n", b.Yellow(analysis.Hint(r.t.Name(f.Name), f)))
	}
}

func (r *found) scopeTable(b *report.Text) {
	what := "name"
	if r.byTrack {
		what = "track"
	}
	heads := []string{"<" + what, "count", "calls", "total", "self", "mean", "min", "p50", "p90", "p99", "max", "cpu", "known", "cpu/wall", "cpu max", "open"}
	report.Table(b, what, heads, r.stats, func(x *analysis.Stats) []string {
		row := []string{r.title(x), analysis.Thousands(x.Count), ""}
		if n, unseen, _ := r.calls(x); !x.Process && r.skipped[x.Name].Skipped() > 0 {
			row[2] = analysis.CallCount(n, unseen)
		}
		if x.Count == 0 {
			row = append(row, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "")
		} else {
			row = append(row, analysis.Humane(x.Total), self(x), analysis.Humane(x.Mean()), analysis.Humane(x.Times.Min()),
				analysis.Humane(x.Times.Quantile(0.5)), analysis.Humane(x.Times.Quantile(0.9)), analysis.Humane(x.Times.Quantile(0.99)), analysis.Humane(x.Times.Max()))
			row = append(row, cpuCells(x)...)
		}
		return append(row, openCell(x))
	})
}

// self writes the self time; "-" where no scope's goroutine is known, and with a "+"
// where that of some is not.
func self(x *analysis.Stats) string {
	switch {
	case x.NoSelf == 0:
		return analysis.Humane(x.Self)
	case x.NoSelf >= x.Count+x.Open+x.Across:
		return "-"
	}
	return analysis.Humane(x.Self) + "+"
}

// cpuCells writes cpu, known, cpu/wall, cpu max.
func cpuCells(x *analysis.Stats) []string {
	cells := []string{"-", "-", "-", ""}
	if ratio, ok := x.PerWall(); ok {
		cells[0], cells[2] = analysis.Humane(x.CPU), strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	if share, ok := x.Coverage(); ok {
		cells[1] = analysis.Percent(share)
	}
	if x.AtMostWall > 0 {
		cells[3] = "≤ " + analysis.Humane(x.AtMost)
	}
	return cells
}

func openCell(x *analysis.Stats) string {
	if x.Open == 0 {
		return ""
	}
	text := analysis.Thousands(x.Open) + " for " + analysis.Humane(x.OpenTime)
	switch {
	case x.Left == x.Open:
		text += ", never ended"
	case x.Left > 0:
		text += ", " + analysis.Thousands(x.Left) + " never ended"
	}
	if x.OpenSelf > 0 && x.OpenSelf < x.OpenTime {
		text += ", self " + analysis.Humane(x.OpenSelf)
	}
	return text
}

func (r *found) lockTable(b *report.Text) {
	heads := []string{"<lock", "waits", "wait total", "wait max", "holds", "hold total", "hold max", "waiting", "held now", "<held by"}
	report.Table(b, "lock", heads, r.locks, func(l *analysis.Lock) []string {
		total, most := analysis.Humane(l.Holds.Total), report.Longest(l.Holds)
		if l.Since && l.Holds.Count > 0 {
			total, most = "≥ "+total, "≥ "+most
		}
		return []string{
			report.Name(r.t.Name(l.Name)),
			analysis.Thousands(l.Waits.Count), analysis.Humane(l.Waits.Total), report.Longest(l.Waits),
			analysis.Thousands(l.Holds.Count), total, most,
			report.Still(l.Waits), report.Still(l.Holds), report.First(l.HeldBy(), r.holder),
		}
	})
}

func (r *found) holder(h analysis.Holder) string {
	return report.TitleOf(r.t, h.HolderKey) + " " + analysis.Percent(h.Share)
}
