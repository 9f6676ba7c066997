package main

import (
	"github.com/scopeview/scopeview/internal/trace"
)

// stacksJSON is the document of stacks --json. Keys may be added; none changes
// its meaning or goes away.
type stacksJSON struct {
	Lost   map[string]int64  `json:"lost"`           // total, and by reason
	Ring   *ringJSON         `json:"ring,omitempty"` // absent: the trace is none
	Names  []stackSumJSON    `json:"names"`          // the most calls first, as stacks
	Stacks stream[stackJSON] `json:"stacks"`
}

type stackSumJSON struct {
	Name   string `json:"name"`
	Calls  int64  `json:"calls"`
	Weight int64  `json:"weight"`
	Stacks int64  `json:"stacks"`
}

type stackJSON struct {
	Name   string      `json:"name"`
	Calls  int64       `json:"calls"`
	Weight int64       `json:"weight"`
	Share  float64     `json:"share"`  // of the name's calls
	Cut    bool        `json:"cut"`    // there were more callers
	Frames []frameJSON `json:"frames"` // the caller first; none: (other stacks)
}

type frameJSON struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Inlined  bool   `json:"inlined"` // into the next frame's function
}

func (r *stacksReport) json() *stacksJSON {
	j := &stacksJSON{Lost: lostJSON(r.t), Ring: ringDocument(r.t), Names: []stackSumJSON{}, Stacks: streamOf(r.stacks, r.stackJSON)}
	for _, n := range r.sums {
		j.Names = append(j.Names, stackSumJSON{r.t.Name(n.name), n.calls, n.weight, n.stacks})
	}
	return j
}

func (r *stacksReport) stackJSON(s trace.Stack) stackJSON {
	x := stackJSON{Name: r.t.Name(s.Name), Calls: s.Calls, Weight: s.Weight, Share: r.share(s.Name, s.Calls), Cut: s.Cut}
	if r.listed == nil {
		r.listed = []frameJSON{} // not null
	}
	r.listed = r.listed[:0]
	for _, f := range r.framesOf(&s) {
		r.listed = append(r.listed, frameJSON{f.Function, f.File, f.Line, f.Inlined})
	}
	x.Frames = r.listed // one stack is written after the other
	return x
}
