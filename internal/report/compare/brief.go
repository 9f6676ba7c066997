package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Limits of a page.
const (
	briefRows   = 8
	briefOthers = 4 // changed columns besides the sort column
	briefNotes  = 4
)

// brief writes the comparison as a page, the largest deteriorations first.
func (r *Result) brief(b *report.Brief) {
	a, z := r.a[0].path, r.b[0].path
	more := []string{report.Does(b.CommandOn(a, "compare", z, "--view="+r.view), "all names and columns")}
	if r.a[0].trace != nil && r.b[0].trace != nil { // otherwise they are profiles, which have nothing else
		more = append(more,
			report.Does(b.CommandOn(z, "doctor", "--brief"), "what is wrong with B"),
			report.Does(b.CommandOn(a, "compare", z, "--view=waits", "--brief"), "changes in locks and other waits"))
	}
	b.More(more...)
	var worse, other []*row
	for _, x := range r.rows {
		c := &x.cells[r.sort]
		switch {
		case r.same(x):
		case r.columns[r.sort].Worse && c.differs() && c.difference() > 0:
			worse = append(worse, x)
		default:
			other = append(other, x)
		}
	}
	of := r.columns[r.sort].Name
	b.Line("# scopeview compare: " + r.headline(worse, of))
	r.briefRuns(b)
	places := r.firstPlaces()
	b.Heading("## Worse in B, by " + of)
	r.briefRows(b, worse, places)
	b.Heading("## Other changes")
	r.briefRows(b, other, places)
	b.Heading("## On one side only")
	for i, x := range r.oneSide {
		if i == briefRows {
			b.Line("- … and " + show.Plural(int64(len(r.oneSide)-i), "more name"))
			break
		}
		side, v := sides[0], x.cells[r.sort].a
		if x.runs[0] == 0 {
			side, v = sides[1], x.cells[r.sort].b
		}
		b.Line("- only in " + side + ": " + report.CodeName(x.name) + " (" + x.kind + "), " + of + " " + r.number(r.sort, middle(v)))
	}
	b.Heading("## Try")
	if len(worse) > 0 {
		b.Line("Look at the changes of the source lines above between the builds of A and B, and run the doctor on B: for known problems it proposes a change.")
	} else {
		b.Line("Nothing became worse by " + of + ": compare another column (--sort) or another view (--view) if something did.")
	}
	b.Heading("## How sure")
	b.Line(report.Prose(r.howSure()) + ".")
	if grow := r.grow(); r.lengthsDiffer() && grow != nil {
		b.Line("The lengths of A and B differ, and " + strings.Join(grow, ", ") + " grow with them.")
	}
	for _, n := range r.briefNotes() {
		b.Line("- " + n)
	}
}

// headline names the largest deterioration.
func (r *Result) headline(worse []*row, of string) string {
	if len(worse) == 0 {
		return "nothing is worse by " + of
	}
	text := report.CodeName(worse[0].name) + " " + of + " " + r.change(r.sort, &worse[0].cells[r.sort])
	if more := len(worse) - 1; more > 0 {
		text += " and " + show.Plural(int64(more), "more name")
	}
	return text
}

// briefRuns writes the facts of the runs, and those that differ between the sides.
func (r *Result) briefRuns(b *report.Brief) {
	b.Heading("## Runs")
	facts := [2]map[string]string{}
	var labels []string
	for side, list := range [][]Run{r.a, r.b} {
		facts[side] = map[string]string{}
		for _, run := range list[:min(len(list), 3)] {
			lost := "losses unknown: not a recording of scopeview"
			if run.trace != nil {
				if lost = report.Prose(analysis.LossLine(run.trace)); lost == "" {
					lost = "no losses"
				}
			}
			b.Item(sides[side], lost+"; "+report.Code(show.Name(run.path))+", "+show.Duration(run.length))
		}
		if more := len(list) - 3; more > 0 {
			b.Item(sides[side], "… and "+show.Plural(int64(more), "more run"))
		}
		if t := list[0].trace; t != nil {
			for _, f := range (&analysis.Report{Trace: t}).Run() {
				if slices.Contains([]string{"program", "build", "machine"}, f.Label) && f.Text != "" {
					facts[side][f.Label] = f.Text
					if !slices.Contains(labels, f.Label) {
						labels = append(labels, f.Label)
					}
				}
			}
		}
	}
	for _, l := range labels {
		x, y := facts[0][l], facts[1][l]
		if x == y {
			b.Item(l, "of both "+report.Code(x))
			continue
		}
		for side, text := range []string{x, y} {
			if text == "" {
				text = "unknown"
			}
			b.Item(l+" of "+sides[side], report.Code(text))
		}
	}
}

// firstPlaces returns the place of each name: in B, or else in A.
func (r *Result) firstPlaces() map[string]trace.Place {
	places := map[string]trace.Place{}
	for _, list := range [][]Run{r.b, r.a} {
		if list[0].trace == nil {
			continue
		}
		for name, p := range list[0].trace.FirstPlaces() {
			if places[name].Line == 0 {
				places[name] = p
			}
		}
	}
	return places
}

// briefRows writes rows, the largest change first.
func (r *Result) briefRows(b *report.Brief, rows []*row, places map[string]trace.Place) {
	for i, x := range rows {
		if i == briefRows {
			b.Line("- … and " + show.Plural(int64(len(rows)-i), "more name"))
			return
		}
		c := &x.cells[r.sort]
		text := "- " + report.CodeName(x.name) + " (" + x.kind + ")"
		p := places[x.name]
		if x.nameB != "" {
			text, p = text+", in B "+report.CodeName(x.nameB), places[x.nameB]
		}
		if p.Line > 0 {
			text += " at " + report.SourceLine(p.File, p.Line)
		}
		text += ": " + r.columns[r.sort].Name + " " + r.number(r.sort, middle(c.a)) + " → " + r.number(r.sort, middle(c.b))
		if c.both() {
			text += ", " + r.difference(r.sort, c)
			if change := r.change(r.sort, c); change != "" && change != "~" {
				text += " (" + change + ")"
			}
		}
		if c.confidence > 0 {
			text += ", interval " + r.interval(r.sort, c)
		}
		if others := r.othersOf(x); others != "" {
			text += "; also " + others
		}
		b.Line(text)
	}
}

// othersOf writes the other columns of a row that changed most.
func (r *Result) othersOf(x *row) string {
	var list []int
	for k := range x.cells {
		if _, ok := x.cells[k].ratio(); ok && k != r.sort && r.shows(r.columns[k]) && x.cells[k].differs() {
			list = append(list, k)
		}
	}
	size := func(k int) float64 {
		q, _ := x.cells[k].ratio()
		return math.Abs(math.Log(max(q, 1e-9)))
	}
	slices.SortStableFunc(list, func(i, j int) int {
		switch p, q := size(i), size(j); {
		case p > q:
			return -1
		case p < q:
			return 1
		}
		return 0
	})
	var texts []string
	for _, k := range list[:min(len(list), briefOthers)] {
		texts = append(texts, r.columns[k].Name+" "+r.change(k, &x.cells[k]))
	}
	return strings.Join(texts, ", ")
}

// briefNotes returns the caveats about the rows, each once.
func (r *Result) briefNotes() (list []string) {
	for side, runs := range [][]Run{r.a, r.b} {
		for _, run := range runs {
			for _, n := range run.Notes {
				text := sides[side] + ": " + report.Prose(n)
				if len(list) < briefNotes && !slices.Contains(list, text) {
					list = append(list, text)
				}
			}
		}
	}
	return list
}
