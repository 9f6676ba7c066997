package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/show"
)

// Report returns the comparison for people and for programs.
func (r *Result) Report() *report.Report {
	return &report.Report{Text: r.text, Brief: r.brief, Document: r.document()}
}

func (r *Result) text(b *report.Text) {
	r.health(b)
	fmt.Fprintf(b, "A  %s\nB  %s\n\n", runsText(r.a), runsText(r.b))
	r.notes(b)
	b.WriteString(r.howSure() + "\n")
	if grow := r.grow(); r.lengthsDiffer() && grow != nil {
		fmt.Fprintf(b, "the lengths of A and B differ, and %s grow with them: look at the same columns with /s (per second of recording) or %% (of the whole), and at the others; \"lengths\" marks differences that they alone explain\n", strings.Join(grow, ", "))
	}
	b.WriteByte('\n')
	var differ []*row
	for _, x := range r.rows {
		if !r.same(x) {
			differ = append(differ, x)
		}
	}
	if len(r.rows)+len(r.oneSide) == 0 {
		b.WriteString("there is nothing to compare\n")
		return
	}
	switch n := len(r.rows) - len(differ); {
	case len(r.rows) == 0:
		b.WriteString("A and B have no name in common\n")
	case len(differ) == 0:
		b.WriteString("no differences in " + show.Plural(int64(n), "name") + " of both\n")
	default:
		r.table(b, differ)
		if n > 0 {
			b.WriteString(show.Plural(int64(n), "more name") + " without any difference\n")
		}
	}
	if len(r.oneSide) > 0 {
		b.WriteByte('\n')
		r.oneSideTable(b)
	}
}

// health writes the losses and the overwritten records of the recordings, with their paths.
func (r *Result) health(b *report.Text) {
	before := b.Len()
	for side, runs := range [][]Run{r.a, r.b} {
		for _, run := range runs {
			if run.trace == nil {
				continue
			}
			for _, line := range []string{analysis.KeptLine(run.trace), b.Red(analysis.LossLine(run.trace)), analysis.OverwrittenLine(run.trace), analysis.CoolLine(run.trace)} {
				if line != "" {
					fmt.Fprintf(b, "%s  %s: %s\n", sides[side], show.Name(run.path), line)
				}
			}
		}
	}
	if b.Len() > before {
		b.WriteByte('\n')
	}
}

var sides = [2]string{"A", "B"}

// runsText lists the recordings of a side.
func runsText(runs []Run) string {
	text := report.First(runs, func(x Run) string {
		return show.Name(x.path) + " (" + show.Duration(x.length) + ")"
	})
	if len(runs) > 1 {
		text = show.Plural(int64(len(runs)), "run") + ": " + text
	}
	return text
}

// notesShown limits the notes in the text: notes with numbers differ between runs.
const notesShown = 6

// notes writes the caveats about the rows, each once.
func (r *Result) notes(b *report.Text) {
	of := map[string][]string{}
	var texts []string
	for side, runs := range [][]Run{r.a, r.b} {
		for _, run := range runs {
			for _, n := range run.Notes {
				if of[n] == nil {
					texts = append(texts, n)
				}
				if !slices.Contains(of[n], sides[side]) {
					of[n] = append(of[n], sides[side])
				}
			}
		}
	}
	for i, text := range texts {
		if i == notesShown {
			fmt.Fprintf(b, "… and %s (--json has all)\n", show.Plural(int64(len(texts)-i), "more note"))
			break
		}
		fmt.Fprintf(b, "%s  %s\n", strings.Join(of[text], ", "), b.Yellow(show.Text(text)))
	}
	if texts != nil {
		b.WriteByte('\n')
	}
}

// howSure explains the interval, or why there is none.
func (r *Result) howSure() string {
	if !r.several() {
		text := "there is no interval, and differences may be chance: give several runs a side, A1 A2 A3 A4 -- B1 B2 B3 B4"
		if len(r.a)+len(r.b) > 2 {
			text += "; values of several runs are medians"
		}
		return text
	}
	c := runs.Intervals{}.Confidence(len(r.a), len(r.b))
	text := fmt.Sprintf("values are medians of %d and %s; interval: of the difference, with %s confidence", len(r.a), show.Plural(int64(len(r.b)), "run"), show.Percent(c))
	if c < runs.Wanted {
		text += ", the most that so few runs give (4 a side give 95%)"
	}
	return text + "; ~: no difference that the runs can show"
}

