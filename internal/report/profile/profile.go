// Package profile shows samples: by function, line, object, goroutine, thread, row and
// scope, with callers and callees, as a tree, one by one, and what the slowest executions of
// a scope did that others did not.
package profile

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// View is what of a profile is shown, and how.
type View struct {
	*samples.Profile
	Trace   *trace.Trace // nil: the profile is not of a recording
	Columns []callgraph.Column
	Sort    callgraph.Column
	Names   glob.Filter // of functions

	all *callgraph.Cost // of <Total>, once somebody asked
}

// Report is a view that can be a table for a spreadsheet too.
type Report struct {
	report.Report
	CSV func(w io.Writer) error
}

// NewView returns the view of columns, and of what one sorts by, in the words of
// callgraph.ParseColumns. Without sort that is the first column.
func NewView(p *samples.Profile, t *trace.Trace, columns, sort string, names glob.Filter) (*View, error) {
	v := &View{Profile: p, Trace: t, Names: names}
	var err error
	if v.Columns, err = callgraph.ParseColumns(p, columns); err != nil {
		return nil, err
	}
	if sort == "" {
		if len(v.Columns) > 0 {
			v.Sort = v.Columns[0]
		}
		return v, nil
	}
	list, err := callgraph.ParseColumns(p, sort)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%q are %d metrics to sort by; give one", sort, len(list))
	}
	v.Sort = list[0]
	return v, nil
}

