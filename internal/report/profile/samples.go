package profile

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// A Sample is the row of a sample or a wait. There can be one for every few bytes of a trace, and
// all of them are kept in memory.
type Sample struct {
	Time      int64      `json:"time_ns" unit:"ns" says:"of the sample, or of the wait's begin"`
	Metric    string     `json:"metric"`
	Value     int64      `json:"value" unit:"as the metric" says:"of a wait its length"`
	Goroutine uint64     `json:"goroutine" unit:"number" zero:"" says:"0: none, or not known"`
	Thread    uint32     `json:"thread" unit:"number" zero:"" says:"0: none, or not known"`
	CPU       report.Int `json:"cpu" unit:"number" zero:"" says:"the system's CPU; null: not known"`
	Track     string     `json:"track" zero:"" says:"the goroutine's row"`
	Scope     string     `json:"scope" zero:"" says:"the innermost one"`
	Frames    Stack      `json:"frames" head:"stack"`

	metric uint16
}

// SampleOf returns the row of s, without the metric's name.
func SampleOf(s *samples.Sample) Sample {
	of := &s.Labels
	return Sample{
		Time: s.Time, Value: s.Value, Goroutine: of.Goid, Thread: of.Thread, CPU: report.Known(int64(s.CPU), s.CPU >= 0),
		Track: of.Track, Scope: of.Scope, Frames: s.Frames, metric: s.Metric,
	}
}

var list = report.Table{
	Row:  Sample{},
	What: "sample", Text: "time, value, metric, goroutine, track, thread, cpu, scope, stack",
	CSV: "time_ns=time, metric, value, goroutine, thread, cpu, track, scope, stack",
}

// listDocument is the document of samples --json, by time.
type listDocument struct {
	About
	List report.List[Sample] `json:"list"`
}

// oneByOne shows View.List by time. The columns of the view choose the metrics.
func oneByOne(v *View) *Report {
	shown := make([]bool, len(v.Metrics))
	for _, c := range v.Columns {
		shown[c.Metric] = true
		for _, m := range v.Metrics[c.Metric].Of {
			shown[m] = true
		}
	}
	v.List = slices.DeleteFunc(v.List, func(s Sample) bool { return !shown[s.metric] })
	for i := range v.List {
		v.List[i].Metric = v.Metrics[v.List[i].metric].Name
	}
	slices.SortStableFunc(v.List, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	d := &listDocument{v.About(), report.All(v.List)}
	return &Report{report.Report{Text: v.list, Document: d}, func(w io.Writer) error { return report.WriteCSV(&list, w, d.List) }}
}

func (v *View) list(b *report.Text) {
	v.Head(b)
	table := list
	table.Cells = report.CellsOf(map[string]func(Sample) string{
		"stack": func(s Sample) string { return s.Frames.text() },
		"value": func(s Sample) string {
			if v.Metrics[s.metric].Unit == samples.Nanoseconds {
				return show.Duration(s.Value) // it may be short
			}
			return v.Value(int(s.metric), s.Value)
		},
	})
	table.Write(b, v.List)
	if len(v.List) == 0 {
		b.WriteString("no samples\n")
	}
}

// A Stack is the frames of a sample, the leaf first.
type Stack []*symbols.Frame

// MarshalJSON implements json.Marshaler.
func (s Stack) MarshalJSON() ([]byte, error) {
	return report.Marshal(report.RowsOf(s, report.FrameOf))
}

// text shows the innermost frames.
func (s Stack) text() string {
	const shown = 4
	var parts []string
	for _, f := range s[:min(len(s), shown)] {
		parts = append(parts, f.String())
	}
	if len(s) > shown {
		parts = append(parts, "…")
	}
	return show.Name(strings.Join(parts, " < "))
}

// Exact returns the functions, leaf first, separated by ";", for CSV.
func (s Stack) Exact() string {
	return strings.Join(report.RowsOf(s, func(f *symbols.Frame) string { return f.Func }), ";")
}
