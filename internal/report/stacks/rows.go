package stacks

import (
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of stacks --json. Keys may be added; none changes its meaning or is
// removed.
type document struct {
	report.Kept
	Names  []name             `json:"names"` // the most calls first
	Stacks report.List[stack] `json:"stacks"`
}

// name is a row for all stacks of a name.
type name struct {
	Name   string `json:"name"`
	Calls  int64  `json:"calls" unit:"calls" says:"the most first"`
	Weight int64  `json:"weight" unit:"sum" says:"of the weights passed by the program"`
	Stacks int64  `json:"stacks" unit:"count"`
}

var names = report.Table{Row: name{}, What: "name", All: true, Text: "name, calls, weight, stacks"}

// stack is a row for a stack, or for all stacks with the same innermost callers.
type stack struct {
	Name   string         `json:"name"`
	Calls  int64          `json:"calls" unit:"calls"`
	Weight int64          `json:"weight" unit:"sum"`
	Share  float64        `json:"share" unit:"0 to 1" says:"of the name's calls"`
	Cut    bool           `json:"cut" says:"the stack is truncated"`
	Frames []report.Frame `json:"frames" head:"called from"` // the caller first; none: (other stacks)

	one *trace.Stack // one of the row's stacks
}

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if len(r.stacks) == 0 {
		b.WriteString("no stacks: nothing called scope.Stack, or --name matches none\n")
		return
	}
	names.Write(b, r.names)
	callers := report.Table{
		Row:  stack{},
		What: "caller", Text: "name=name, calls, share, weight, called from",
		Cells: report.CellsOf(map[string]func(stack) string{"called from": func(s stack) string { return r.calledFrom(s.one) }}),
	}
	b.WriteByte('\n')
	report.WriteRows(&callers, b, r.callers(), func(c caller) stack {
		return stack{Name: r.t.Name(c.one.Name), Calls: c.calls, Weight: c.weight, Share: r.share(c.one.Name, c.calls), one: c.one}
	})
}

// stack returns the row of a stack. Rows must be written one after the other: they share their
// frames.
func (r *found) stack(s trace.Stack) stack {
	if r.listed == nil {
		r.listed = []report.Frame{} // not null
	}
	r.listed = r.listed[:0]
	for _, f := range r.framesOf(&s) {
		r.listed = append(r.listed, report.FrameOf(&f))
	}
	return stack{Name: r.t.Name(s.Name), Calls: s.Calls, Weight: s.Weight, Share: r.share(s.Name, s.Calls), Cut: s.Cut, Frames: r.listed}
}
