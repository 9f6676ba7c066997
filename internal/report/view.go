package report

import (
	"context"
	"math"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// View is a report as named rows of numbers: by these recordings are compared.
type View struct {
	Columns []Column // rows are sorted by the first, if nobody says otherwise
	// Sampled says that who is in no sample of a run has 0 there, and is not unknown.
	Sampled bool
	// Rows reads the part of a trace that is wanted.
	Rows func(ctx context.Context, t *trace.Trace, sel *analysis.Selection) (*Figures, error)
}

// Column is what a view tells of each row.
type Column struct {
	Name  string // without . + and -, which NAME.COLUMN+10% needs
	Unit  Unit
	Grows bool // with the length of the recording
	Worse bool // more of it is worse
	Part  bool // it is a part of Figures.Whole
}

// Unit is what a number counts.
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
	Notes []string  // what limits them
	Whole []float64 // by column, of those that are a part of it; nil or NaN: not known, as where rows were chosen
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

// Row is what a view tells under one name. Names have to be those of another build too.
type Row struct {
	Name, Kind string
	Values     []float64 // by column; NaN where it is not known, or there is no such thing

	// Function and Code are of an instruction: the function that has it, and what identifies all of that
	// function's code. It is compared where the code is the same in all runs; so its name is taken as it is.
	Function, Code string
}

// NaN is the value of what is not known. It is a NaN, so a comparison with it is false.
var NaN = math.NaN()

// Or returns a value that is known if ok.
func Or[T int64 | float64](v T, ok bool) float64 {
	if !ok {
		return NaN
	}
	return float64(v)
}

// Length returns the time that a selection has of a trace, in ns. What a ring has
// overwritten does not count.
func Length(t *trace.Trace, sel *analysis.Selection) int64 {
	to := t.End()
	if sel.To > 0 {
		to = min(to, sel.To)
	}
	return max(to-max(sel.From, t.Overwritten().Until, 0), 0)
}
