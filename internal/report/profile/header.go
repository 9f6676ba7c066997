package profile

import (
	"io"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

var metrics = report.Table{Row: metric{}, What: "metric", All: true, Text: "metric, total, unit, how, what", CSV: "metric, total, unit, how, title=what"}

// header lists the metrics of a profile.
func header(v *View) *Report {
	d := &headerDocument{v.About(), v.Binary, v.BuildID, v.From, v.To}
	return &Report{report.Report{Text: func(b *report.Text) { v.header(b, d.Metrics) }, Document: d}, func(w io.Writer) error {
		return report.WriteCSV(&metrics, w, report.All(d.Metrics))
	}}
}

// how returns the origin of a metric's values.
func how(m *samples.Metric) string {
	switch {
	case m.Of != nil:
		return "sum"
	case m.Sampled:
		return "sampled"
	}
	return "recorded"
}

func (v *View) header(b *report.Text, list []metric) {
	if v.Trace != nil {
		b.Health(v.Trace)
	}
	b.WriteString(show.Plural(v.Samples, "sample"))
	if v.To > 0 {
		b.WriteString(" from " + show.Duration(v.From) + " to " + show.Duration(v.To))
	}
	if v.Binary != "" {
		b.WriteString(" of " + show.Name(v.Binary))
	}
	b.WriteByte('\n')
	for _, n := range v.Notes {
		b.WriteString(show.Text(n) + "\n")
	}
	b.WriteByte('\n')
	table := metrics
	table.Cells = report.CellsOf(map[string]func(metric) string{
		"total": func(m metric) string { return v.Value(m.at, m.Total) },
		"unit":  func(m metric) string { return v.unit(m.at) },
		"what":  func(m metric) string { return show.Name(m.Title) },
	})
	table.Write(b, list)
}

// headerDocument is the document of header --json.
type headerDocument struct {
	About
	Binary  string `json:"binary" says:"the executable's path; empty: not known"`
	BuildID string `json:"build_id" says:"of the executable; empty: not known"`
	From    int64  `json:"from_ns" unit:"ns" says:"begin of the time that samples cover"`
	To      int64  `json:"to_ns" unit:"ns"`
}
