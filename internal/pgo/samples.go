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
func OfSamples(s *samples.Profile, object string, at func(f *symbols.Frame) []symbols.Frame) (*Profile, error) {
	m := s.Metric("cpu")
	if m < 0 {
		return nil, ErrNoCPU
	}
	p := New(Nanoseconds)
	r := sampleReader{s, at, p}
	p.Duration = time.Duration(max(s.To-s.From, 0))
	for i := range s.Stacks {
		x := &s.Stacks[i]
		weight := s.Value(x.Values, m)
		frames := x.Frames
		for len(frames) > 1 && frames[0].Object == kernel { // the call into it is the program's
			frames = frames[1:]
		}
		if weight <= 0 || !slices.ContainsFunc(frames, func(f *symbols.Frame) bool { return f.Object == object }) {
			continue
		}
		if err := r.add(frames, weight); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// sampleReader adds samples to a profile.
type sampleReader struct {
	from *samples.Profile
	at   func(f *symbols.Frame) []symbols.Frame // may be nil
	to   *Profile
}

func (r *sampleReader) add(frames []*symbols.Frame, weight int64) error {
	leaf, n := r.location(frames)
	switch {
	case n == len(frames):
		return r.to.Add(leaf, nil, false, weight)
	case frames[n].Func == samples.UnknownCallerName || frames[n].Func == samples.TruncatedName:
		return r.to.AddLost(leaf, weight)
	}
	caller, _ := r.location(frames[n:])
	return r.to.Add(leaf, caller, frames[0].PC == frames[n].PC, weight)
}

// location returns the innermost location of a stack, and the number of its frames.
func (r *sampleReader) location(frames []*symbols.Frame) (location Location, n int) {
	if r.at != nil {
		location = r.at(frames[0])
		if n = len(location); n > 0 && n <= len(frames) && r.alike(location, frames) {
			return location, n
		}
		location = nil
	}
	for n = 0; n < len(frames); n++ {
		f := frames[n]
		x := *f
		if x.Func = r.from.Symbol(f); x.Func == samples.UnknownName {
			x = symbols.Frame{}
		}
		location = append(location, x)
		if !f.Inlined {
			n++
			break
		}
	}
	return location, n
}

// alike reports whether the functions and lines from the executable agree with those of the
// samples, so that the address belongs to it.
func (r *sampleReader) alike(location Location, frames []*symbols.Frame) bool {
	for i := range location {
		f := frames[i]
		if symbols.PrintName(location[i].Func) != symbols.PrintName(r.from.Symbol(f)) || f.Line != 0 && f.Line != location[i].Line {
			return false
		}
	}
	return true
}
