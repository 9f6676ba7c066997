package source

import (
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
)

// rewriter builds a profile with changed edges.
type rewriter struct {
	s       *Source
	moves   map[pgo.Edge]pgo.Edge
	dropped map[pgo.Edge]bool
	out     *pgo.Profile
}

// rewrite returns p with its edges moved. If a function has its new name in one edge of a stack
// and its old one in the next, the stack is cut in two; so it is at a dropped edge.
func rewrite(s *Source, p *pgo.Profile, moves map[pgo.Edge]pgo.Edge, dropped map[pgo.Edge]bool) (*pgo.Profile, error) {
	w := &rewriter{s: s, moves: moves, dropped: dropped, out: p.Empty()}
	for _, pair := range p.Pairs() {
		var frames []symbols.Frame // outermost first
		if pair.Caller != pgo.None {
			frames = append(frames, p.Locations[pair.Caller]...)
		}
		slices.Reverse(frames)
		leaf := len(frames) // index of the leaf's first frame
		frames = append(frames, p.Locations[pair.Leaf]...)
		slices.Reverse(frames[leaf:])
		if err := w.stack(frames, leaf, pair.Same, p.Weight[pair]); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// stack adds a stack, whose frames it changes.
func (w *rewriter) stack(frames []symbols.Frame, leaf int, same bool, weight int64) error {
	from := 0
	callee := "" // the frame's name in the previous edge; "": there is none
	for i := range frames {
		f := frames[i]
		if i+1 == len(frames) {
			if callee != "" && callee != f.Func {
				w.rename(&frames[i], callee, f.Line-f.Start)
			}
			break
		}
		e := pgo.Edge{Caller: f.Func, Callee: frames[i+1].Func, Offset: f.Line - f.Start}
		to, moved := w.moves[e]
		if !moved {
			to = e
		}
		if callee != "" && callee != to.Caller { // the frame ends one stack and begins another
			w.rename(&frames[i], callee, f.Line-f.Start)
			if err := w.add(frames[from:i+1], leaf-from, same, weight); err != nil {
				return err
			}
			from = i
		}
		frames[i] = f
		if w.dropped[e] {
			if callee != "" {
				w.rename(&frames[i], callee, f.Line-f.Start)
				if err := w.add(frames[from:i+1], leaf-from, same, weight); err != nil {
					return err
				}
			}
			from, callee = i+1, ""
			continue
		}
		if moved {
			w.rename(&frames[i], to.Caller, to.Offset)
		}
		callee = to.Callee
	}
	if from > 0 && from+1 == len(frames) {
		return nil // after a dropped edge: there is no call
	}
	return w.add(frames[from:], leaf-from, same, weight)
}

// rename gives a frame a function's current name and lines.
func (w *rewriter) rename(f *symbols.Frame, name string, offset int) {
	f.Func = name
	if to := w.s.funcs[fold(name)]; to != nil {
		f.File, f.Start = to.file, to.start
	}
	f.Line = f.Start + offset
}

func (w *rewriter) add(frames []symbols.Frame, leaf int, same bool, weight int64) error {
	if leaf <= 0 || leaf >= len(frames) {
		leaf = 0
	}
	inner, outer := slices.Clone(frames[leaf:]), slices.Clone(frames[:leaf])
	slices.Reverse(inner)
	slices.Reverse(outer)
	if leaf == 0 {
		return w.out.Add(inner, nil, same, weight)
	}
	return w.out.Add(inner, outer, same, weight)
}
