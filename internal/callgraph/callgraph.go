// Package callgraph sums samples up: by function, line, instruction or whatever their
// frames have, by caller and callee, and as a tree.
//
// # Rules
//
// They are those of Sun's Analyzer (chapter "Understanding the Sampling Analyzer and Its
// Data"), and the sums hold exactly:
//
//  1. The leaf has a sample's exclusive metrics, every function on the stack its inclusive
//     ones: once, however often it is on it.
//  2. All exclusive metrics together are those of <Total>, the caller of all that nobody
//     called.
//  3. A function that is on a stack several times is taken where it is nearest the leaf. So
//     a recursive function is shown as a caller of itself, and not as a callee. The
//     attributed metrics of the callers add up to the function's inclusive ones, and those
//     of the callees, with its exclusive ones, too.
package callgraph

import "github.com/scopeview/scopeview/internal/samples"

// Cost is what was summed up, by the metrics of the Profile.
type Cost struct {
	Excl []int64 // as the leaf
	Incl []int64 // anywhere on the stack

	seen int     // the last stack that was added to Incl, and 1
	cut  []int64 // what of Incl is of stacks that lack their outermost callers
	all  []int64 // what all of these have; nil: there are none
}

// AtLeast reports whether Incl may be too small in a metric: stacks that lack callers, and
// do not have this one, may lack it.
func (c *Cost) AtLeast(p *samples.Profile, metric int) bool {
	return c.all != nil && p.Value(c.all, metric) > p.Value(c.cut, metric)
}

func newCost(p *samples.Profile) *Cost {
	both := make([]int64, 2*len(p.Metrics))
	return &Cost{Excl: both[:len(p.Metrics)], Incl: both[len(p.Metrics):]}
}

// Sum sums up by what key makes of a frame.
func Sum[K comparable](p *samples.Profile, key func(*samples.Frame) K) map[K]*Cost {
	all := map[K]*Cost{}
	cut := p.Truncated()
	of := map[*samples.Frame]*Cost{} // frames are few, and equal ones are the same
	for i := range p.Stacks {
		s := &p.Stacks[i]
		whole := cut == nil || !s.Truncated()
		for depth, f := range s.Frames {
			c := of[f]
			if c == nil {
				k := key(f)
				if c = all[k]; c == nil {
					c = newCost(p)
					if f.Object != kernel { // which calls nothing of the program
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

// lacks takes in what stacks have that lack callers, nil where there are none.
func (c *Cost) lacks(cut []int64) {
	if cut != nil {
		c.all, c.cut = cut, make([]int64, len(cut))
	}
}

// ByLabel sums up by whose samples they are. The inclusive metrics are the exclusive ones.
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

// Abs returns by how much a value counts in an order: in the difference of two profiles what
// became less is as interesting as what became more.
func Abs(n int64) int64 { return max(n, -n) }

func add(to, values []int64) {
	for i, v := range values {
		to[i] += v
	}
}
