package report

import (
	"context"
	"math"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// View is a report as named rows of numbers, which compare compares between recordings.
type View struct {
	Columns []Column // rows are sorted by the first one by default
	// Sampled says that a name in no sample of a run has the value 0 there, not unknown.
	Sampled bool
	// Rows reads the selected part of a trace.
	Rows func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*Figures, error)
}

// Column is a column of a view.
type Column struct {
	Name  string // contains no . + or -, which NAME.COLUMN+10% needs
	Unit  Unit
	Grows bool // with the length of the recording
	Worse bool // more of it is worse
	Part  bool // it is a part of Figures.Whole
}

// Unit is the unit of a number.
type Unit string

// Units.
const (
	Nanoseconds Unit = "ns"
	Count       Unit = "count"
	Share       Unit = "0 to 1"
	Ratio       Unit = "ratio"
)

// Figures are the rows of one recording.
type Figures struct {
	Rows  []Row
	Notes []string  // caveats about the rows
	Whole []float64 // the whole of each column with Part; nil or NaN: not known, as when rows were selected
}

// SetWhole makes the sum of a column, over all rows that know it, the whole of other columns.
func (f *Figures) SetWhole(of int, columns ...int) {
	sum := 0.0
	for _, r := range f.Rows {
		if v := r.Values[of]; v == v {
			sum += v
		}
	}
	for _, c := range columns {
		for len(f.Whole) <= c {
			f.Whole = append(f.Whole, NaN)
		}
		f.Whole[c] = sum
	}
}

// Row holds a view's values for one name. Names must be the same in another build.
type Row struct {
	Name, Kind string
	Values     []float64 // by column; NaN: not known, or not applicable

	// Function and Code are set for an instruction: the function that contains it, and an
	// identification of that function's code. Instructions are compared only if the code is the
	// same in all runs; so their names are matched exactly.
	Function, Code string
}

// NaN is the value of unknowns. Each comparison with it is false.
var NaN = math.NaN()

// Or returns v if ok, else NaN.
func Or[T int64 | float64](v T, ok bool) float64 {
	if !ok {
		return NaN
	}
	return float64(v)
}

// Length returns the length of the selected part of a trace in ns, without the part that a ring has
// overwritten.
func Length(t *trace.Trace, sel *analysis.Selection) int64 {
	to := t.End()
	if sel.To > 0 {
		to = min(to, sel.To)
	}
	return max(to-max(sel.From, t.Overwritten().Until, 0), 0)
}
