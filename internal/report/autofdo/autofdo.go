// Package autofdo has the reports about sample profiles in LLVM's text format.
package autofdo

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// showDocument is what show tells of a profile.
type showDocument struct {
	Total     uint64                    `json:"total" unit:"samples" says:"of all functions"`
	Saturated bool                      `json:"saturated" says:"there are more samples than 'total' has room for"`
	Count     int                       `json:"function_count" unit:"count"`
	Functions report.List[functionJSON] `json:"functions"`
}

// functionJSON is a function, the hottest first.
type functionJSON struct {
	Name    string     `json:"name"`
	Total   uint64     `json:"total" unit:"samples" says:"the hottest function comes first"`
	Head    uint64     `json:"head" unit:"samples" says:"of its prologue"`
	Share   float64    `json:"share" unit:"share" says:"of all samples"`
	Lines   int        `json:"line_count" unit:"count" says:"with those of what is inlined into it"`
	Inlined int        `json:"inlined_count" unit:"count" says:"of callees that are inlined into it, and into these"`
	Hottest *lineJSON  `json:"hottest" says:"of its lines and of those inlined into it; null: none was sampled"`
	Calls   []callJSON `json:"calls"` // of all these lines, the most called first
}

// lineJSON is a line of a function.
type lineJSON struct {
	Inlined       string `json:"inlined" says:"the inlined function that the line is of; empty: its own"`
	Offset        uint32 `json:"offset" unit:"lines" says:"from the function's first"`
	Discriminator uint32 `json:"discriminator" unit:"number" says:"0: none"`
	Samples       uint64 `json:"samples" unit:"samples"`
}

// callJSON is a function that was called.
type callJSON struct {
	Name  string `json:"name" says:"the most called comes first"`
	Count uint64 `json:"count" unit:"calls"`
}

// Show reports the functions of a profile.
func Show(p *autofdo.Profile) *report.Report {
	sorted := p.Sorted()
	d := &showDocument{Count: len(sorted)}
	whole := 0.0 // for shares, which are right even where there is no room for the total
	for _, f := range sorted {
		d.Saturated = autofdo.Add(&d.Total, f.Total) || d.Saturated
		whole += float64(f.Total)
	}
	d.Functions = report.ListOf(sorted, func(f *autofdo.Function) functionJSON { return functionOf(f, whole) })
	return &report.Report{Document: d, Text: func(b *report.Text) {
		least := ""
		if d.Saturated {
			least = "at least "
		}
		fmt.Fprintf(b, "%s%d samples in %s\n\n", least, d.Total, show.Plural(int64(d.Count), "function"))
		heads := []string{"total", "%", "head", "lines", "inlined", "hottest line", "<function", "<calls"}
		report.Grid(b, "function", heads, sorted, func(f *autofdo.Function) []string {
			x, hottest := functionOf(f, whole), ""
			if x.Hottest != nil {
				hottest = fmt.Sprintf("%+d: %d", x.Hottest.Offset, x.Hottest.Samples)
				if x.Hottest.Inlined != "" {
					hottest = report.Name(x.Hottest.Inlined) + " " + hottest
				}
			}
			calls := report.First(x.Calls, func(c callJSON) string { return fmt.Sprintf("%s %d", report.Name(c.Name), c.Count) })
			return []string{fmt.Sprint(x.Total), fmt.Sprintf("%.2f", 100*x.Share), fmt.Sprint(x.Head), fmt.Sprint(x.Lines), fmt.Sprint(x.Inlined), hottest, report.Name(x.Name), calls}
		})
	}}
}

func functionOf(f *autofdo.Function, whole float64) functionJSON {
	x := functionJSON{Name: f.Name, Total: f.Total, Head: f.Head, Inlined: -1, Calls: []callJSON{}} // it is not inlined into itself
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
				x.Hottest = &lineJSON{"", at.Offset, at.Disc, l.Samples}
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
		x.Calls = append(x.Calls, callJSON{name, all.Targets[name]})
	}
	return x
}

// overlapDocument is how alike two profiles are.
type overlapDocument struct {
	Base          string                     `json:"base" says:"the first profile's name"`
	Test          string                     `json:"test" says:"the second profile's name"`
	Overlap       float64                    `json:"overlap" unit:"share" says:"as 'llvm-profdata overlap --sample' has it"`
	SampleShare   float64                    `json:"sample_share" unit:"share" says:"of samples that both have"`
	FunctionShare float64                    `json:"function_share" unit:"share" says:"of functions that both have"`
	Functions     report.List[functionAlike] `json:"functions"`
}

// functionAlike is how alike a function is in both.
type functionAlike struct {
	Name    string  `json:"name" says:"the heaviest of the first profile comes first"`
	Overlap float64 `json:"overlap" unit:"share" says:"how alike the function is"`
	Base    float64 `json:"base_share" unit:"share" says:"of the first profile's samples"`
	Test    float64 `json:"test_share" unit:"share" says:"of the second profile's samples"`
}

// Overlap reports how alike two profiles are, as llvm-profdata overlap --sample does.
func Overlap(base, test string, s *autofdo.Similarity) *report.Report {
	d := &overlapDocument{Base: base, Test: test, Overlap: s.Percent / 100, SampleShare: s.Samples.Percent() / 100, FunctionShare: s.Functions.Percent() / 100}
	d.Functions = report.ListOf(s.Of, func(f autofdo.FunctionSimilarity) functionAlike {
		return functionAlike{f.Name, f.Percent / 100, f.BaseWeight / 100, f.TestWeight / 100}
	})
	return &report.Report{Document: d, Text: func(b *report.Text) {
		fmt.Fprintf(b, "overlap %s of %s and %s\n", b.Bold(show.Percent(d.Overlap)), show.Name(base), show.Name(test))
		fmt.Fprintf(b, "of all samples both have %s, of all functions %s\n\n", show.Percent(d.SampleShare), show.Percent(d.FunctionShare))
		report.Grid(b, "function", []string{"alike %", "base %", "test %", "<function"}, s.Of, func(f autofdo.FunctionSimilarity) []string {
			return []string{fmt.Sprintf("%.2f", f.Percent), fmt.Sprintf("%.2f", f.BaseWeight), fmt.Sprintf("%.2f", f.TestWeight), report.Name(f.Name)}
		})
	}}
}
