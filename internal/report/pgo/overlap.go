package pgo

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// overlapDocument is how alike two profiles are.
type overlapDocument struct {
	A       string                   `json:"a" says:"the first profile's name"`
	B       string                   `json:"b" says:"the second profile's name"`
	Overlap float64                  `json:"overlap" unit:"share" says:"of the weight that is in the same edges"`
	Common  int                      `json:"common_count" unit:"count" says:"of edges that both have"`
	OnlyA   int                      `json:"only_a_count" unit:"count" says:"of edges that only the first has"`
	OnlyB   int                      `json:"only_b_count" unit:"count" says:"of edges that only the second has"`
	Edges   report.List[differsJSON] `json:"edges"`
}

// differsJSON is an edge with the share that it has in both.
type differsJSON struct {
	Caller string  `json:"caller"`
	Offset int     `json:"offset" unit:"lines" says:"from the caller's first line to the call"`
	Callee string  `json:"callee"`
	A      float64 `json:"share_a" unit:"share" says:"of the first profile's weight"`
	B      float64 `json:"share_b" unit:"share" says:"of the second profile's weight"`
}

// alien is below which overlap two profiles are hardly of one program.
const alien = 0.02

// Overlap reports how alike two profiles are by weight, and the edges that differ most.
func Overlap(nameA, nameB string, a, b *pgo.Edges) *report.Report {
	d := &overlapDocument{A: nameA, B: nameB, Overlap: pgo.Overlap(a, b)}
	var list []differsJSON
	for x, w := range a.Weight {
		if b.Weight[x] > 0 {
			d.Common++
		} else {
			d.OnlyA++
		}
		list = append(list, differsJSON{x.Caller, x.Offset, x.Callee, part(w, a.Total), part(b.Weight[x], b.Total)})
	}
	for x, w := range b.Weight {
		if a.Weight[x] == 0 {
			d.OnlyB++
			list = append(list, differsJSON{x.Caller, x.Offset, x.Callee, 0, part(w, b.Total)})
		}
	}
	slices.SortFunc(list, func(x, y differsJSON) int {
		return cmp.Or(cmp.Compare(math.Abs(y.A-y.B), math.Abs(x.A-x.B)), cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Offset, y.Offset))
	})
	d.Edges = report.ListOf(list, same)
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, list) }}
}

func (d *overlapDocument) text(b *report.Text, list []differsJSON) {
	fmt.Fprintf(b, "overlap %s: of the weight of %s and %s so much is in the same calls\n", b.Bold(show.Percent(d.Overlap)), show.Name(d.A), show.Name(d.B))
	fmt.Fprintf(b, "%s in both, %d only in the first, %d only in the second\n", show.Plural(int64(d.Common), "edge"), d.OnlyA, d.OnlyB)
	if d.Overlap < alien && len(list) > 0 {
		fmt.Fprintf(b, "%s\n", b.Yellow("they have next to nothing in common: these are profiles of two programs, or of builds far apart"))
	}
	b.WriteByte('\n')
	report.Grid(b, "edge", []string{"first %", "second %", "change", "<caller", "line", "<calls"}, list, func(x differsJSON) []string {
		return []string{percent(x.A), percent(x.B), fmt.Sprintf("%+.2f", 100*(x.B-x.A)), report.Name(x.Caller), fmt.Sprintf("%+d", x.Offset), report.Name(x.Callee)}
	})
}
