// Package autofdo has the reports about sample profiles in LLVM's text format.
package autofdo

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// showDocument is the document of show --json.
type showDocument struct {
	Total     uint64                `json:"total" unit:"samples" says:"of all functions"`
	Saturated bool                  `json:"saturated" says:"the samples exceed the range of 'total'"`
	Count     int                   `json:"function_count" unit:"count"`
	Functions report.List[function] `json:"functions"`
}

// function is a function, the hottest first.
type function struct {
	Name    string  `json:"name"`
	Total   uint64  `json:"total" unit:"samples" says:"the hottest function comes first"`
	Head    uint64  `json:"head" unit:"samples" says:"of its prologue"`
	Share   float64 `json:"share" head:"%" unit:"share" says:"of all samples"`
	Lines   int     `json:"line_count" head:"lines" unit:"count" says:"with those of inlined callees"`
	Inlined int     `json:"inlined_count" head:"inlined" unit:"count" says:"callees that are inlined into it, directly or not"`
	Hottest *line   `json:"hottest" head:"hottest line" says:"its own or an inlined one; null: none was sampled"`
	Calls   []call  `json:"calls"` // of all these lines, the most called first
}

var functions = report.Table{
	Row:  function{},
	What: "function", Text: "total, %, head, lines, inlined, hottest line, name, calls",
	Cells: report.CellsOf(map[string]func(function) string{"hottest line": function.hottest, "calls": function.calls}),
}

func (x function) hottest() string {
	if x.Hottest == nil {
		return "-"
	}
	text := fmt.Sprintf("+%d: %s", x.Hottest.Offset, show.Count(x.Hottest.Samples))
	if x.Hottest.Inlined != "" {
		text = report.Name(x.Hottest.Inlined) + " " + text
	}
	return text
}

func (x function) calls() string {
	return report.First(x.Calls, func(c call) string { return report.Name(c.Name) + " " + show.Count(c.Count) })
}

// line is a line of a function.
type line struct {
	Inlined       string `json:"inlined" says:"the inlined function that has the line; empty: the function itself"`
	Offset        uint32 `json:"offset" unit:"lines" says:"from the function's first"`
	Discriminator uint32 `json:"discriminator" unit:"number" says:"0: none"`
	Samples       uint64 `json:"samples" unit:"samples"`
}

// call is a function that was called.
type call struct {
	Name  string `json:"name" says:"the most called comes first"`
	Count uint64 `json:"count" unit:"calls"`
}

// Show reports the functions of a profile.
func Show(p *autofdo.Profile) *report.Report {
	sorted := p.Sorted()
	d := &showDocument{Count: len(sorted)}
	whole := 0.0 // for shares, which stay right even if the total overflows
	for _, f := range sorted {
		d.Saturated = autofdo.Add(&d.Total, f.Total) || d.Saturated
		whole += float64(f.Total)
	}
	rows := report.RowsOf(sorted, func(f *autofdo.Function) function { return functionOf(f, whole) })
	d.Functions = report.All(rows)
	return &report.Report{Document: d, Text: func(b *report.Text) {
		least := ""
		if d.Saturated {
			least = "at least "
		}
		fmt.Fprintf(b, "%s%s in %s\n\n", least, show.Plural(d.Total, "sample"), show.Plural(d.Count, "function"))
		functions.Write(b, rows)
	}}
}

func functionOf(f *autofdo.Function, whole float64) function {
	x := function{Name: f.Name, Total: f.Total, Head: f.Head, Inlined: -1, Calls: []call{}} // it is not inlined into itself
	if whole > 0 {
		x.Share = float64(f.Total) / whole
	}
	all := autofdo.Line{Targets: map[string]uint64{}}
	f.Walk(func(in *autofdo.Function) {
		x.Inlined++
		x.Lines += len(in.Lines)
		for _, at := range in.SortedLines() {
			l := in.Lines[at]
			if x.Hottest == nil || l.Samples > x.Hottest.Samples {
				x.Hottest = &line{"", at.Offset, at.Disc, l.Samples}
				if in != f {
					x.Hottest.Inlined = in.Name
				}
			}
			for name, n := range l.Targets {
				count := all.Targets[name]
				autofdo.Add(&count, n)
				all.Targets[name] = count
			}
		}
	})
	for _, name := range all.SortedTargets() {
		x.Calls = append(x.Calls, call{name, all.Targets[name]})
	}
	return x
}

// overlapDocument is the document of overlap --json.
type overlapDocument struct {
	Base          string             `json:"base" says:"the first profile's name"`
	Test          string             `json:"test" says:"the second profile's name"`
	Overlap       float64            `json:"overlap" unit:"share" says:"as 'llvm-profdata overlap --sample' prints"`
	SampleShare   float64            `json:"sample_share" unit:"share" says:"of samples that both have"`
	FunctionShare float64            `json:"function_share" unit:"share" says:"of functions that both have"`
	Functions     report.List[alike] `json:"functions"`
}

// alike is the similarity of a function in both profiles.
type alike struct {
	Name    string  `json:"name" says:"the heaviest of the first profile comes first"`
	Overlap float64 `json:"overlap" head:"alike %" unit:"share" says:"similarity of the function"`
	Base    float64 `json:"base_share" head:"base %" unit:"share" says:"of the first profile's samples"`
	Test    float64 `json:"test_share" head:"test %" unit:"share" says:"of the second profile's samples"`
}

var alikes = report.Table{Row: alike{}, What: "function", Text: "alike %, base %, test %, name"}

// Overlap reports the similarity of two profiles, as llvm-profdata overlap --sample does.
func Overlap(base, test string, s *autofdo.Similarity) *report.Report {
	d := &overlapDocument{Base: base, Test: test, Overlap: s.Percent / 100, SampleShare: s.Samples.Percent() / 100, FunctionShare: s.Functions.Percent() / 100}
	rows := report.RowsOf(s.Of, func(f autofdo.FunctionSimilarity) alike {
		return alike{f.Name, f.Percent / 100, f.BaseWeight / 100, f.TestWeight / 100}
	})
	d.Functions = report.All(rows)
	return &report.Report{Document: d, Text: func(b *report.Text) {
		fmt.Fprintf(b, "overlap %s of %s and %s\n", b.Bold(show.Percent(d.Overlap)), show.Name(base), show.Name(test))
		fmt.Fprintf(b, "in common: %s of all samples, %s of all functions\n\n", show.Percent(d.SampleShare), show.Percent(d.FunctionShare))
		alikes.Write(b, rows)
	}}
}
