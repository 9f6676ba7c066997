package stacks

import (
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of stacks --json. Keys may be added; none changes
// its meaning or goes away.
type document struct {
	report.Kept
	Names  []sum              `json:"names"` // the most calls first, as stacks
	Stacks report.List[stack] `json:"stacks"`
}

type sum struct {
	Name   string `json:"name"`
	Calls  int64  `json:"calls" unit:"calls" says:"the most first"`
	Weight int64  `json:"weight" unit:"sum" says:"of the weights that the program gave"`
	Stacks int64  `json:"stacks" unit:"count"`
}

type stack struct {
	Name   string         `json:"name"`
	Calls  int64          `json:"calls" unit:"calls"`
	Weight int64          `json:"weight" unit:"sum"`
	Share  float64        `json:"share" unit:"0 to 1" says:"of the name's calls"`
	Cut    bool           `json:"cut" says:"there were more callers"`
	Frames []report.Frame `json:"frames"` // the caller first; none: (other stacks)
}

func (r *found) document() *document {
	d := &document{Kept: report.KeptOf(r.t), Names: []sum{}, Stacks: report.ListOf(r.stacks, r.stack)}
	for _, n := range r.sums {
		d.Names = append(d.Names, sum{r.t.Name(n.name), n.calls, n.weight, n.stacks})
	}
	return d
}

func (r *found) stack(s trace.Stack) stack {
	x := stack{Name: r.t.Name(s.Name), Calls: s.Calls, Weight: s.Weight, Share: r.share(s.Name, s.Calls), Cut: s.Cut}
	if r.listed == nil {
		r.listed = []report.Frame{} // not null
	}
	r.listed = r.listed[:0]
	for _, f := range r.framesOf(&s) {
		r.listed = append(r.listed, report.Frame{Function: f.Function, File: f.File, Line: f.Line, Inlined: f.Inlined})
	}
	x.Frames = r.listed // one stack is written after the other
	return x
}