// Value shows a value of a metric as the original does: times in seconds with three
// decimals, others as whole numbers. 0. is nothing at all, and 0.000 less than can be shown.
func (v *View) Value(metric int, x int64) string {
	if x == 0 {
		return "0."
	}
	if v.Metrics[metric].Unit == samples.Nanoseconds {
		return strconv.FormatFloat(float64(x)/float64(time.Second), 'f', 3, 64)
	}
	return show.Count(x)
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

// cells returns what the columns show of a cost.
func (v *View) cells(x *callgraph.Cost) (cells []string) {
	for _, c := range v.Columns {
		value, share := v.Cell(c, x)
		if cells = append(cells, value); c.Percent {
			cells = append(cells, share)
		}
	}
	return cells
}

// Cell shows what a column has of a cost, and the share of <Total>.
func (v *View) Cell(c callgraph.Column, x *callgraph.Cost) (value, share string) {
	mark := ""
	if c.Inclusive {
		mark = v.least(x, c.Metric)
	}
	return mark + v.Value(c.Metric, c.Of(v.Profile, x)), mark + v.Share(c, x)
}

// least returns what an inclusive metric is marked with: "≥" where it may be more.
func (v *View) least(x *callgraph.Cost, metric int) string {
	if x.AtLeast(v.Profile, metric) {
		return "≥"
	}
	return ""
}

// AtLeast returns the names of the metrics whose inclusive values may be more.
func (v *View) AtLeast(x *callgraph.Cost) (names []string) {
	for m := range v.Metrics {
		if x.AtLeast(v.Profile, m) {
			names = append(names, v.Metrics[m].Name)
		}
	}
	return names
}

// total returns the costs of <Total>.
func (v *View) total() *callgraph.Cost {
	if v.all == nil {
		v.all = callgraph.TotalCost(v.Profile)
	}
	return v.all
}

// Whole returns what shares of a metric are of: its total, or Metric.Whole.
func (v *View) Whole(metric int) int64 {
	if n := v.Metrics[metric].Whole; n > 0 {
		return n
	}
	return v.Profile.Value(v.total().Incl, metric)
}

// Share shows what a cost has of the whole, which <Total> has where no value is negative, in percent.
func (v *View) Share(c callgraph.Column, x *callgraph.Cost) string {
	n, all := c.Of(v.Profile, x), v.Whole(c.Metric)
	if all == 0 || n == 0 {
		return "0."
	}
	return strconv.FormatFloat(100*float64(n)/float64(all), 'f', 2, 64)
}

// Head writes what is to be known of the data, and more of it.
func (v *View) Head(b *report.Text, more ...string) {
	if v.Trace != nil {
		b.Health(v.Trace)
	}
	for _, n := range slices.Concat(v.Notes, more) {
		b.WriteString(b.Dim(show.Text(n)) + "\n")
	}
	for _, m := range v.metrics() {
		v.whole(b, m)
	}
	if units := v.units(); units != "" {
		b.WriteString(b.Dim(units) + "\n")
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
}

// metrics returns those of the columns, each once.
func (v *View) metrics() (list []int) {
	for _, c := range v.Columns {
		if !slices.Contains(list, c.Metric) {
			list = append(list, c.Metric)
		}
	}
	return list
}

// whole says what shares of a metric are of, where that is not its total.
func (v *View) whole(b *report.Text, metric int) {
	if x := &v.Metrics[metric]; x.Whole > 0 {
		fmt.Fprintln(b, b.Dim(show.Name(fmt.Sprintf("%s: shares are of %s, %s: some values are negative, as in the difference of two profiles", x.Name, x.WholeOf, v.Value(metric, x.Whole)))))
	}
}

// units says what the columns are.
func (v *View) units() (text string) {
	for i, at := range v.metrics() {
		m := &v.Metrics[at]
		if i > 0 {
			text += "; "
		}
		unit := string(m.Unit)
		if m.Unit == samples.Nanoseconds {
			unit = "seconds"
		}
		text += m.Name + ": " + m.Title + ", in " + unit
	}
	return show.Name(text)
}

// metric is a metric in a document.
type metric struct {
	Name    string `json:"name" says:"as '-m' has it"`
	Title   string `json:"title" says:"for people"`
	Unit    string `json:"unit" says:"'nanoseconds', 'bytes', 'count', or as a pprof profile says"`
	Sampled bool   `json:"sampled" says:"an estimate of samples; otherwise each event was recorded"`
	Total   int64  `json:"total" unit:"as the metric"`
	Whole   int64  `json:"whole,omitempty" unit:"as the metric" says:"what shares are of where values are negative: the absolute sum, or the base's of 'pprof -diff_base'; absent: of the total"`
}

// About is what each document begins with.
type About struct {
	report.Kept
	Samples int64    `json:"samples" unit:"samples" says:"that were read, waits included"`
	Notes   []string `json:"notes" says:"sentences: what is not known, how far the rest can be believed"`
	Metrics []metric `json:"metrics"`
}

// About returns what the document of a view begins with.
func (v *View) About() About {
	a := About{Samples: v.Samples, Notes: append([]string{}, v.Notes...)}
	if v.Trace != nil {
		a.Kept = report.KeptOf(v.Trace)
	}
	total := v.Total()
	for i := range v.Metrics {
		m := &v.Metrics[i]
		a.Metrics = append(a.Metrics, metric{m.Name, m.Title, string(m.Unit), m.Sampled, v.Profile.Value(total, i), m.Whole})
	}
	return a
}

// Values returns what is not 0, by the metric's name.
func (v *View) Values(of []int64) map[string]int64 {
	m := map[string]int64{}
	for i := range v.Metrics {
		if x := v.Profile.Value(of, i); x != 0 {
			m[v.Metrics[i].Name] = x
		}
	}
	return m
}

// ExactHeads adds the heads of all metrics to those of a table with exact numbers: of each one
// exclusive_cpu, inclusive_cpu, or whatever the kinds are.
func (v *View) ExactHeads(heads []string, kinds ...string) []string {
	for i := range v.Metrics {
		for _, kind := range kinds {
			heads = append(heads, kind+"_"+v.Metrics[i].Name)
		}
	}
	return heads
}

// ExactCells adds what belongs below such heads, of each kind by metric; see Values.
func (v *View) ExactCells(cells []string, kinds ...map[string]int64) []string {
	for i := range v.Metrics {
		for _, of := range kinds {
			cells = append(cells, strconv.FormatInt(of[v.Metrics[i].Name], 10))
		}
	}
	return cells
}

// least is the head of the last column of such a table: the metrics whose inclusive values may be
// more, see AtLeast.
const least = "at_least"

// leastCell returns what belongs below it.
func (v *View) leastCell(x *callgraph.Cost) string { return strings.Join(v.AtLeast(x), " ") }

// WriteCSV writes a table with exact numbers.
func WriteCSV(w io.Writer, heads []string, rows func(yield func([]string) bool)) error {
	c := csv.NewWriter(w)
	err := c.Write(heads)
	for row := range rows {
		if err == nil {
			err = c.Write(row)
		}
	}
	c.Flush()
	if err == nil {
		err = c.Error()
	}
	return err
}
