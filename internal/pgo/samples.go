package pgo

import (
	"errors"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// ErrNoCPU reports that samples have no CPU time.
var ErrNoCPU = errors.New("it has no CPU time: record it with scope.Start(path, gotrace.With()), or from outside with scopeview record")

// kernel is the load object of frames that are not the program's.
const kernel = "[kernel]"

// OfSamples returns a profile of the CPU time of samples of one executable, the object of their
// frames. Their stacks must end where goroutines begin, because a go statement is not a call. If
// at is not nil it returns the functions at a frame's address, with the linker's names. The error
// is ErrNoCPU or ErrOverflow.
func OfSamples(s *samples.Profile, object string, at func(f *samples.Frame) []symbols.Place) (*Profile, error) {
	m := s.Metric("cpu")
	if m < 0 {
		return nil, ErrNoCPU
	}
	p := New(Nanoseconds)
	p.Duration = time.Duration(max(s.To-s.From, 0))
	for i := range s.Stacks {
		x := &s.Stacks[i]
		weight := s.Value(x.Values, m)
		frames := x.Frames
		for len(frames) > 1 && frames[0].Object == kernel { // the call into it is the program's
			frames = frames[1:]
		}
		if weight <= 0 || !slices.ContainsFunc(frames, func(f *samples.Frame) bool { return f.Object == object }) {
			continue
		}
		if err := p.addStack(frames, at, weight); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Profile) addStack(frames []*samples.Frame, at func(f *samples.Frame) []symbols.Place, weight int64) error {
	leaf, n := placeOf(frames, at)
	switch {
	case n == len(frames):
		return p.Add(leaf, nil, false, weight)
	case frames[n].Func == samples.UnknownCallerName || frames[n].Func == samples.TruncatedName:
		return p.AddLost(leaf, weight)
	}
	caller, _ := placeOf(frames[n:], at)
	return p.Add(leaf, caller, frames[0].PC == frames[n].PC, weight)
}

// placeOf returns the innermost place of a stack, and the number of its frames.
func placeOf(frames []*samples.Frame, at func(f *samples.Frame) []symbols.Place) (place Place, n int) {
	if at != nil {
		for _, x := range at(frames[0]) {
			place = append(place, Frame{Func: x.Func, File: x.File, Start: x.Start, Line: x.Line})
		}
		if n = len(place); n > 0 && n <= len(frames) && alike(place, frames) {
			return place, n
		}
		place = place[:0]
	}
	for n = 0; n < len(frames); n++ {
		f := frames[n]
		x := Frame{Func: f.Symbol(), File: f.File, Start: f.Start, Line: f.Line}
		if f.Func == samples.UnknownName {
			x = Frame{}
		}
		place = append(place, x)
		if !f.Inlined {
			n++
			break
		}
	}
	return place, n
}

// alike reports whether the functions and lines from the executable agree with those of the
// samples, so that the address belongs to it.
func alike(place Place, frames []*samples.Frame) bool {
	for i := range place {
		f := frames[i]
		if symbols.PrintName(place[i].Func) != symbols.PrintName(f.Symbol()) || f.Line != 0 && f.Line != place[i].Line {
			return false
		}
	}
	return true
}
