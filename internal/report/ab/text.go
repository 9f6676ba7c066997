package ab

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/show"
)

// Report returns the result for people and for programs.
func (r *Result) Report() *report.Report { return &report.Report{Text: r.text, Document: r} }

var buildTable = report.Table{
	Row:  Build{},
	Text: "build, profile, build time, <compiled=compiled, size", Cells: report.CellsOf(map[string]func(Build) string{"compiled": Build.compiled}),
}

var timeTable = report.Table{Row: Time{}, Cells: report.CellsOf(map[string]func(Time) string{"difference": Time.difference, "low": Time.interval})}

func (r *Result) text(b *report.Text) {
	buildTable.Write(b, report.RowsOf(r.Builds, func(x *Build) Build { return *x }))
	packages := show.Plural(r.Builds[1].Packages, "package")
	if r.Identical {
		fmt.Fprintf(b, "\n%s; nothing was run\n", b.Yellow("B's profile changes nothing: for all "+packages+" the compiled code is the same as A's"))
		return
	}
	fmt.Fprintf(b, "the builds differ in %s of %s\n\n", show.Count(r.Changed), packages)
	table, rows := timeTable, []Time{*r.CPU, *r.Wall}
	table.Text = "median of " + show.Plural(r.Runs, "run") + "=median, A, B, difference, interval=low"
	table.Write(b, rows)
	b.WriteByte('\n')
	for _, x := range rows {
		b.WriteString(x.sentence(b, r.Runs) + "\n")
	}
	switch r.Output {
	case runs.Differ:
		b.WriteString(b.Yellow("the two builds write different outputs, each the same in all its runs") + "\n")
	case runs.Varies:
		b.WriteString("the output varies from run to run, as in programs that print times, so it can't be compared\n")
	}
}

// compiled describes how much of a build was not in the cache.
func (x Build) compiled() string {
	switch {
	case x.Compiled == nil:
		return ""
	case *x.Compiled == 0:
		return "nothing: all was cached"
	}
	return show.Count(*x.Compiled) + " of " + show.Plural(x.Packages, "package")
}

func (t Time) difference() string {
	if t.Confidence == 0 {
		return "-"
	}
	return show.Change(t.Change)
}

func (t Time) interval() string {
	if t.Confidence == 0 {
		return "-"
	}
	return show.Change(t.Low) + " … " + show.Change(t.High)
}

// enough is the least number of runs of a side that give an interval of 95 %.
const enough = 4

// sentence describes what the runs show about a time.
func (t *Time) sentence(b *report.Text, runs int) string {
	switch {
	case t.Verdict == less:
		return b.Bold(fmt.Sprintf("B needs %s less %s", by(-t.Change), t.What)) + fmt.Sprintf(" (95%%: %s to %s)", by(-t.High), by(-t.Low))
	case t.Verdict == more:
		return b.Yellow(fmt.Sprintf("B needs %s more %s", by(t.Change), t.What)) + fmt.Sprintf(" (95%%: %s to %s)", by(t.Low), by(t.High))
	case t.Verdict == same:
		return fmt.Sprintf("no difference in %s after %s: 95%% interval %s to %s; more runs (-n %d) would narrow it", t.What, show.Plural(runs, "run"), show.Change(t.Low), show.Change(t.High), 4*runs)
	case runs < enough:
		return fmt.Sprintf("too few runs of each build (%d) to show a difference in %s with 95%% confidence: give %d (-n)", runs, t.What, enough)
	}
	return fmt.Sprintf("no result for %s: in some run the system measured none; give the program more work", t.What)
}

// by returns a change without its plus sign, which the words "less" and "more" replace.
func by(share float64) string { return strings.TrimPrefix(show.Change(share), "+") }
