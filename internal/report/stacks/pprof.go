package stacks

import (
	"io"

	"github.com/scopeview/scopeview/internal/export/pprof"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// pprof writes the stacks as a pprof profile with the name as a label.
func (r *found) pprof(w io.Writer) error {
	p := &samples.Profile{
		Metrics: []samples.Metric{{Name: "calls", Unit: samples.Count}, {Name: "weight", Unit: samples.Count}},
		Preset:  "calls", To: r.t.End(),
	}
	frames := map[symbols.Frame]*symbols.Frame{}
	known := map[uint32][]*symbols.Frame{}
	for i := range r.stacks {
		s := &r.stacks[i]
		list, ok := known[s.ID]
		if !ok {
			for _, f := range r.framesOf(s) {
				list = append(list, same(frames, f))
			}
			if len(list) == 0 {
				list = []*symbols.Frame{same(frames, symbols.Frame{Func: unknownStack(s)})}
			}
			known[s.ID] = list
		}
		p.Stacks = append(p.Stacks, samples.Stack{Frames: list, Values: []int64{s.Calls, s.Weight}, Labels: samples.Labels{Scope: r.t.Name(s.Name)}})
	}
	return pprof.Write(w, p, pprof.Options{Start: r.t.Start(), Scope: "name"})
}

// same returns the unique frame that is equal to f.
func same(frames map[symbols.Frame]*symbols.Frame, f symbols.Frame) *symbols.Frame {
	if frames[f] == nil {
		frames[f] = &f
	}
	return frames[f]
}
