package profile

import (
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// Values holds a value of each metric of a profile. In documents they are by the metric's name,
// without those that are 0.
type Values struct {
	profile *samples.Profile
	list    []int64 // as those of a samples.Stack; nil: not in the data, which is null in documents
}

// Of returns the value of a metric.
func (v Values) Of(metric int) int64 {
	if v.list == nil {
		return 0
	}
	return v.profile.Value(v.list, metric)
}

func (v Values) names() map[string]int64 {
	m := map[string]int64{}
	if v.list != nil {
		for i := range v.profile.Metrics {
			if x := v.Of(i); x != 0 {
				m[v.profile.Metrics[i].Name] = x
			}
		}
	}
	return m
}

// MarshalJSON implements json.Marshaler.
func (v Values) MarshalJSON() ([]byte, error) {
	if v.list == nil {
		return []byte("null"), nil
	}
	return report.Marshal(v.names())
}

// Costs are the columns that all rows have.
type Costs struct {
	Exclusive Values   `json:"exclusive" unit:"as the metric" says:"by metric, those that are not 0; null: not in the data"`
	Inclusive Values   `json:"inclusive" unit:"as the metric" says:"as 'exclusive'"`
	AtLeast   []string `json:"at_least,omitempty" says:"metrics whose inclusive values are lower bounds: some truncated stacks lack it"`
}

// Costs returns the columns of a sum; c is nil if the row is not in the data.
func (v *View) Costs(c *callgraph.Cost) Costs {
	if c == nil {
		return Costs{}
	}
	x := Costs{Values{v.Profile, c.Excl}, Values{v.Profile, c.Incl}, nil}
	for m := range v.Metrics {
		if c.AtLeast(v.Profile, m) {
			x.AtLeast = append(x.AtLeast, v.Metrics[m].Name)
		}
	}
	return x
}

// Of returns the value of a column.
func (c Costs) Of(x callgraph.Column) int64 {
	if x.Inclusive {
		return c.Inclusive.Of(x.Metric)
	}
	return c.Exclusive.Of(x.Metric)
}

// InData reports whether the samples contain the row, even with values of 0.
func (c Costs) InData() bool { return c.Exclusive.list != nil }

func (c Costs) costs() Costs { return c }

// total returns the costs of <Total>.
func (v *View) total() Costs {
	if v.all == nil {
		all := v.Costs(callgraph.TotalCost(v.Profile))
		v.all = &all
	}
	return *v.all
}

// Whole returns the value that shares of a metric are relative to: its total, or Metric.Whole.
func (v *View) Whole(metric int) int64 {
	if n := v.Metrics[metric].Whole; n > 0 {
		return n
	}
	return v.total().Inclusive.Of(metric)
}

// Value formats a value of a metric as the original does: times in seconds with three decimals,
// others as whole numbers. "0." is zero, and "0.000" a value too small to be shown.
func (v *View) Value(metric int, x int64) string {
	switch {
	case x == 0:
		return "0."
	case v.Metrics[metric].Unit == samples.Nanoseconds:
		return show.Seconds(x)
	}
	return show.Count(x)
}

// Cell formats the value of a column, and its share of Whole in percent.
func (v *View) Cell(c callgraph.Column, x Costs) (value, share string) {
	n, all := x.Of(c), v.Whole(c.Metric)
	if share = "0."; n != 0 && all != 0 {
		share = show.Hundredths(float64(n) / float64(all))
	}
	mark := ""
	if c.Inclusive {
		mark = v.mark(c.Metric, x)
	}
	return mark + v.Value(c.Metric, n), mark + share
}

// mark returns the sign before an inclusive value that is a lower bound.
func (v *View) mark(metric int, x Costs) string {
	if slices.Contains(x.AtLeast, v.Metrics[metric].Name) {
		return report.AtLeast.String()
	}
	return ""
}

// Heads returns the heads of the columns' cells.
func (v *View) Heads() (heads []string) {
	for _, c := range v.Columns {
		head := "e."
		if c.Inclusive {
			head = "i."
		}
		head += v.Metrics[c.Metric].Name
		if heads = append(heads, head); c.Percent {
			heads = append(heads, "%")
		}
	}
	return heads
}

// Cells formats a cost for all columns.
func (v *View) Cells(x Costs) (cells []string) {
	for _, c := range v.Columns {
		value, share := v.Cell(c, x)
		if cells = append(cells, value); c.Percent {
			cells = append(cells, share)
		}
	}
	return cells
}

// Groups returns the columns of rows that embed Costs: metrics are those of the view, and exact
// those of a CSV, which has all metrics.
func Groups[R interface{ costs() Costs }](v *View) map[string]report.Group {
	return map[string]report.Group{
		"metrics": report.GroupOf(v.Heads(), func(r R) []string { return v.Cells(r.costs()) }),
		"exact": exact(v, []string{"exclusive", "inclusive"}, func(r R) []Values {
			return []Values{r.costs().Exclusive, r.costs().Inclusive}
		}),
	}
}

// exact returns a column for each kind and metric, such as exclusive_cpu and inclusive_cpu.
func exact[R any](v *View, kinds []string, of func(R) []Values) report.Group {
	var heads []string
	for i := range v.Metrics {
		for _, kind := range kinds {
			heads = append(heads, kind+"_"+v.Metrics[i].Name)
		}
	}
	return report.GroupOf(heads, func(row R) (cells []string) {
		values := of(row)
		for i := range v.Metrics {
			for _, x := range values {
				cells = append(cells, strconv.FormatInt(x.Of(i), 10))
			}
		}
		return cells
	})
}