// sameLength is the largest relative difference at which lengths of recordings count as the same.
const sameLength = 0.01

// lengthsDiffer reports whether the median lengths of the two sides differ.
func (r *Result) lengthsDiffer() bool {
	length := func(runs []Run) float64 {
		var list []float64
		for _, x := range runs {
			list = append(list, float64(x.length))
		}
		slices.Sort(list)
		return middle(list)
	}
	a, b := length(r.a), length(r.b)
	return math.Abs(a-b) > sameLength*max(a, b)
}

// grow lists the columns that grow with the length of the recording.
func (r *Result) grow() (names []string) {
	for _, c := range r.columns {
		if c.Grows {
			names = append(names, c.Name)
		}
	}
	return names
}

// shows reports whether the table has the column: not the rates if the recordings have the same
// length, and the shares only of the sort column, unless the lengths differ and sums can't be
// compared.
func (r *Result) shows(c column) bool {
	return r.lengthsDiffer() || !c.perSecond && (!c.share || c.own == r.columns[r.sort].own)
}

// table writes the sort column in full, and the changes of the other columns.
func (r *Result) table(b *report.Text, rows []*row) {
	of := r.columns[r.sort].Name
	heads := []string{"<name", "<kind", of + " A", of + " B", "difference", "ratio", "interval"}
	var others []int
	for k, c := range r.columns {
		if k != r.sort && r.shows(c) {
			others = append(others, k)
			heads = append(heads, c.Name)
		}
	}
	report.Grid(b, "name", heads, rows, func(x *row) []string {
		c := &x.cells[r.sort]
		cells := []string{x.where(r), x.kind, r.number(r.sort, middle(c.a)), r.number(r.sort, middle(c.b)), "", "", ""}
		if c.both() {
			cells[4] = r.mark(b, r.sort, c, r.difference(r.sort, c))
			if q, ok := c.ratio(); ok {
				cells[5] = show.Ratio(q)
			}
		}
		if c.confidence > 0 {
			cells[6] = r.interval(r.sort, c)
		}
		for _, k := range others {
			cells = append(cells, r.change(k, &x.cells[k]))
		}
		return cells
	})
}

// oneSideTable writes the rows that only one side has.
func (r *Result) oneSideTable(b *report.Text) {
	heads := []string{"<only in", "<name", "<kind"}
	var shown []int
	for k, c := range r.columns {
		if k == r.sort || r.shows(c) {
			shown = append(shown, k)
			heads = append(heads, c.Name)
		}
	}
	report.Grid(b, "name", heads, r.oneSide, func(x *row) []string {
		side := sides[0]
		if x.runs[0] == 0 {
			side = sides[1]
		}
		cells := []string{side, x.where(r), x.kind}
		for _, k := range shown {
			v := middle(slices.Concat(x.cells[k].a, x.cells[k].b))
			if math.IsNaN(v) || v == 0 {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, r.number(k, v))
		}
		return cells
	})
}

// title returns a row's name, safe to print.
func (x *row) title() string {
	if x.nameB != "" {
		return short(x.name) + " → " + short(x.nameB)
	}
	return short(x.name)
}

// short returns a name cut for a table: a function's without its package's path if it is too long.
func short(name string) string {
	if text := report.Name(name); text == show.Name(name) {
		return text
	}
	return report.Name(format.ShortFunction(name))
}

// where returns the title, with the number of runs that have the row if not all do.
func (x *row) where(r *Result) string {
	text := x.title()
	for side, n := range x.runs {
		if of := [2]int{len(r.a), len(r.b)}[side]; n > 0 && n < of {
			text += fmt.Sprintf(" (%d of %d of %s)", n, of, sides[side])
		}
	}
	return text
}
