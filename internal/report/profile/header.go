package profile

import (
	"io"
	"strconv"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// header is what Header shows.
type header struct {
	*View
	totals []int64
}

// Header shows which metrics there are.
func Header(v *View) *Report {
	h := &header{v, v.Total()}
	a := v.About()
	return &Report{report.Report{Text: h.text, Document: &headerDocument{a, v.Binary, v.BuildID, v.From, v.To}}, h.csv}
}

// how says how a metric is known.
func how(m *samples.Metric) string {
	switch {
	case m.Of != nil:
		return "sum"
	case m.Sampled:
		return "sampled"
	}
	return "recorded"
}

func (h *header) text(b *report.Text) {
	if h.Trace != nil {
		b.Health(h.Trace)
	}
	b.WriteString(show.Plural(h.Samples, "sample"))
	if h.To > 0 {
		b.WriteString(" from " + show.Duration(h.From) + " to " + show.Duration(h.To))
	}
	if h.Binary != "" {
		b.WriteString(" of " + show.Name(h.Binary))
	}
	b.WriteByte('\n')
	for _, n := range h.Notes {
		b.WriteString(show.Text(n) + "\n")
	}
	b.WriteByte('\n')
	var list []int
	for i := range h.Metrics {
		list = append(list, i)
	}
	report.Grid(b, "", []string{"<metric", "total", "<unit", "<how", "<what"}, list, func(i int) []string {
		m := &h.Metrics[i]
		unit := string(m.Unit)
		if m.Unit == samples.Nanoseconds {
			unit = "seconds"
		}
		return []string{show.Name(m.Name), h.Value(i, h.Profile.Value(h.totals, i)), unit, how(m), show.Name(m.Title)}
	})
}

func (h *header) csv(w io.Writer) error {
	return WriteCSV(w, []string{"metric", "total", "unit", "how", "title"}, func(yield func([]string) bool) {
		for i := range h.Metrics {
			m := &h.Metrics[i]
			if !yield([]string{m.Name, strconv.FormatInt(h.Profile.Value(h.totals, i), 10), string(m.Unit), how(m), m.Title}) {
				return
			}
		}
	})
}

// headerDocument is the document of header --json.
type headerDocument struct {
	About
	Binary  string `json:"binary" says:"the executable's path; empty: not known"`
	BuildID string `json:"build_id" says:"of the executable; empty: not known"`
	From    int64  `json:"from_ns" unit:"ns" says:"from when on samples tell"`
	To      int64  `json:"to_ns" unit:"ns"`
}
