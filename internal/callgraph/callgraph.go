// Package callgraph sums up samples: by function, line, instruction or another property of
// their frames, by caller and callee, and as a tree.
//
// # Rules
//
// The rules are those of Sun's Analyzer (chapter "Understanding the Sampling Analyzer and
// Its Data"), and the sums hold exactly:
//
//  1. The leaf has a sample's exclusive metrics, every function on the stack its inclusive
//     ones, counted once however often it occurs.
//  2. All exclusive metrics together are those of <Total>, the caller of functions without
//     a caller.
//  3. A function that is on a stack several times is taken where it is nearest the leaf. So
//     a recursive function is shown as a caller of itself, and not as a callee. The
//     attributed metrics of the callers add up to the function's inclusive ones, and those
//     of the callees, with its exclusive ones, too.
package callgraph

import (
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Cost has the sums, by the metrics of the Profile.
type Cost struct {
	Excl []int64 // of stacks with it as the leaf
	Incl []int64 // of stacks with it anywhere

	seen int     // index of the last stack added to Incl, plus one
	cut  []int64 // part of Incl from stacks that lack their outermost callers
	all  []int64 // total of these stacks; nil: there are none
}

// AtLeast reports whether Incl may be too small in a metric: stacks that lack callers, and
// do not contain this one, may have lost it.
func (c *Cost) AtLeast(p *samples.Profile, metric int) bool {
	return c.all != nil && p.Value(c.all, metric) > p.Value(c.cut, metric)
}

func newCost(p *samples.Profile) *Cost {
	both := make([]int64, 2*len(p.Metrics))
	return &Cost{Excl: both[:len(p.Metrics)], Incl: both[len(p.Metrics):]}
}

// Sum sums up by the key of each frame.
func Sum[K comparable](p *samples.Profile, key func(*symbols.Frame) K) map[K]*Cost {
	all := map[K]*Cost{}
	cut := p.Truncated()
	of := map[*symbols.Frame]*Cost{} // frames are few, and equal ones are the same pointer
	for i := range p.Stacks {
		s := &p.Stacks[i]
		whole := cut == nil || !s.Truncated()
		for depth, f := range s.Frames {
			c := of[f]
			if c == nil {
				k := key(f)
				if c = all[k]; c == nil {
					c = newCost(p)
					if f.Object != kernel { // the kernel calls nothing of the program
						c.lacks(cut)
					}
					all[k] = c
				}
				of[f] = c
			}
			if depth == 0 {
				add(c.Excl, s.Values)
			}
			if c.seen != i+1 {
				c.seen = i + 1
				add(c.Incl, s.Values)
				if !whole && c.cut != nil {
					add(c.cut, s.Values)
				}
			}
		}
	}
	return all
}

// kernel is the Frame.Object of the system's kernel.
const kernel = "[kernel]"

// lacks sets the values of stacks that lack callers; cut is nil if there are none.
func (c *Cost) lacks(cut []int64) {
	if cut != nil {
		c.all, c.cut = cut, make([]int64, len(cut))
	}
}

// ByLabel sums up by a key of the samples' labels. The inclusive metrics equal the exclusive
// ones.
func ByLabel[K comparable](p *samples.Profile, key func(*samples.Labels) K) map[K]*Cost {
	all := map[K]*Cost{}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		k := key(&s.Labels)
		c := all[k]
		if c == nil {
			c = newCost(p)
			all[k] = c
		}
		add(c.Excl, s.Values)
		add(c.Incl, s.Values)
	}
	return all
}

// Abs returns the weight of a value for sorting: in the difference of two profiles a
// decrease is as interesting as an increase.
func Abs(n int64) int64 { return max(n, -n) }

func add(to, values []int64) {
	for i, v := range values {
		to[i] += v
	}
}
