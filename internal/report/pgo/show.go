// Package pgo has the reports about profiles for the compiler: the edges in one, the similarity of
// two, how much of one is still in the source, and how the compiler used it.
package pgo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// showDocument is the document of show --json.
type showDocument struct {
	Unit      string                `json:"unit" says:"'samples/count' or 'cpu/nanoseconds'"`
	Total     int64                 `json:"total" unit:"as 'unit' says" says:"of all edges"`
	Duration  int64                 `json:"duration_ns" unit:"ns" says:"duration of the collection; 0: not known"`
	Share     float64               `json:"hot_share" unit:"share" says:"share that the hot edges have, as requested"`
	Count     int                   `json:"edge_count" unit:"count"`
	Hot       int                   `json:"hot_count" unit:"count" says:"of hot edges"`
	Least     int64                 `json:"hot_weight" unit:"as 'unit' says" says:"of the lightest hot edge; 0: there is none"`
	Comments  []string              `json:"comments" says:"the profile's comments, which may name its origin"`
	Edges     report.List[weighed]  `json:"edges"`
	Functions report.List[function] `json:"functions"`
}

// edge is a call.
type edge struct {
	Caller string `json:"caller" says:"by the linker's name"`
	Offset int    `json:"offset" head:"line" unit:"lines" signed:"" says:"from the caller's first line to the call; it may be negative"`
	Callee string `json:"callee" head:"calls" says:"by the linker's name"`
}

// weighed is a call with its share of the weight.
type weighed struct {
	edge
	Weight int64   `json:"weight" unit:"as 'unit' says" says:"the heaviest edge comes first"`
	Share  float64 `json:"share" head:"%" unit:"share" says:"of all weight"`
	Hot    bool    `json:"hot" says:"the compiler considers it hot"`

	Sum float64 `json:"-" head:"sum %" unit:"share"` // of the edges up to this one
}

var edgeTable = report.Table{Row: weighed{}, What: "edge", Text: "weight, %, sum %, =hot, caller, line, calls"}

// function is a callee.
type function struct {
	Name   string  `json:"name"`
	Weight int64   `json:"weight" unit:"as 'unit' says" says:"of all calls of it"`
	Share  float64 `json:"share" head:"%" unit:"share" says:"of all weight"`
	Hot    bool    `json:"hot" says:"a hot edge leads to it"`
}

var functionTable = report.Table{Row: function{}, What: "function", Text: "weight, %, =hot, called function=name"}

// Show reports the edges that the compiler reads from a profile. The heaviest ones, which together
// have share percent of the weight, are hot.
func Show(p *pgo.Profile, e *pgo.Edges, share float64) *report.Report {
	sorted := e.Sorted()
	hot := 0
	if e.Total > 0 {
		hot = e.Hot(sorted, share)
	}
	d := &showDocument{
		Unit: string(p.Unit), Total: e.Total, Duration: int64(p.Duration), Share: share / 100, Count: len(sorted), Hot: hot, Comments: append([]string{}, p.Comments...),
	}
	if hot > 0 {
		d.Least = e.Weight[sorted[hot-1]]
	}
	sum := int64(0)
	rows := make([]weighed, len(sorted))
	for i, x := range sorted {
		w := e.Weight[x]
		sum += w
		rows[i] = weighed{edge{x.Caller, x.Offset, x.Callee}, w, part(w, e.Total), i < hot, part(sum, e.Total)}
	}
	calls := called(rows, e.Total)
	d.Edges, d.Functions = report.All(rows), report.All(calls)
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, rows, calls) }}
}

func part(of, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// called sums up the edges by callee, the heaviest first.
func called(edges []weighed, total int64) (list []function) {
	index := map[string]int{}
	for _, x := range edges {
		i, ok := index[x.Callee]
		if !ok {
			i = len(list)
			index[x.Callee] = i
			list = append(list, function{Name: x.Callee})
		}
		list[i].Weight += x.Weight
		list[i].Hot = list[i].Hot || x.Hot
	}
	for i := range list {
		list[i].Share = part(list[i].Weight, total)
	}
	slices.SortStableFunc(list, func(a, b function) int { return cmp.Compare(b.Weight, a.Weight) })
	return list
}

// amount formats a weight for people.
func amount(unit string, n int64) string {
	if unit == string(pgo.Nanoseconds) {
		return show.Duration(n)
	}
	return show.Plural(n, "sample")
}

func (d *showDocument) text(b *report.Text, rows []weighed, called []function) {
	long := ""
	if d.Duration > 0 {
		long = ", sampled for " + show.Duration(d.Duration)
	}
	fmt.Fprintf(b, "%s with a weight of %s%s; the compiler considers the %s heaviest hot: %s of it\n", show.Plural(d.Count, "edge"),
		amount(d.Unit, d.Total), long, show.Count(d.Hot), show.Percent(d.Share))
	for _, c := range d.Comments {
		fmt.Fprintf(b, "%s\n", b.Dim("from "+show.Name(c)))
	}
	if d.Count == 0 {
		b.WriteString("no call in it has a known caller and line: the compiler can't use it\n")
		return
	}
	edges, functions := edgeTable, functionTable
	if d.Unit == string(pgo.Nanoseconds) {
		edges.Cells = report.CellsOf(map[string]func(weighed) string{"weight": func(x weighed) string { return show.Duration(x.Weight) }})
		functions.Cells = report.CellsOf(map[string]func(function) string{"weight": func(x function) string { return show.Duration(x.Weight) }})
	}
	edges.WriteAfter(b, rows)
	functions.WriteAfter(b, called)
}
