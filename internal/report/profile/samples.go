package profile

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// list is what Samples shows.
type list struct {
	*View
	all []Sample
}

// Sample is what is shown of a samples.Sample. There can be one for each few bytes of a
// trace, and all of them are kept.
type Sample struct {
	time, value int64
	goid        uint64
	row, scope  string
	frames      []*samples.Frame
	thread      uint32
	cpu         int32
	metric      uint16
}

// SampleOf returns what is shown of s.
func SampleOf(s *samples.Sample) Sample {
	of := &s.Labels
	return Sample{s.Time, s.Value, of.Goid, of.Row, of.Scope, s.Frames, of.Thread, s.CPU, s.Metric}
}

// Samples shows samples and waits one by one, by time. The columns of the view choose the
// metrics. It takes over the list, which may be nearly all of the memory.
func Samples(v *View, all []Sample) *Report {
	l := &list{View: v}
	l.all = slices.DeleteFunc(all, func(s Sample) bool { return !l.shown(int(s.metric)) })
	slices.SortStableFunc(l.all, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.goid, b.goid))
	})
	return &Report{report.Report{Text: l.text, Document: l.document()}, l.csv}
}

// shown reports whether one of the columns has a metric.
func (l *list) shown(metric int) bool {
	for _, c := range l.Columns {
		if c.Metric == metric || slices.Contains(l.Metrics[c.Metric].Of, metric) {
			return true
		}
	}
	return false
}

func (l *list) text(b *report.Text) {
	l.Head(b)
	heads := []string{"time", "value", "<metric", "goroutine", "<track", "thread", "cpu", "<scope", "<stack"}
	report.Grid(b, "sample", heads, l.all, func(s Sample) []string {
		return []string{
			show.Duration(s.time), l.length(&s), l.Metrics[s.metric].Name, number(s.goid), name(s.row),
			number(uint64(s.thread)), cpuNumber(s.cpu), name(s.scope), stackText(s.frames),
		}
	})
	if len(l.all) == 0 {
		b.WriteString("no samples\n")
	}
}

// length shows the value of one sample, which may be short.
func (l *list) length(s *Sample) string {
	if l.Metrics[s.metric].Unit == samples.Nanoseconds {
		return show.Duration(s.value)
	}
	return l.Value(int(s.metric), s.value)
}

// name shows a name; none is left out.
func name(text string) string {
	if text == "" {
		return ""
	}
	return report.Name(text)
}

// number shows an id; one that is not known is left out.
func number(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}

// cpuNumber shows a CPU; one that is not known is left out.
func cpuNumber(cpu int32) string {
	if cpu < 0 {
		return ""
	}
	return strconv.Itoa(int(cpu))
}

// stackText shows the innermost frames of a stack.
func stackText(frames []*samples.Frame) string {
	const shown = 4
	var parts []string
	for i, f := range frames {
		if i == shown {
			parts = append(parts, "…")
			break
		}
		text := format.ShortFunction(f.Func)
		if f.Line != 0 {
			text += " " + place(f.File, f.Line)
		}
		parts = append(parts, text)
	}
	return show.Name(strings.Join(parts, " < "))
}

func (l *list) csv(w io.Writer) error {
	return WriteCSV(w, []string{"time_ns", "metric", "value", "goroutine", "thread", "cpu", "track", "scope", "stack"}, func(yield func([]string) bool) {
		for i := range l.all {
			s := &l.all[i]
			var frames []string
			for _, f := range s.frames {
				frames = append(frames, f.Func)
			}
			if !yield([]string{strconv.FormatInt(s.time, 10), l.Metrics[s.metric].Name, strconv.FormatInt(s.value, 10), number(s.goid),
				number(uint64(s.thread)), cpuNumber(s.cpu), s.row, s.scope, strings.Join(frames, ";")}) {
				return
			}
		}
	})
}

// listDocument is the document of samples --json, by time.
type listDocument struct {
	About
	List report.List[sampleJSON] `json:"list"`
}

type sampleJSON struct {
	Time      int64          `json:"time_ns" unit:"ns" says:"when it was, or a wait began"`
	Metric    string         `json:"metric"`
	Value     int64          `json:"value" unit:"as the metric" says:"of a wait its length"`
	Goroutine uint64         `json:"goroutine" unit:"number" says:"0: none, or not known"`
	Thread    uint32         `json:"thread" unit:"number" says:"0: none, or not known"`
	CPU       *int32         `json:"cpu" unit:"number" says:"the system's CPU; null: not known"`
	Track     string         `json:"track" says:"the goroutine's row"`
	Scope     string         `json:"scope" says:"the innermost one"`
	Frames    []report.Frame `json:"frames"`
}

func (l *list) document() *listDocument {
	return &listDocument{l.About(), report.ListOf(l.all, func(s Sample) sampleJSON {
		frames := []report.Frame{}
		for _, f := range s.frames {
			frames = append(frames, report.Frame{Function: f.Func, File: f.File, Line: uint32(f.Line), Inlined: f.Inlined})
		}
		var cpu *int32
		if s.cpu >= 0 {
			cpu = &s.cpu
		}
		return sampleJSON{s.time, l.Metrics[s.metric].Name, s.value, s.goid, s.thread, cpu, s.row, s.scope, frames}
	})}
}
