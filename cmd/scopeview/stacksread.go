package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

// stacksReport is what stacks shows.
type stacksReport struct {
	t     *trace.Trace
	names glob.Filter
	value string
	depth int
	skip  int
	limit int

	stacks []trace.Stack // the most calls first; without their frames
	sums   []stackSum    // by name, the most calls first
	calls  map[uint16]int64
	frames []format.Frame // used again and again, as is listed
	listed []frameJSON
	cut    int64 // stacks that are told of without their callers, see framesMax
}

// framesMax is how many frames a report of a trace of size bytes has: more than any recorder
// makes. But a stack of a thousand frames can have a name in every few bytes, and what is
// written of them would be thousands of times the trace.
func framesMax(size int64) int { return int(min(1<<16+size/2, 1<<30)) }

// stackSum is what was counted of a name.
type stackSum struct {
	name                  uint16
	calls, weight, stacks int64
}

// stackGroup is what was counted of a name and its innermost callers.
type stackGroup struct {
	name          uint16
	calls, weight int64
	stack         *trace.Stack // one of them
}

const otherStacks = "(other stacks)"

// read reads what the trace has.
func (r *stacksReport) read() {
	of := map[uint16]int{}
	left := framesMax(r.t.Size())
	r.calls = map[uint16]int64{}
	r.t.EachCount(func(s *trace.Stack) bool {
		if !r.names.Match(r.t.Name(s.Name)) {
			return true
		}
		x := *s
		if n := r.t.Depth(s.ID); n > left {
			x.ID, x.Cut = format.OtherStacks, true
			r.cut++
		} else {
			left -= n
		}
		r.stacks = append(r.stacks, x)
		r.calls[s.Name] += s.Calls
		i, ok := of[s.Name]
		if !ok {
			i = len(r.sums)
			of[s.Name] = i
			r.sums = append(r.sums, stackSum{name: s.Name})
		}
		n := &r.sums[i]
		n.calls += s.Calls
		n.weight += s.Weight
		n.stacks++
		return true
	})
	slices.SortStableFunc(r.stacks, func(a, b trace.Stack) int { return cmp.Compare(b.Calls, a.Calls) })
	slices.SortStableFunc(r.sums, func(a, b stackSum) int { return cmp.Compare(b.calls, a.calls) })
}

// share is n as a part of the calls of a name.
func (r *stacksReport) share(name uint16, n int64) float64 {
	if all := r.calls[name]; all > 0 {
		return float64(n) / float64(all)
	}
	return 0
}

// framesOf are the frames of a stack that are shown; they are good until the next call.
func (r *stacksReport) framesOf(s *trace.Stack) []format.Frame {
	r.frames = r.t.AppendFrames(r.frames[:0], s.ID)
	return r.frames[min(r.skip, max(len(r.frames)-1, 0)):] // the outermost stays
}

// groups sums the stacks up by their innermost callers.
func (r *stacksReport) groups() (gs []stackGroup) {
	type key struct {
		name uint16
		from [32]byte // a hash: the text can be long
	}
	of := map[key]int{}
	for i := range r.stacks {
		s := &r.stacks[i]
		k := key{s.Name, sha256.Sum256([]byte(r.calledFrom(s)))}
		j, ok := of[k]
		if !ok {
			j = len(gs)
			of[k] = j
			gs = append(gs, stackGroup{name: s.Name, stack: s})
		}
		gs[j].calls += s.Calls
		gs[j].weight += s.Weight
	}
	slices.SortStableFunc(gs, func(a, b stackGroup) int { return cmp.Compare(b.calls, a.calls) })
	return gs
}

// calledFromMax is how long a line of callers gets: nobody reads more.
const calledFromMax = 4096

// calledFrom is the innermost callers in a line, safe to show.
func (r *stacksReport) calledFrom(s *trace.Stack) string {
	frames := r.framesOf(s)
	if len(frames) == 0 {
		return unknownStack(s)
	}
	n := len(frames)
	if r.depth > 0 {
		n = min(n, r.depth)
	}
	var callers []string
	length := 0
	for i, f := range frames[:n] {
		// The package's last element and the file's name tell enough.
		at := format.ShortFunction(f.Function)
		if f.Line != 0 {
			at += fmt.Sprintf(" %s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)
		}
		if length += len(at); length > calledFromMax {
			return strings.Join(append(callers, fmt.Sprintf("… %d more", n-i)), " < ")
		}
		callers = append(callers, show(at))
	}
	if s.Cut && n == len(frames) {
		callers = append(callers, "…")
	}
	return strings.Join(callers, " < ")
}

// unknownStack is what a stack is called of which no frames are known.
func unknownStack(s *trace.Stack) string {
	if s.ID == format.OtherStacks {
		return otherStacks
	}
	return fmt.Sprintf("(stack %d)", s.ID)
}

// folded writes the stacks as flame graphs are made of.
func (r *stacksReport) folded(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range r.stacks {
		s := &r.stacks[i]
		n := s.Calls
		if r.value == "weight" {
			n = s.Weight
		}
		if n <= 0 {
			continue // nothing that could have a width
		}
		if s.Cut {
			b.WriteString("…;")
		}
		frames := r.framesOf(s)
		for j := len(frames) - 1; j >= 0; j-- {
			b.WriteString(foldable(frames[j].Function))
			b.WriteByte(';')
		}
		if len(frames) == 0 {
			b.WriteString(unknownStack(s) + ";")
		}
		fmt.Fprintf(b, "%s %d\n", foldable(r.t.Name(s.Name)), n)
	}
	return b.Flush()
}

// foldable is a name without what separates names and lines.
func foldable(name string) string {
	if !strings.ContainsAny(name, ";\n\r") {
		return name
	}
	return strings.NewReplacer(";", ":", "\n", " ", "\r", " ").Replace(name)
}
