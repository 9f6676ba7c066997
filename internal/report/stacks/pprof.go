package stacks

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/format"
)

// pprof writes the stacks as a profile.
func (r *found) pprof(w io.Writer) error {
	b := profiler{functions: map[string]*profile.Function{}, locations: map[[32]byte]*profile.Location{}}
	b.p = &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "weight", Unit: "count"}},
		DefaultSampleType: "calls",
		TimeNanos:         r.t.Start().UnixNano(),
		DurationNanos:     r.t.End(),
		PeriodType:        &profile.ValueType{Type: "calls", Unit: "count"},
		Period:            1,
	}
	known := map[uint32][]*profile.Location{}
	for i := range r.stacks {
		s := &r.stacks[i]
		ls, ok := known[s.ID]
		if !ok {
			frames := r.framesOf(s)
			if len(frames) == 0 {
				frames = []format.Frame{{Function: unknownStack(s)}}
			}
			ls = b.stack(frames)
			known[s.ID] = ls
		}
		b.p.Sample = append(b.p.Sample, &profile.Sample{
			Location: ls,
			Value:    []int64{s.Calls, s.Weight},
			Label:    map[string][]string{"name": {r.t.Name(s.Name)}},
		})
	}
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("making a profile of the stacks: %w", err)
	}
	return b.p.Write(w)
}

// profiler gives out the ids of a profile.
type profiler struct {
	p         *profile.Profile
	functions map[string]*profile.Function
	locations map[[32]byte]*profile.Location // by a hash of all that they are
	key       []byte
}

// inlinedMax is how many functions a location has; those that are inlined into one another
// any deeper have a location each.
const inlinedMax = 64

// stack is the locations of frames. One has several lines where functions were
// inlined, the innermost first.
func (b *profiler) stack(frames []format.Frame) (ls []*profile.Location) {
	for len(frames) > 0 {
		n := 1
		for n < len(frames) && frames[n-1].Inlined {
			n++
		}
		if n > inlinedMax {
			n = 1
		}
		ls = append(ls, b.location(frames[:n]))
		frames = frames[n:]
	}
	return ls
}

func (b *profiler) location(frames []format.Frame) *profile.Location {
	b.key = b.key[:0]
	for i := range frames {
		f := &frames[i]
		b.key = fmt.Appendf(b.key, "%q %q %d\n", f.Function, f.File, f.Line)
	}
	key := sha256.Sum256(b.key)
	if l := b.locations[key]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1)}
	for i := range frames {
		l.Line = append(l.Line, profile.Line{Function: b.function(&frames[i]), Line: int64(frames[i].Line)})
	}
	b.locations[key] = l
	b.p.Location = append(b.p.Location, l)
	return l
}

func (b *profiler) function(f *format.Frame) *profile.Function {
	key := f.Function + "\x00" + f.File
	x := b.functions[key]
	if x == nil {
		x = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
		b.functions[key] = x
		b.p.Function = append(b.p.Function, x)
	}
	if x.StartLine == 0 {
		x.StartLine = int64(f.Start) // not known where it was inlined
	}
	return x
}
