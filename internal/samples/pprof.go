package samples

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/symbols"
)

// OfPprof reads a profile in pprof's format, compressed or not, of runtime/pprof or of
// another tool. Its sample types become the metrics. It has no times, so a Selection can't
// use them.
func OfPprof(ctx context.Context, in io.Reader, sel *Selection) (*Profile, error) {
	if sel.Processes != nil || !sel.anytime() {
		return nil, fmt.Errorf("%w: a pprof profile has no times, processes, goroutines, rows or CPUs", errNotRecorded)
	}
	q, err := profile.Parse(in)
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	s := newSum()
	s.prune(q)
	n := 0 // never reset: a profile may have very many types of one name
	for i, t := range q.SampleType {
		name := cmp.Or(t.Type, "samples")
		m := Metric{Name: name, Title: name, Unit: cmp.Or(Unit(t.Unit), Count), Sampled: true}
		n = max(n, i)
		for _, twice := s.metrics[m.Name]; twice; _, twice = s.metrics[m.Name] {
			m.Name = name + strconv.Itoa(n)
			n++
		}
		s.metric(m)
	}
	if len(s.p.Metrics) == 0 {
		return nil, errors.New("reading the profile: it has no sample types")
	}
	s.p.Preset, s.p.Inlined = s.p.Metrics[presetOf(q)].Name, true
	if len(q.Mapping) > 0 {
		s.p.Binary, s.p.BuildID = q.Mapping[0].File, q.Mapping[0].BuildID
	}
	s.p.To = q.DurationNanos
	locations, limit := map[*profile.Location][]uint32{}, limitOf(q)
	var ids []uint32
	for _, x := range q.Sample {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids = ids[:0]
		for _, l := range x.Location {
			fs, ok := locations[l]
			if !ok {
				fs = s.location(q, l)
				locations[l] = fs
			}
			ids = append(ids, fs...)
		}
		if len(ids) == 0 {
			ids = append(ids, s.frameID(symbols.Frame{}))
		}
		if len(ids) == limit && !begins[s.frame[ids[limit-1]].Func] {
			ids = append(ids, s.frameID(symbols.Frame{Func: TruncatedName}))
		}
		k := stackKey{stack: s.stack(ids), labels: s.label(Labels{})}
		if !s.wantsObject(sel, k.stack) {
			continue
		}
		base := x.DiffBaseSample()
		for m, v := range x.Value {
			s.add(k, m, v)
			if base {
				s.weights[m].base += max(v, -v)
			}
		}
		s.p.Samples++
	}
	return s.profile()
}

// prune removes the frames that the profile's own drop_frames and keep_frames declare
// uninteresting, as pprof does before it shows anything.
func (s *sum) prune(q *profile.Profile) {
	if q.DropFrames == "" {
		return
	}
	note := "left out, as the profile asks for: calls below functions that match its drop_frames, " + strconv.Quote(q.DropFrames)
	if q.KeepFrames != "" {
		note += ", and not its keep_frames, " + strconv.Quote(q.KeepFrames)
	}
	if err := q.RemoveUninteresting(); err != nil {
		note = "nothing is left out of it, though the profile asks for that: " + err.Error()
	}
	s.p.Notes = append(s.p.Notes, note)
}

// limits are the maximum numbers of frames of a stack: of Go's heap and lock profiles before
// 1.23, of Go's CPU profiles, of Linux's, and of Go's others.
var limits = []int{32, 64, 127, 128}

// begins are functions without callers of interest.
var begins = map[string]bool{"runtime.main": true, "runtime.goexit": true, "runtime.mstart": true, "runtime.mcall": true, "runtime.systemstack": true, "_start": true, "main": true}

// limitOf returns the limit of a profile's stacks, or 0. The format does not have it;
// several stacks exactly as deep as one of limits, and none deeper, are no accident.
func limitOf(q *profile.Profile) int {
	most, n := 0, 0
	for _, x := range q.Sample {
		depth := 0
		for _, l := range x.Location {
			depth += max(len(l.Line), 1)
		}
		switch {
		case depth > most:
			most, n = depth, 1
		case depth == most:
			n++
		}
	}
	if n > 1 && slices.Contains(limits, most) {
		return most
	}
	return 0
}

// presetOf returns the index of the sample type that pprof shows first: the last, unless the
// profile names another.
func presetOf(q *profile.Profile) int {
	i := slices.IndexFunc(q.SampleType, func(t *profile.ValueType) bool { return t.Type == q.DefaultSampleType })
	if q.DefaultSampleType == "" || i < 0 {
		return len(q.SampleType) - 1
	}
	return i
}

// location returns the frames of a location, the innermost first.
func (s *sum) location(q *profile.Profile, l *profile.Location) (ids []uint32) {
	object := ""
	if m := l.Mapping; m != nil && (m.File != q.Mapping[0].File || m.BuildID != q.Mapping[0].BuildID) {
		if object = path.Base(m.File); slices.ContainsFunc(q.Mapping, func(o *profile.Mapping) bool { return o.File != m.File && path.Base(o.File) == object }) {
			object = m.File
		}
		if object != "" {
			s.p.object(Executable{object, m.File, m.BuildID})
		}
	}
	for _, f := range LocationFrames(l) {
		f.Object = object
		ids = append(ids, s.frameID(f))
	}
	return ids
}

// LocationFrames returns the frames of a pprof profile's location, the innermost first: an unknown
// one if it has no lines.
func LocationFrames(l *profile.Location) (frames []symbols.Frame) {
	for i, line := range l.Line {
		f := symbols.Frame{Line: int(line.Line), PC: l.Address, Inlined: i < len(l.Line)-1}
		if line.Function != nil {
			f.Func, f.File, f.Start = line.Function.Name, line.Function.Filename, int(line.Function.StartLine)
		}
		frames = append(frames, f)
	}
	if len(frames) == 0 {
		frames = []symbols.Frame{{PC: l.Address}}
	}
	return frames
}
