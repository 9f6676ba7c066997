// Package compare compares the rows of a view in two recordings, or in several runs a side: both
// values, the difference, the ratio, and an interval if there are enough runs for one.
package compare

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/trace"
)

// Run holds the rows of a view for one recording.
type Run struct {
	*report.Figures
	trace  *trace.Trace // nil: it is a profile, or a Go execution trace
	path   string
	length int64 // ns that the rows cover
}

// Read reads the view's rows of the trace t from the file path. The trace must stay open until the
// comparison is written.
func Read(ctx context.Context, v *report.View, t *trace.Trace, path string, sel *analysis.Selection) (Run, error) {
	f, err := v.Rows(ctx, t, sel)
	return Run{f, t, path, report.Length(t, sel)}, err
}

// Plain returns a run with these figures, for a file that is not a recording.
func Plain(f *report.Figures, path string, length int64) Run { return Run{f, nil, path, length} }

// column is a column of a view, or the same per second of recording, or as a share of the whole.
type column struct {
	report.Column
	own       int // its index in the view
	perSecond bool
	share     bool
}

func columnsOf(v *report.View) (list []column) {
	for i, c := range v.Columns {
		list = append(list, column{Column: c, own: i})
		if c.Grows {
			c.Name, c.Unit, c.Grows = c.Name+"/s", c.Unit+"/s", false
			list = append(list, column{c, i, true, false})
		}
		if c := v.Columns[i]; c.Part {
			list = append(list, column{report.Column{Name: c.Name + "%", Unit: report.Share, Worse: c.Worse}, i, false, true})
		}
	}
	return list
}

// Columns lists the names of the columns that are compared in a view.
func Columns(v *report.View) (names []string) {
	for _, c := range columnsOf(v) {
		names = append(names, c.Name)
	}
	return names
}

// Result is the result of a comparison.
type Result struct {
	view    string
	a, b    []Run
	columns []column
	sampled bool   // as in View
	sort    int    // the column that rows are sorted by
	rows    []*row // that both sides have, the largest change first
	oneSide []*row // that only one side has
}

// row is the comparison of one name.
type row struct {
	name, kind string
	nameB      string // on side B, if it is another
	runs       [2]int // the numbers of runs of A and of B that have it
	cells      []cell // by column
}

// cell is a column of a row.
type cell struct {
	a, b       []float64 // the known values of the runs, sorted
	low, high  float64   // of the difference
	confidence float64   // of the interval; 0: there is none
	several    bool      // there are enough runs for an interval in all
	lengths    bool      // the sides differ only because the lengths of the recordings do
}

// Of compares the runs a with the runs b: their rows in the view of that name, sorted by the column
// order.
func Of(a, b []Run, name string, v *report.View, order string) *Result {
	all := sameCode(slices.Concat(a, b))
	a, b = all[:len(a)], all[len(a):]
	r := &Result{view: name, a: a, b: b, columns: columnsOf(v), sampled: v.Sampled, sort: slices.Index(Columns(v), order)}
	known := runs.Intervals{}
	zero := r.absent(all)
	for _, f := range match(all, len(a)) {
		if x := r.row(f, all, zero, known); x.runs[0] > 0 && x.runs[1] > 0 {
			r.rows = append(r.rows, x)
		} else {
			r.oneSide = append(r.oneSide, x)
		}
	}
	slices.SortStableFunc(r.rows, func(x, y *row) int {
		p, q := &x.cells[r.sort], &y.cells[r.sort]
		return cmp.Or(cmp.Compare(q.rank(), p.rank()), cmp.Compare(math.Abs(q.difference()), math.Abs(p.difference())), cmp.Compare(x.name, y.name))
	})
	slices.SortStableFunc(r.oneSide, func(x, y *row) int {
		p, q := &x.cells[r.sort], &y.cells[r.sort]
		return cmp.Or(cmp.Compare(y.runs[0], x.runs[0]), cmp.Compare(middle(slices.Concat(q.a, q.b)), middle(slices.Concat(p.a, p.b))), cmp.Compare(x.name, y.name))
	})
	return r
}

// absent returns the values that sampled runs have for a name that they do not list: 0 in the
// columns that are known for any name. It returns nil for other runs, where such values are
// unknown.
func (r *Result) absent(all []Run) (zero []*report.Row) {
	for _, run := range all {
		var none *report.Row
		if r.sampled {
			none = &report.Row{}
			for k := range r.columns[len(r.columns)-1].own + 1 {
				some := slices.ContainsFunc(run.Rows, func(x report.Row) bool { return !math.IsNaN(x.Values[k]) })
				none.Values = append(none.Values, report.Or(0.0, some))
			}
		}
		zero = append(zero, none)
	}
	return zero
}

