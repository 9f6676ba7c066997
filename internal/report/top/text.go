package top

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
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
		row := []string{r.title(x), show.Count(x.Count), ""}
		if n, unseen, _ := r.calls(x); !x.Process && r.skipped[x.Name].Skipped() > 0 {
			row[2] = analysis.CallCount(n, unseen)
		}
		if x.Count == 0 {
			row = append(row, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "")
		} else {
			row = append(row, show.Duration(x.Total), self(x), show.Duration(x.Mean()), show.Duration(x.Times.Min()),
				show.Duration(x.Times.Quantile(0.5)), show.Duration(x.Times.Quantile(0.9)), show.Duration(x.Times.Quantile(0.99)), show.Duration(x.Times.Max()))
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
		return show.Duration(x.Self)
	case x.NoSelf >= x.Count+x.Open+x.Across:
		return "-"
	}
	return show.Duration(x.Self) + "+"
}

// cpuCells writes cpu, known, cpu/wall, cpu max.
func cpuCells(x *analysis.Stats) []string {
	cells := []string{"-", "-", "-", ""}
	if ratio, ok := x.PerWall(); ok {
		cells[0], cells[2] = show.Duration(x.CPU), strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	if share, ok := x.Coverage(); ok {
		cells[1] = show.Percent(share)
	}
	if x.AtMostWall > 0 {
		cells[3] = "≤ " + show.Duration(x.AtMost)
	}
	return cells
}

func openCell(x *analysis.Stats) string {
	if x.Open == 0 {
		return ""
	}
	text := show.Count(x.Open) + " for " + show.Duration(x.OpenTime)
	switch {
	case x.Left == x.Open:
		text += ", never ended"
	case x.Left > 0:
		text += ", " + show.Count(x.Left) + " never ended"
	}
	if x.OpenSelf > 0 && x.OpenSelf < x.OpenTime {
		text += ", self " + show.Duration(x.OpenSelf)
	}
	return text
}

func (r *found) lockTable(b *report.Text) {
	heads := []string{"<lock", "waits", "wait total", "wait max", "holds", "hold total", "hold max", "waiting", "held now", "<held by"}
	report.Table(b, "lock", heads, r.locks, func(l *analysis.Lock) []string {
		total, most := show.Duration(l.Holds.Total), report.Longest(l.Holds)
		if l.Since && l.Holds.Count > 0 {
			total, most = "≥ "+total, "≥ "+most
		}
		return []string{
			report.Name(r.t.Name(l.Name)),
			show.Count(l.Waits.Count), show.Duration(l.Waits.Total), report.Longest(l.Waits),
			show.Count(l.Holds.Count), total, most,
			report.Still(l.Waits), report.Still(l.Holds), report.First(l.HeldBy(), r.holder),
		}
	})
}

func (r *found) holder(h analysis.Holder) string {
	return report.TitleOf(r.t, h.HolderKey) + " " + show.Percent(h.Share)
}
