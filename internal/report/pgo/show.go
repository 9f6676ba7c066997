// Package pgo has the reports about profiles for the compiler: what it sees in one, how alike
// two are, what of one is still in the source, and what the compiler made of it.
package pgo

import (
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// showDocument is what show tells of a profile.
type showDocument struct {
	Unit      string                    `json:"unit" says:"'samples/count' or 'cpu/nanoseconds'"`
	Total     int64                     `json:"total" unit:"as 'unit' says" says:"of all edges"`
	Duration  int64                     `json:"duration_ns" unit:"ns" says:"in which it was collected; 0: not known"`
	Share     float64                   `json:"hot_share" unit:"share" says:"that the hot edges have, as was asked for"`
	Count     int                       `json:"edge_count" unit:"count"`
	Hot       int                       `json:"hot_count" unit:"count" says:"of hot edges"`
	Least     int64                     `json:"hot_weight" unit:"as 'unit' says" says:"of the lightest hot edge; 0: there is none"`
	Comments  []string                  `json:"comments" says:"where the profile is from"`
	Edges     report.List[edgeJSON]     `json:"edges"`
	Functions report.List[functionJSON] `json:"functions"`
}

// edgeJSON is a call.
type edgeJSON struct {
	Caller string  `json:"caller" says:"by the linker's name"`
	Offset int     `json:"offset" unit:"lines" says:"from the caller's first line to the call; it may be negative"`
	Callee string  `json:"callee" says:"by the linker's name"`
	Weight int64   `json:"weight" unit:"as 'unit' says" says:"the heaviest edge comes first"`
	Share  float64 `json:"share" unit:"share" says:"of all weight"`
	Hot    bool    `json:"hot" says:"the compiler takes it for hot"`
}

// functionJSON is a function that is called.
type functionJSON struct {
	Name   string  `json:"name"`
	Weight int64   `json:"weight" unit:"as 'unit' says" says:"of all calls of it"`
	Share  float64 `json:"share" unit:"share" says:"of all weight"`
	Hot    bool    `json:"hot" says:"a hot edge leads to it"`
}

// Show reports what the compiler sees in a profile, with the cut at share percent.
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
	edges := make([]edgeJSON, len(sorted))
	for i, x := range sorted {
		edges[i] = edgeJSON{x.Caller, x.Offset, x.Callee, e.Weight[x], part(e.Weight[x], e.Total), i < hot}
	}
	functions := called(edges, e.Total)
	d.Edges, d.Functions = report.ListOf(edges, same), report.ListOf(functions, same)
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, edges, functions) }}
}

func same[T any](x T) T { return x }

func part(of, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// called sums the edges up by what is called, the heaviest first.
func called(edges []edgeJSON, total int64) (list []functionJSON) {
	index := map[string]int{}
	for _, x := range edges {
		i, ok := index[x.Callee]
		if !ok {
			i = len(list)
			index[x.Callee] = i
			list = append(list, functionJSON{Name: x.Callee})
		}
		list[i].Weight += x.Weight
		list[i].Hot = list[i].Hot || x.Hot
	}
	for i := range list {
		list[i].Share = part(list[i].Weight, total)
	}
	slices.SortStableFunc(list, func(a, b functionJSON) int {
		switch {
		case a.Weight > b.Weight:
			return -1
		case a.Weight < b.Weight:
			return 1
		}
		return 0
	})
	return list
}

// amount returns a weight for people.
func amount(unit string, n int64) string {
	if unit == string(pgo.Nanoseconds) {
		return show.Duration(n)
	}
	return show.Plural(n, "sample")
}

func (d *showDocument) text(b *report.Text, edges []edgeJSON, functions []functionJSON) {
	long := ""
	if d.Duration > 0 {
		long = ", sampled for " + show.Duration(d.Duration)
	}
	fmt.Fprintf(b, "%s with a weight of %s%s; the compiler takes the %d heaviest for hot: %s of it\n", show.Plural(int64(d.Count), "edge"),
		amount(d.Unit, d.Total), long, d.Hot, show.Percent(d.Share))
	for _, c := range d.Comments {
		fmt.Fprintf(b, "%s\n", b.Dim("from "+show.Name(c)))
	}
	if d.Count == 0 {
		b.WriteString("it has no call whose caller and line are known: the compiler has nothing to go by\n")
		return
	}
	b.WriteByte('\n')
	sum := int64(0)
	weight := func(n int64) string {
		if d.Unit == string(pgo.Nanoseconds) {
			return show.Duration(n)
		}
		return fmt.Sprint(n)
	}
	report.Grid(b, "edge", []string{"weight", "%", "sum %", "<", "<caller", "line", "<calls"}, edges, func(x edgeJSON) []string {
		sum += x.Weight
		return []string{weight(x.Weight), percent(x.Share), percent(part(sum, d.Total)), hotMark(x.Hot), report.Name(x.Caller), fmt.Sprintf("%+d", x.Offset), report.Name(x.Callee)}
	})
	b.WriteByte('\n')
	report.Grid(b, "function", []string{"weight", "%", "<", "<called function"}, functions, func(x functionJSON) []string {
		return []string{weight(x.Weight), percent(x.Share), hotMark(x.Hot), report.Name(x.Name)}
	})
}

func hotMark(hot bool) string {
	if hot {
		return "hot"
	}
	return ""
}

func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }
