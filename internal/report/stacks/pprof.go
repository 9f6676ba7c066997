package stacks

import (
	"io"

	"github.com/scopeview/scopeview/internal/export/pprof"
	"github.com/scopeview/scopeview/internal/samples"
)

// pprof writes the stacks as a pprof profile with the name as a label.
func (r *found) pprof(w io.Writer) error {
	p := &samples.Profile{
		Metrics: []samples.Metric{{Name: "calls", Unit: samples.Count}, {Name: "weight", Unit: samples.Count}},
		Preset:  "calls", To: r.t.End(),
	}
	frames := map[samples.Frame]*samples.Frame{}
	known := map[uint32][]*samples.Frame{}
	for i := range r.stacks {
		s := &r.stacks[i]
		list, ok := known[s.ID]
		if !ok {
			for _, f := range r.framesOf(s) {
				list = append(list, same(frames, samples.Frame{Func: f.Function, File: f.File, Line: int(f.Line), Start: int(f.Start), Inlined: f.Inlined}))
			}
			if len(list) == 0 {
				list = []*samples.Frame{same(frames, samples.Frame{Func: unknownStack(s)})}
			}
			known[s.ID] = list
		}
		p.Stacks = append(p.Stacks, samples.Stack{Frames: list, Values: []int64{s.Calls, s.Weight}, Labels: samples.Labels{Scope: r.t.Name(s.Name)}})
	}
	return pprof.Write(w, p, pprof.Options{Start: r.t.Start(), Scope: "name"})
}

// same returns the unique frame that is equal to f.
func same(frames map[samples.Frame]*samples.Frame, f samples.Frame) *samples.Frame {
	if frames[f] == nil {
		frames[f] = &f
	}
	return frames[f]
}
