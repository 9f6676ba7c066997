package ab

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/show"
)

// Report returns the result for people and for programs.
func (r *Result) Report() *report.Report { return &report.Report{Text: r.text, Document: r} }

func (r *Result) text(b *report.Text) {
	heads := []string{"<build", "<profile", "build time", "<compiled", "size"}
	report.Grid(b, "", heads, r.Builds, func(x *Build) []string {
		return []string{x.Name, report.Name(x.Profile), show.Duration(x.Took), x.compiled(), fmt.Sprintf("%.2f MB", float64(x.Size)/1e6)}
	})
	packages := show.Plural(int64(r.Builds[1].Packages), "package")
	if r.Identical {
		fmt.Fprintf(b, "\n%s; nothing was run\n", b.Yellow("B's profile changes nothing: of all "+packages+" the compiler made the same as for A"))
		return
	}
	fmt.Fprintf(b, "the builds differ in %d of %s\n\n", r.Changed, packages)
	type row struct {
		name string
		*Time
	}
	rows := []row{{"CPU time", r.CPU}, {"wall time", r.Wall}}
	report.Grid(b, "", []string{"<median of " + show.Plural(int64(r.Runs), "run"), "A", "B", "difference", "interval"}, rows, func(x row) []string {
		cells := []string{x.name, show.Duration(x.A), show.Duration(x.B), "", ""}
		if x.Confidence > 0 {
			cells[3], cells[4] = signed(x.Change), signed(x.Low)+" … "+signed(x.High)
		}
		return cells
	})
	b.WriteByte('\n')
	for _, x := range rows {
		b.WriteString(x.sentence(b, x.name, r.Runs) + "\n")
	}
	switch r.Output {
	case runs.Differ:
		b.WriteString(b.Yellow("the two builds write different outputs, each the same in all its runs") + "\n")
	case runs.Varies:
		b.WriteString("the output is another one from run to run, as of programs that print times, so it can't be compared\n")
	}
}

// compiled says how much of a build was not in the cache.
func (x *Build) compiled() string {
	switch {
	case x.Compiled == nil:
		return ""
	case *x.Compiled == 0:
		return "nothing, all was in the cache"
	}
	return fmt.Sprintf("%d of %s", *x.Compiled, show.Plural(int64(x.Packages), "package"))
}

// enough is the least number of runs of a side that give an interval of 95 %.
const enough = 4

// sentence says what the runs show of a time.
func (t *Time) sentence(b *report.Text, what string, runs int) string {
	switch {
	case t.Verdict == less:
		return b.Bold(fmt.Sprintf("B needs %s less %s", percent(-t.Change), what)) + fmt.Sprintf(" (95 %%: %s to %s)", percent(-t.High), percent(-t.Low))
	case t.Verdict == more:
		return b.Yellow(fmt.Sprintf("B needs %s more %s", percent(t.Change), what)) + fmt.Sprintf(" (95 %%: %s to %s)", percent(t.Low), percent(t.High))
	case t.Verdict == same:
		return fmt.Sprintf("no difference in %s can be told after %d runs: 95 %% interval %s to %s; more runs (-n %d) would narrow it", what, runs, signed(t.Low), signed(t.High), 4*runs)
	case runs < enough:
		return fmt.Sprintf("%s of each build can't tell a difference in %s with 95 %% confidence: that takes %d (-n)", show.Plural(int64(runs), "run"), what, enough)
	}
	return fmt.Sprintf("a difference in %s can't be told: some run was so short that the system counted none; give the program more to do", what)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func signed(share float64) string {
	if text := percent(share); text != "-0.0 %" && text[0] == '-' {
		return "−" + text[1:]
	} else if text != "-0.0 %" && text != "0.0 %" {
		return "+" + text
	}
	return "0.0 %"
}
