// Package stacks counts the calls of scope.Stack by call stack.
package stacks

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/pprof"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Report is the result of stacks.
type Report struct {
	report.Report
	Pprof   func(w io.Writer) error                // writes a profile for go tool pprof
	Folded  func(w io.Writer, byWeight bool) error // writes the input of flame graphs
	Unnamed int64                                  // stacks reported without their callers: together they have more frames than a recorder writes
}

// found is the content of the stacks report.
type found struct {
	depth  int // number of callers by which the text sums up; 0: all
	skip   int // number of innermost callers left out
	t      *trace.Trace
	stacks []trace.Stack // the most calls first; without their frames
	names  []name        // the most calls first
	calls  map[uint16]int64

	blocks []format.Frame // reused for each stack, as are the next two
	frames []symbols.Frame
	listed []report.Frame
}

// framesMax bounds the frames of a report of a trace of size bytes; no recorder exceeds it. Without
// it, a stack of a thousand frames could have a name in every few bytes, and the output would be
// thousands of times as large as the trace.
func framesMax(size int64) int { return int(min(1<<16+size/2, 1<<30)) }

const otherStacks = "(other stacks)"

// Of reads the counts of the wanted names. The text sums up by the innermost depth callers, or by
// all if depth is 0. The innermost skip callers are left out.
func Of(t *trace.Trace, sel *analysis.Selection, depth, skip int) *Report {
	r := &found{depth: depth, skip: skip, t: t, calls: map[uint16]int64{}, names: []name{}}
	all := &Report{report.Report{Text: r.text}, r.pprof, r.folded, 0}
	of := map[uint16]int{}
	left := framesMax(t.Size())
	t.EachCount(func(s *trace.Stack) bool {
		if !sel.Names.Match(r.t.Name(s.Name)) {
			return true
		}
		x := *s
		if n := r.t.Depth(s.ID); n > left {
			x.ID, x.Cut = format.OtherStacks, true
			all.Unnamed++
		} else {
			left -= n
		}
		r.stacks = append(r.stacks, x)
		r.calls[s.Name] += s.Calls
		i, ok := of[s.Name]
		if !ok {
			i = len(r.names)
			of[s.Name] = i
			r.names = append(r.names, name{Name: r.t.Name(s.Name)})
		}
		n := &r.names[i]
		n.Calls += s.Calls
		n.Weight += s.Weight
		n.Stacks++
		return true
	})
	slices.SortStableFunc(r.stacks, func(a, b trace.Stack) int { return cmp.Compare(b.Calls, a.Calls) })
	slices.SortStableFunc(r.names, func(a, b name) int { return cmp.Compare(b.Calls, a.Calls) })
	all.Document = &document{report.KeptOf(t), r.names, report.ListOf(r.stacks, r.stack)}
	return all
}

// share returns n as a part of the calls of a name.
func (r *found) share(name uint16, n int64) float64 {
	if all := r.calls[name]; all > 0 {
		return float64(n) / float64(all)
	}
	return 0
}

// framesOf returns the frames of a stack that are shown; they are valid until the next call.
func (r *found) framesOf(s *trace.Stack) []symbols.Frame {
	r.blocks, r.frames = r.t.AppendFrames(r.blocks[:0], s.ID), r.frames[:0]
	for i := range r.blocks {
		r.frames = append(r.frames, symbols.FrameOf(&r.blocks[i]))
	}
	return r.frames[min(r.skip, max(len(r.frames)-1, 0)):] // the outermost stays
}

// caller sums up the stacks with the same innermost callers.
type caller struct {
	one           *trace.Stack // one of them
	calls, weight int64
}

// callers sums up the stacks by their innermost callers.
func (r *found) callers() (list []caller) {
	type key struct {
		name uint16
		from [32]byte // a hash, because the text can be long
	}
	of := map[key]int{}
	for i := range r.stacks {
		s := &r.stacks[i]
		k := key{s.Name, sha256.Sum256([]byte(r.calledFrom(s)))}
		j, ok := of[k]
		if !ok {
			j = len(list)
			of[k] = j
			list = append(list, caller{one: s})
		}
		list[j].calls += s.Calls
		list[j].weight += s.Weight
	}
	slices.SortStableFunc(list, func(a, b caller) int { return cmp.Compare(b.calls, a.calls) })
	return list
}

// calledFromMax bounds a line of callers, in bytes: nobody reads more.
const calledFromMax = 4096

// calledFrom formats the innermost callers in a line, safe to print.
func (r *found) calledFrom(s *trace.Stack) string {
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
		at := f.String()
		if length += len(at); length > calledFromMax {
			return strings.Join(append(callers, fmt.Sprintf("… %d more", n-i)), " < ")
		}
		callers = append(callers, show.Name(at))
	}
	if s.Cut && n == len(frames) {
		callers = append(callers, "…")
	}
	return strings.Join(callers, " < ")
}

// unknownStack returns the text for a stack without known frames.
func unknownStack(s *trace.Stack) string {
	if s.ID == format.OtherStacks {
		return otherStacks
	}
	return fmt.Sprintf("(stack %d)", s.ID)
}

// folded writes the stacks as input of flame graphs, weighted by calls or by weight.
func (r *found) folded(w io.Writer, byWeight bool) error {
	b := bufio.NewWriter(w)
	for i := range r.stacks {
		s := &r.stacks[i]
		n := s.Calls
		if byWeight {
			n = s.Weight
		}
		if n <= 0 {
			continue // it would have no width
		}
		if s.Cut {
			b.WriteString("…;")
		}
		frames := r.framesOf(s)
		for j := len(frames) - 1; j >= 0; j-- {
			b.WriteString(pprof.Foldable(frames[j].Func))
			b.WriteByte(';')
		}
		if len(frames) == 0 {
			b.WriteString(unknownStack(s) + ";")
		}
		fmt.Fprintf(b, "%s %d\n", pprof.Foldable(r.t.Name(s.Name)), n)
	}
	return b.Flush()
}
