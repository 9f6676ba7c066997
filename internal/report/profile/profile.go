// Package profile shows samples: by function, line, object, goroutine, thread, row and scope, with
// callers and callees, as a tree, one by one, and what the slowest executions of a scope did that
// others did not.
package profile

import (
	"fmt"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// View selects the part of a profile to show, its columns and their order.
type View struct {
	*samples.Profile
	Trace   *trace.Trace // nil: the profile is not of a recording
	Columns []callgraph.Column
	Sort    callgraph.Column
	Names   glob.Filter // of functions
	Least   float64     // minimum share of the total for a call of Tree
	List    []Sample    // of Samples, which consumes it: it may be nearly all of the memory

	all *Costs // of <Total>; nil: not summed up yet
}

// Report is a view with a CSV form.
type Report struct {
	report.Report
	CSV func(w io.Writer) error
}

// NewView returns a view with columns and a sort column, in the syntax of callgraph.ParseColumns.
// The default of sort is the first column.
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

// Head writes the notes and the units of the data.
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

// metrics returns the metrics of the columns, each once.
func (v *View) metrics() (list []int) {
	for _, c := range v.Columns {
		if !slices.Contains(list, c.Metric) {
			list = append(list, c.Metric)
		}
	}
	return list
}

// unit returns the unit in which values of a metric are shown.
func (v *View) unit(metric int) string {
	if v.Metrics[metric].Unit == samples.Nanoseconds {
		return "seconds"
	}
	return string(v.Metrics[metric].Unit)
}

// whole writes what shares of a metric are relative to, if that is not its total.
func (v *View) whole(b *report.Text, metric int) {
	if x := &v.Metrics[metric]; x.Whole > 0 {
		fmt.Fprintln(b, b.Dim(show.Name(fmt.Sprintf("%s: shares are of %s, %s: some values are negative, as in the difference of two profiles", x.Name, x.WholeOf, v.Value(metric, x.Whole)))))
	}
}

// units describes the columns.
func (v *View) units() (text string) {
	for i, at := range v.metrics() {
		m := &v.Metrics[at]
		if i > 0 {
			text += "; "
		}
		text += m.Name + ": " + m.Title + ", in " + v.unit(at)
	}
	return show.Name(text)
}

// metric is a metric in a document.
type metric struct {
	Name    string `json:"name" head:"metric" says:"as in '-m'"`
	Title   string `json:"title" head:"what" says:"for people"`
	Unit    string `json:"unit" says:"'nanoseconds', 'bytes', 'count', or as a pprof profile says"`
	Sampled bool   `json:"sampled" says:"an estimate from samples; otherwise each event was recorded"`
	Total   int64  `json:"total" unit:"as the metric"`
	Whole   int64  `json:"whole,omitempty" unit:"as the metric" says:"the base of shares where values are negative: the absolute sum, or the base's of 'pprof -diff_base'; absent: the total"`

	How string `json:"-" head:"how"` // the origin of its values
	at  int
}

// About begins each document.
type About struct {
	report.Kept
	Samples int64    `json:"samples" unit:"samples" says:"number read, waits included"`
	Notes   []string `json:"notes" says:"sentences: unknowns, and how reliable the rest is"`
	Metrics []metric `json:"metrics"`
}

// About returns the begin of a view's document, with more notes.
func (v *View) About(more ...string) About {
	a := About{Samples: v.Samples, Notes: slices.Concat([]string{}, v.Notes, more)}
	if v.Trace != nil {
		a.Kept = report.KeptOf(v.Trace)
	}
	total := v.Total()
	for i := range v.Metrics {
		m := &v.Metrics[i]
		a.Metrics = append(a.Metrics, metric{m.Name, m.Title, string(m.Unit), m.Sampled, v.Profile.Value(total, i), m.Whole, how(m), i})
	}
	return a
}
