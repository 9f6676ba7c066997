package main

import (
	"bufio"
	"cmp"
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

	stacks []trace.Stack // the most calls first
	sums   []stackSum    // by name, the most calls first
}

// stackSum is what was counted of a name.
type stackSum struct {
	name                  uint16
	calls, weight, stacks int64
}

// stackGroup is what was counted of a name and its innermost callers.
type stackGroup struct {
	name          uint16
	calls, weight int64
	from          string
}

const otherStacks = "(other stacks)"

// read reads what the trace has.
func (r *stacksReport) read() {
	of := map[uint16]int{}
	r.t.EachStack(func(s *trace.Stack) bool {
		if !r.names.Match(r.t.Name(s.Name)) {
			return true
		}
		x := *s
		x.Frames = slices.Clone(s.Frames[min(r.skip, max(len(s.Frames)-1, 0)):]) // the outermost stays
		r.stacks = append(r.stacks, x)
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
	for _, s := range r.sums {
		if s.name == name && s.calls > 0 {
			return float64(n) / float64(s.calls)
		}
	}
	return 0
}

// groups sums the stacks up by their innermost callers.
func (r *stacksReport) groups() (gs []stackGroup) {
	type key struct {
		name uint16
		from string
	}
	of := map[key]int{}
	for i := range r.stacks {
		s := &r.stacks[i]
		k := key{s.Name, calledFrom(s, r.depth)}
		j, ok := of[k]
		if !ok {
			j = len(gs)
			of[k] = j
			gs = append(gs, stackGroup{name: s.Name, from: k.from})
		}
		gs[j].calls += s.Calls
		gs[j].weight += s.Weight
	}
	slices.SortStableFunc(gs, func(a, b stackGroup) int { return cmp.Compare(b.calls, a.calls) })
	return gs
}

// calledFrom is the innermost depth callers in a line, safe to show.
func calledFrom(s *trace.Stack, depth int) string {
	if len(s.Frames) == 0 {
		return unknownStack(s)
	}
	n := len(s.Frames)
	if depth > 0 {
		n = min(n, depth)
	}
	var callers []string
	for _, f := range s.Frames[:n] {
		// The package's last element and the file's name tell enough.
		at := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
		if f.Line != 0 {
			at += fmt.Sprintf(" %s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)
		}
		callers = append(callers, show(at))
	}
	if s.Cut && n == len(s.Frames) {
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
		for j := len(s.Frames) - 1; j >= 0; j-- {
			b.WriteString(foldable(s.Frames[j].Function) + ";")
		}
		if len(s.Frames) == 0 {
			b.WriteString(unknownStack(s) + ";")
		}
		fmt.Fprintf(b, "%s %d\n", foldable(r.t.Name(s.Name)), n)
	}
	return b.Flush()
}

// foldable is a name without what separates names and lines.
func foldable(name string) string {
	return strings.NewReplacer(";", ":", "\n", " ", "\r", " ").Replace(name)
}
