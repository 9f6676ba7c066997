// Package pprof writes samples as a profile for go tool pprof, and as folded stacks for
// flame graphs.
//
// Each metric that is not a sum is a sample type, so one file has the CPU time and the waits
// by reason: go tool pprof -sample_index=lock. The preset is one even if it is a sum. The
// samples' labels become pprof's: scope, track, goroutine, thread, as far as the profile
// keeps them separate.
package pprof

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Options are properties that a Profile does not have.
type Options struct {
	Start time.Time
	Scope string // name of the label for Labels.Scope; "": scope
}

// Write writes p in pprof's format, compressed. Metrics of waits without a value are left
// out. The error is one of w, or p is too large for the format.
func Write(w io.Writer, p *samples.Profile, o Options) error {
	b := &builder{
		p:     p,
		q:     &profile.Profile{TimeNanos: o.Start.UnixNano(), DurationNanos: max(p.To-p.From, 0), DefaultSampleType: p.Preset},
		scope: o.Scope, ids: map[*symbols.Frame]uint32{}, functions: map[function]*profile.Function{}, locations: map[string]*profile.Location{},
	}
	if b.scope == "" {
		b.scope = "scope"
	}
	if o.Start.IsZero() {
		b.q.TimeNanos = 0
	}
	if p.Binary != "" {
		b.q.Mapping = []*profile.Mapping{{ID: 1, File: p.Binary, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}}
	}
	if p.Truncated() != nil { // as cum is then too small
		b.q.Comments = append(b.q.Comments, p.Notes...)
	}
	shown := b.types()
	for i := range p.Stacks {
		b.sample(&p.Stacks[i], shown)
	}
	if err := b.q.CheckValid(); err != nil {
		return fmt.Errorf("making a profile of the samples: %w", err)
	}
	return b.q.Write(w)
}

// builder assigns the ids of a profile.
type builder struct {
	p         *samples.Profile
	q         *profile.Profile
	scope     string
	ids       map[*symbols.Frame]uint32
	functions map[function]*profile.Function
	locations map[string]*profile.Location // by the ids of their frames
	key       []byte
}

type function struct{ name, file string }

// types sets the sample types, and returns their metrics.
func (b *builder) types() (shown []int) {
	total := b.p.Total()
	for i := range b.p.Metrics {
		m := &b.p.Metrics[i]
		if m.Name != b.p.Preset && (m.Of != nil || total[i] == 0 && m.Unit == samples.Nanoseconds) {
			continue
		}
		shown = append(shown, i)
		b.q.SampleType = append(b.q.SampleType, &profile.ValueType{Type: m.Name, Unit: string(m.Unit)})
	}
	if len(shown) > 0 {
		first := *b.q.SampleType[0]
		b.q.PeriodType, b.q.Period = &first, 1
	}
	return shown
}

func (b *builder) sample(s *samples.Stack, shown []int) {
	x := &profile.Sample{Location: b.stack(s.Frames), Label: map[string][]string{}, NumLabel: map[string][]int64{}}
	any := false
	for _, m := range shown {
		n := b.p.Value(s.Values, m)
		x.Value = append(x.Value, n)
		any = any || n != 0
	}
	if !any {
		return
	}
	for name, value := range map[string]string{b.scope: s.Labels.Scope, "track": s.Labels.Track} {
		if value != "" {
			x.Label[name] = []string{value}
		}
	}
	for name, id := range map[string]uint64{"goroutine": s.Labels.Goid, "thread": uint64(s.Labels.Thread)} {
		if id != 0 {
			x.Label[name] = []string{strconv.FormatUint(id, 10)}
		}
	}
	b.q.Sample = append(b.q.Sample, x)
}

// inlinedMax is the maximum number of lines of a location; longer chains of inlined
// functions have a location per function.
const inlinedMax = 64

// stack returns the locations of frames. One has several lines where functions were inlined,
// the innermost first.
func (b *builder) stack(frames []*symbols.Frame) (ls []*profile.Location) {
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

func (b *builder) location(frames []*symbols.Frame) *profile.Location {
	b.key = b.key[:0]
	for _, f := range frames {
		id, ok := b.ids[f]
		if !ok {
			id = uint32(len(b.ids))
			b.ids[f] = id
		}
		b.key = binary.LittleEndian.AppendUint32(b.key, id)
	}
	if l := b.locations[string(b.key)]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.q.Location) + 1), Address: frames[len(frames)-1].PC}
	if object := frames[0].Object; object != "" {
		l.Mapping = b.mapping(object)
	} else if len(b.q.Mapping) > 0 && l.Address != 0 {
		l.Mapping = b.q.Mapping[0]
	}
	for _, f := range frames {
		l.Line = append(l.Line, profile.Line{Function: b.function(f), Line: int64(f.Line)})
	}
	b.locations[string(b.key)] = l
	b.q.Location = append(b.q.Location, l)
	return l
}

// mapping returns the mapping of a file other than the program's own.
func (b *builder) mapping(object string) *profile.Mapping {
	for _, m := range b.q.Mapping {
		if m.File == object {
			return m
		}
	}
	if len(b.q.Mapping) == 0 { // the first one is the program's
		b.q.Mapping = []*profile.Mapping{{ID: 1}}
	}
	m := &profile.Mapping{ID: uint64(len(b.q.Mapping) + 1), File: object, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	b.q.Mapping = append(b.q.Mapping, m)
	return m
}

func (b *builder) function(f *symbols.Frame) *profile.Function {
	key := function{f.Func, f.File}
	x := b.functions[key]
	if x == nil {
		x = &profile.Function{ID: uint64(len(b.q.Function) + 1), Name: f.Func, SystemName: b.p.Symbol(f), Filename: f.File}
		b.functions[key] = x
		b.q.Function = append(b.q.Function, x)
	}
	if x.StartLine == 0 {
		x.StartLine = int64(f.Start) // only some frames have it
	}
	return x
}

// Unfoldable counts the stacks that Fold leaves out because their value is negative, as in
// the difference of two profiles.
func Unfoldable(p *samples.Profile, metric int) (n int64) {
	for i := range p.Stacks {
		if p.Value(p.Stacks[i].Values, metric) < 0 {
			n++
		}
	}
	return n
}

// Fold writes a line for each stack with a positive value of a metric: the functions,
// outermost first, then the value. See Unfoldable.
func Fold(w io.Writer, p *samples.Profile, metric int) error {
	b := bufio.NewWriter(w)
	for i := range p.Stacks {
		s := &p.Stacks[i]
		n := p.Value(s.Values, metric)
		if n <= 0 {
			continue // a flame graph can't show it
		}
		for d := len(s.Frames) - 1; d >= 0; d-- {
			b.WriteString(Foldable(s.Frames[d].Func))
			if d > 0 {
				b.WriteByte(';')
			}
		}
		fmt.Fprintf(b, " %d\n", n)
	}
	return b.Flush()
}

// Foldable returns a name without the characters that separate names and lines.
func Foldable(name string) string {
	if !strings.ContainsAny(name, ";\n\r") {
		return name
	}
	return strings.NewReplacer(";", ":", "\n", " ", "\r", " ").Replace(name)
}
