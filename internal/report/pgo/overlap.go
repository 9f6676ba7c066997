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

// overlapDocument describes the similarity of two profiles.
type overlapDocument struct {
	A       string              `json:"a" says:"the first profile's name"`
	B       string              `json:"b" says:"the second profile's name"`
	Overlap float64             `json:"overlap" unit:"share" says:"of the weight that is in the same edges"`
	Common  int                 `json:"common_count" unit:"count" says:"of edges that both have"`
	OnlyA   int                 `json:"only_a_count" unit:"count" says:"of edges that only the first has"`
	OnlyB   int                 `json:"only_b_count" unit:"count" says:"of edges that only the second has"`
	Edges   report.List[shared] `json:"edges"`
}

// shared is an edge with its share in both profiles.
type shared struct {
	edge
	A float64 `json:"share_a" head:"first %" unit:"share" says:"of the first profile's weight"`
	B float64 `json:"share_b" head:"second %" unit:"share" says:"of the second profile's weight"`

	Change float64 `json:"-" head:"change" unit:"share" signed:""`
}

var shares = report.Table{Row: shared{}, What: "edge", Text: "first %, second %, change, caller, line, calls"}

// alien is the overlap below which two profiles are hardly of one program.
const alien = 0.02

// Overlap reports the similarity of two profiles by weight, and the edges that differ most.
func Overlap(nameA, nameB string, a, b *pgo.Edges) *report.Report {
	d := &overlapDocument{A: nameA, B: nameB, Overlap: pgo.Overlap(a, b)}
	var list []shared
	add := func(x pgo.Edge, a, b float64) {
		list = append(list, shared{edge{x.Caller, x.Offset, x.Callee}, a, b, b - a})
	}
	for x, w := range a.Weight {
		if b.Weight[x] > 0 {
			d.Common++
		} else {
			d.OnlyA++
		}
		add(x, part(w, a.Total), part(b.Weight[x], b.Total))
	}
	for x, w := range b.Weight {
		if a.Weight[x] == 0 {
			d.OnlyB++
			add(x, 0, part(w, b.Total))
		}
	}
	slices.SortFunc(list, func(x, y shared) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Change), math.Abs(x.Change)), cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Offset, y.Offset))
	})
	d.Edges = report.All(list)
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, list) }}
}

func (d *overlapDocument) text(b *report.Text, list []shared) {
	fmt.Fprintf(b, "overlap %s: that share of the weight of %s and %s is in the same calls\n", b.Bold(show.Percent(d.Overlap)), show.Name(d.A), show.Name(d.B))
	fmt.Fprintf(b, "%s in both, %s only in the first, %s only in the second\n", show.Plural(d.Common, "edge"), show.Count(d.OnlyA), show.Count(d.OnlyB))
	if d.Overlap < alien && len(list) > 0 {
		fmt.Fprintf(b, "%s\n", b.Yellow("they have next to nothing in common: these are profiles of two programs, or of builds far apart"))
	}
	shares.WriteAfter(b, list)
}