// row gathers the values of a name. zero holds the values assumed for a run that does not list the
// name, if another run of its side does.
func (r *Result) row(f *found, all []Run, zero []*report.Row, known runs.Intervals) *row {
	x := &row{name: f.name, kind: f.kind, cells: make([]cell, len(r.columns))}
	in := [2]bool{f.in(0, len(r.a)), f.in(len(r.a), len(all))}
	for i, of := range f.rows {
		side := 0
		if i >= len(r.a) {
			side = 1
		}
		if of != nil {
			x.runs[side]++
			if side == 1 && of.Name != x.name {
				x.nameB = of.Name
			}
		} else if in[side] {
			of = zero[i]
		}
		if of != nil {
			x.add(side, of, &all[i], r.columns)
		}
	}
	for i := range x.cells {
		c := &x.cells[i]
		slices.Sort(c.a)
		slices.Sort(c.b)
		if c.several = r.several(); len(c.a) > 1 && len(c.b) > 1 {
			c.low, c.high, c.confidence = known.Of(c.a, c.b)
		}
	}
	r.lengthsAlone(x)
	return x
}

// lengthsAlone marks the cells that differ because one recording is longer: a sum whose rate is
// about equal, and a rate whose sum is. A program that did the same work and then was idle does not
// work more slowly. If one sum of a row, such as the count, is about equal, the length explains
// none of its sums that grew.
func (r *Result) lengthsAlone(x *row) {
	if !r.lengthsDiffer() {
		return
	}
	equal := false
	for k, c := range r.columns {
		if !c.perSecond {
			continue
		}
		rate, sum := &x.cells[k], &x.cells[k-1] // the column before is the sum
		p, ok1 := rate.ratio()
		q, ok2 := sum.ratio()
		if !ok1 || !ok2 || p <= 0 || q <= 0 {
			continue
		}
		byRate, bySum := math.Abs(math.Log(p)), math.Abs(math.Log(q))
		rate.lengths, sum.lengths = bySum < byRate/4, byRate < bySum/4
		equal = equal || rate.lengths
	}
	for k, c := range r.columns {
		if equal && !c.perSecond {
			x.cells[k].lengths = false
		}
	}
}

// of returns the value of a row of a run.
func (c *column) of(r *report.Row, run *Run) float64 {
	v := r.Values[c.own]
	switch {
	case c.perSecond:
		return report.Or(v/(float64(run.length)/1e9), run.length > 0)
	case c.share && (c.own >= len(run.Whole) || !(run.Whole[c.own] > 0)):
		return report.NaN
	case c.share:
		return v / run.Whole[c.own]
	}
	return v
}

// add adds a run's known values to a side.
func (x *row) add(side int, of *report.Row, run *Run, columns []column) {
	for k := range columns {
		v := columns[k].of(of, run)
		switch cell := &x.cells[k]; {
		case math.IsNaN(v):
		case side == 0:
			cell.a = append(cell.a, v)
		default:
			cell.b = append(cell.b, v)
		}
	}
}

// middle returns the median of sorted values, or NaN if there are none.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return report.NaN
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (c *cell) difference() float64 { return middle(c.b) - middle(c.a) }

// both reports whether the value is known on both sides.
func (c *cell) both() bool { return len(c.a) > 0 && len(c.b) > 0 }

// ratio returns b / a; ok is false where there is none.
func (c *cell) ratio() (q float64, ok bool) {
	a := middle(c.a)
	return middle(c.b) / a, c.both() && a != 0
}

// differs reports whether the sides differ; with several runs, by more than chance explains.
func (c *cell) differs() bool {
	if c.lengths {
		return false
	}
	if c.several {
		return c.confidence > 0 && (c.low > 0 || c.high < 0)
	}
	return c.both() && c.difference() != 0
}

// unsure reports whether the sides may differ, but the runs can't show it.
func (c *cell) unsure() bool {
	same := c.confidence > 0 && c.low == 0 && c.high == 0
	return c.several && c.both() && !c.lengths && !c.differs() && !same
}

// rank sorts cells that differ first, and unknown ones last.
func (c *cell) rank() int {
	switch {
	case c.differs():
		return 2
	case c.both():
		return 1
	}
	return 0
}

// same reports whether a row is known to have the same values on both sides. It ignores shares,
// which also change when other rows do.
func (r *Result) same(x *row) bool {
	for k := range x.cells {
		c := &x.cells[k]
		if !r.columns[k].share && (len(c.a) > 0 != (len(c.b) > 0) || c.both() && (c.a[0] != c.b[len(c.b)-1] || c.b[0] != c.a[len(c.a)-1])) {
			return false
		}
	}
	return true
}

// several reports whether there are runs for an interval.
func (r *Result) several() bool { return len(r.a) > 1 && len(r.b) > 1 }
