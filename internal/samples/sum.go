package samples

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/scopeview/scopeview/internal/symbols"
)

// sum sums up samples by stack.
type sum struct {
	p       *Profile
	metrics map[string]int
	texts   map[string]string
	frames  map[symbols.Frame]uint32
	frame   []*symbols.Frame
	ids     map[string]uint32 // of stacks, by their frames
	stacks  [][]uint32        // [0] is empty
	labels  []Labels
	labelID map[Labels]uint32
	origins []origin // [0] is none
	madeAt  map[origin]uint32
	values  map[stackKey][]int64
	weights []weight                       // by metric
	whole   map[[2]uint32][]*symbols.Frame // frames by stack and origin
	key     []byte
}

// origin is a go statement, and the origin of the goroutine that ran it.
type origin struct {
	stack  uint32
	parent uint32
	depth  int
}

// weight sums up the values of a metric.
type weight struct {
	absolute int64 // sum of the absolute values
	base     int64 // the same of those that pprof -diff_base has subtracted
	negative bool  // a value is negative
	overflow bool  // absolute has overflowed
}

// stackKey identifies a Stack of the Profile.
type stackKey struct{ stack, origin, labels uint32 }

func newSum() *sum {
	return &sum{
		p: &Profile{symbols: map[*symbols.Frame]string{}}, metrics: map[string]int{}, texts: map[string]string{}, frames: map[symbols.Frame]uint32{},
		ids: map[string]uint32{}, stacks: make([][]uint32, 1),
		labels: make([]Labels, 1), labelID: map[Labels]uint32{{}: 0},
		origins: make([]origin, 1), madeAt: map[origin]uint32{}, values: map[stackKey][]int64{}, whole: map[[2]uint32][]*symbols.Frame{},
	}
}

// metric returns the index of a metric, and adds it if it is new.
func (s *sum) metric(m Metric) int {
	if i, ok := s.metrics[m.Name]; ok {
		return i
	}
	s.metrics[m.Name] = len(s.p.Metrics)
	s.p.Metrics = append(s.p.Metrics, m)
	return len(s.p.Metrics) - 1
}

// frameID returns the id of a frame. One without a function becomes <Unknown>.
func (s *sum) frameID(f symbols.Frame) uint32 {
	if f.Func == "" {
		f.Func = UnknownName
	}
	if strings.Contains(f.Func, "go.shape.") { // one function for all instances, as Go prints it
		f.Func = symbols.PrintName(f.Func)
	}
	id, ok := s.frames[f]
	if !ok {
		id = uint32(len(s.frame))
		s.frames[f] = id
		kept := f // f itself would be on the heap at each call
		s.frame = append(s.frame, &kept)
	}
	return id
}

// stack returns the id of a stack, the leaf first.
func (s *sum) stack(frames []uint32) uint32 {
	if len(frames) == 0 {
		return 0
	}
	s.key = s.key[:0]
	for _, f := range frames {
		s.key = binary.LittleEndian.AppendUint32(s.key, f)
	}
	id, ok := s.ids[string(s.key)]
	if !ok {
		id = uint32(len(s.stacks))
		s.ids[string(s.key)] = id
		s.stacks = append(s.stacks, append([]uint32(nil), frames...))
	}
	return id
}

// mostOrigins bounds the number of go statements that a stack continues with: goroutines
// that endlessly create each other would have endless stacks.
const mostOrigins = 64

// origin returns the id of a goroutine's origin.
func (s *sum) origin(stack, parent uint32) uint32 {
	o := origin{stack, parent, s.origins[parent].depth + 1}
	if o.depth > mostOrigins {
		o.parent, o.depth = 0, 1
	}
	id, ok := s.madeAt[o]
	if !ok {
		id = uint32(len(s.origins))
		s.madeAt[o] = id
		s.origins = append(s.origins, o)
	}
	return id
}

// label returns the id of labels.
func (s *sum) label(l Labels) uint32 {
	id, ok := s.labelID[l]
	if !ok {
		id = uint32(len(s.labels))
		s.labelID[l] = id
		s.labels = append(s.labels, l)
	}
	return id
}

// add counts a value of a metric. As long as the absolute values fit into 63 bits, no sum of
// any of them overflows, so this is the only place that has to check.
func (s *sum) add(k stackKey, metric int, v int64) {
	if metric >= len(s.weights) {
		s.weights = append(s.weights, make([]weight, metric+1-len(s.weights))...)
	}
	w, n := &s.weights[metric], v
	if v < 0 {
		w.negative, n = true, -v // the smallest value remains negative, and overflows
	}
	if n < 0 || n > math.MaxInt64-w.absolute {
		w.overflow = true
		return
	}
	w.absolute += n
	values := s.values[k]
	if metric >= len(values) {
		values = append(values, make([]int64, metric+1-len(values))...)
		s.values[k] = values
	}
	values[metric] += v
}

// framesOf returns the frames of a stack and of its origin.
func (s *sum) framesOf(stack, origin uint32) []*symbols.Frame {
	key := [2]uint32{stack, origin}
	frames, ok := s.whole[key]
	if !ok {
		frames = s.gather(stack, origin)
		s.whole[key] = frames
	}
	return frames
}

func (s *sum) gather(stack, origin uint32) []*symbols.Frame {
	n := len(s.stacks[stack])
	for o := origin; o != 0; o = s.origins[o].parent {
		n += len(s.stacks[s.origins[o].stack])
	}
	frames := make([]*symbols.Frame, 0, n)
	for {
		for _, f := range s.stacks[stack] {
			frames = append(frames, s.frame[f])
		}
		if origin == 0 {
			return frames
		}
		stack, origin = s.origins[origin].stack, s.origins[origin].parent
	}
}

// profile returns the profile. The error wraps ErrOverflow.
func (s *sum) profile() (*Profile, error) {
	for m, w := range s.weights {
		if w.overflow {
			return nil, fmt.Errorf("%w, of %s", ErrOverflow, s.p.Metrics[m].Name)
		}
		s.p.Metrics[m].share(&w)
	}
	s.distinguish()
	for k, values := range s.values {
		values = append(values, make([]int64, len(s.p.Metrics)-len(values))...)
		s.p.Stacks = append(s.p.Stacks, Stack{Frames: s.framesOf(k.stack, k.origin), Values: values, Labels: s.labels[k.labels]})
	}
	sortStacks(s.p.Stacks)
	s.p.incomplete()
	return s.p, nil
}

// share sets the base of a metric's shares, where that is not the total.
func (x *Metric) share(w *weight) {
	switch {
	case w.base > 0:
		x.Whole, x.WholeOf = w.base, "the base profile's sum"
	case w.negative && !x.Level:
		x.Whole, x.WholeOf = w.absolute, "the absolute sum"
	}
}
