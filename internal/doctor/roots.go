package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/states"
)

// Why executions are slow is found by following each to the roots of its time: each moment
// counts for the activity on which the execution depended. While its goroutine waits, that is
// the activity of the goroutine that holds what it waits for, or that ends the wait; if that
// one waits, too, the next one's. So the roots of an execution add up to its duration, and
// those of the slow ones less those of the usual ones say what the slow ones have more.

const (
	leastRuns   = 100  // executions of a name that get a comparison; ours
	slowTime    = 0.05 // part of the range that they must take; ours
	slowShare   = 0.01 // of them are slow
	maxSlow     = 3    // names that are compared
	maxFollowed = 100  // executions on each side that are followed; of more, some evenly distributed ones
	maxChain    = 16   // goroutines in a chain
	maxPieces   = 5000 // pieces of an execution
	maxRoots    = 6
	rootShare   = 0.05 // of the difference that a reported root takes
	mostOfRoot  = 0.8  // of a root's time from which on its goroutine is named
	overlapping = 16   // holds before a moment that may last until then: readers share a lock
)

// Slow compares the slowest hundredth of a scope's executions with the middle half. Of nested
// executions the outermost counts.
type Slow struct {
	Of     string `json:"of" says:"name of the scopes"`
	Count  int64  `json:"count" unit:"scopes" says:"the slowest hundredth"`
	All    int64  `json:"all" unit:"scopes" says:"number of scopes of that name"`
	Limit  int64  `json:"limit_ns" unit:"ns" says:"shortest duration of the slow ones"`
	Longer int64  `json:"longer_ns" unit:"ns" says:"their mean duration less that of the middle half"`
	Roots  []Root `json:"roots"` // largest difference first
}

// Root is an activity on which executions depended.
type Root struct {
	Text   string  `json:"text" says:"the activity: whose, and over which object the executions depended on it"`
	Goid   uint64  `json:"goid" unit:"number" says:"the goroutine with most of that time; 0: not known"`
	Object string  `json:"object" says:"the lock that it held, or that was waited for; empty: none, or not known"`
	Name   string  `json:"name" says:"its innermost scope; empty: none"`
	State  string  `json:"state" says:"its state, as in 'states'"`
	Time   int64   `json:"ns" unit:"ns" says:"mean of a slow execution less that of a usual one"`
	Share  float64 `json:"share" unit:"0 to 1" says:"of 'longer_ns'"`

	marked string // Text, with marks
}

// Words returns Text, with name and prose applied as in [Finding.Words].
func (r *Root) Words(name, prose func(string) string) string {
	return ReplaceMarks(r.marked, name, prose)
}

// rootHow says how an execution depends on a goroutine.
type rootHow uint8

const (
	rootOwn     rootHow = iota // it is the execution's own
	rootHeld                   // it held the object
	rootWoke                   // it ended a wait
	rootUnknown                // for whom the wait was is not known
)

type rootKey struct {
	way
	state states.State
	name  int32
}

// way describes how a goroutine was reached.
type way struct {
	how  rootHow
	lock int32 // index in locks; -1: none, or not known
}

// follower attributes an execution's time.
type follower struct {
	m    *model
	left int
	add  func(k rootKey, g *gor, ns int64)
}

// follow attributes a range of time of g. above are the goroutines that depend on it.
func (x *follower) follow(g *gor, from, to int64, w way, above []*gor) {
	if to <= from {
		return
	}
	if x.left--; x.left < 0 || len(above) >= maxChain || slices.Contains(above, g) {
		x.add(rootKey{way{rootUnknown, w.lock}, states.Unknown, noName}, g, to-from)
		return
	}
	above = append(slices.Clip(above), g)
	at := from
	for i := g.at(from); i < len(g.ivs) && g.ivs[i].from < to; i++ {
		v := &g.ivs[i]
		a, z := max(v.from, at), min(v.to, to)
		if z <= a {
			continue
		}
		x.own(g, at, a, w, states.Unknown)
		if waits(v.state) {
			x.wait(g, v, a, z, above)
		} else {
			x.own(g, a, z, w, v.state)
		}
		at = z
	}
	x.own(g, at, to, w, states.Unknown)
}

// own attributes a range of time to g itself, by scope.
func (x *follower) own(g *gor, from, to int64, w way, s states.State) {
	if to <= from {
		return
	}
	times := map[uint16]int64{}
	g.scopesIn(from, to, times)
	rest := to - from
	for n, ns := range times {
		x.add(rootKey{w, s, int32(n)}, g, ns)
		rest -= ns
	}
	if rest > 0 {
		x.add(rootKey{w, s, noName}, g, rest)
	}
}

// wait attributes the part of a wait of g between two moments: to the lock's holders, and
// where they are not known to the goroutine that ended it.
func (x *follower) wait(g *gor, v *iv, from, to int64, above []*gor) {
	at := from
	if v.lock >= 0 {
		l := x.m.locks[v.lock]
		first := sort.Search(len(l.holds), func(i int) bool { return l.holds[i].from >= from })
		for _, h := range l.holds[max(0, first-overlapping):] {
			if h.from >= to {
				break
			}
			a, z := max(h.from, at), min(h.to, to)
			if z <= a || h.g == g {
				continue
			}
			x.ended(g, v, at, a, above)
			x.follow(h.g, a, z, way{rootHeld, v.lock}, above)
			at = z
		}
	}
	x.ended(g, v, at, to, above)
}

// ended attributes a part of a wait to the goroutine that ended it.
func (x *follower) ended(g *gor, v *iv, from, to int64, above []*gor) {
	if to <= from {
		return
	}
	by := x.m.byID[v.by]
	if v.by == 0 || by == nil || by == g || by.role != roleUser || len(by.ivs) == 0 {
		x.add(rootKey{way{rootUnknown, v.lock}, v.state, noName}, g, to-from)
		return
	}
	x.follow(by, from, to, way{rootWoke, v.lock}, above)
}

// rootSum is the time of a root on both sides.
type rootSum struct {
	slow, usual int64
	by          map[uint64]int64 // ns of all slow executions by goroutine
}

// slow compares the executions of the names that take most of the time.
func (m *model) slow() []Slow {
	list := []Slow{}
	for _, t := range m.runs() {
		if s, ok := m.slowOf(t); ok {
			list = append(list, s)
		}
		if len(list) == maxSlow {
			break
		}
	}
	return list
}

// runs returns the outermost executions of each name that has enough of them, the names with
// the most time first.
func (m *model) runs() []*task {
	by := map[uint16]*task{}
	for _, g := range m.gs {
		if len(g.ivs) == 0 || g.role != roleUser {
			continue
		}
		until := map[uint16]int64{}
		for _, s := range g.spans {
			if s.from < until[s.name] {
				continue
			}
			until[s.name] = s.to
			t := by[s.name]
			if t == nil {
				t = &task{name: s.name}
				by[s.name] = t
			}
			t.time += s.to - s.from
			t.spans, t.gs = append(t.spans, s), append(t.gs, g)
		}
	}
	var list []*task
	for _, t := range by {
		if len(t.spans) >= leastRuns && float64(t.time) >= slowTime*float64(m.span()) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *task) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(m.name(a.name), m.name(b.name)))
	})
	return list
}

// slowOf compares the slowest executions of a name with the middle half; ok is false if no
// root explains the difference.
func (m *model) slowOf(t *task) (s Slow, ok bool) {
	order := make([]int, len(t.spans))
	for i := range order {
		order[i] = i
	}
	length := func(i int) int64 { return t.spans[i].to - t.spans[i].from }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length(a), length(b)) })
	n := len(order)
	count := (n + 99) / 100
	slow, usual := order[n-count:], order[n/4:n-n/4]
	s = Slow{Of: m.name(t.name), Count: int64(count), All: int64(n), Limit: length(slow[0]), Roots: []Root{}}
	s.Longer = mean(slow, length) - mean(usual, length)
	if s.Longer <= 0 {
		return s, false
	}
	sums := map[rootKey]*rootSum{}
	for _, side := range []struct {
		list []int
		slow bool
	}{{slow, true}, {usual, false}} {
		k := min(len(side.list), maxFollowed)
		for j := range k {
			i := side.list[j*len(side.list)/k]
			x := follower{m: m, left: maxPieces, add: func(key rootKey, g *gor, ns int64) {
				sum := sums[key]
				if sum == nil {
					sum = &rootSum{by: map[uint64]int64{}}
					sums[key] = sum
				}
				if side.slow {
					sum.slow += ns
					sum.by[g.id] += ns
				} else {
					sum.usual += ns
				}
			}}
			x.follow(t.gs[i], t.spans[i].from, t.spans[i].to, way{rootOwn, -1}, nil)
		}
		for _, sum := range sums {
			if side.slow {
				sum.slow /= int64(k)
			} else {
				sum.usual /= int64(k)
			}
		}
	}
	for key, sum := range sums {
		more := sum.slow - sum.usual
		if share := float64(more) / float64(s.Longer); share >= rootShare {
			s.Roots = append(s.Roots, m.root(key, sum, more, min(share, 1)))
		}
	}
	slices.SortFunc(s.Roots, func(a, b Root) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Text, b.Text)) })
	s.Roots = s.Roots[:min(len(s.Roots), maxRoots)]
	return s, len(s.Roots) > 0
}

// mean returns the mean length of executions.
func mean(list []int, length func(int) int64) int64 {
	var sum int64
	for _, i := range list {
		sum += length(i)
	}
	return sum / int64(len(list))
}

// root describes a root.
func (m *model) root(k rootKey, sum *rootSum, more int64, share float64) Root {
	r := Root{Name: m.scopeName(k.name), State: k.state.String(), Time: more, Share: share}
	most, all := int64(0), int64(0)
	for id, ns := range sum.by {
		all += ns
		if ns > most || ns == most && id < r.Goid {
			r.Goid, most = id, ns
		}
	}
	who, holds := fmt.Sprintf("%d goroutines", len(sum.by)), "hold"
	if float64(most) >= mostOfRoot*float64(all) {
		who, holds = m.goroutine(r.Goid), "holds"
	}
	does := doing(k.state) + ", in no scope"
	if k.name != noName {
		does = doing(k.state) + ", in " + named(m.name(uint16(k.name)))
	}
	object, waiting := "", "waiting"
	if k.lock >= 0 {
		r.Object, object = m.locks[k.lock].name, m.locks[k.lock].called()
		waiting += " for " + object
	}
	switch k.how {
	case rootOwn:
		r.marked = "itself " + does
	case rootHeld:
		r.marked = who + " " + holds + " " + object + ", " + does
	case rootWoke:
		r.marked = waiting + " until woken by " + who + ", " + does
	case rootUnknown:
		r.marked = waiting + ", for whom is not known"
	}
	r.Text = plain(r.marked)
	return r
}

// goroutine returns a goroutine's name in a sentence, with marks.
func (m *model) goroutine(id uint64) string {
	if g := m.byID[id]; g != nil && g.track != "" {
		return named(g.track)
	}
	return fmt.Sprintf("goroutine %d", id)
}

// doing describes a state.
func doing(s states.State) string {
	switch {
	case running(s):
		return "running"
	case s == states.Unknown:
		return "doing something that is not known"
	case offCPU[s] != "":
		return offCPU[s]
	case s == states.Runnable:
		return "waiting for a processor"
	case s == states.Preempted:
		return "preempted by the system"
	case s == states.GC:
		return "held up by the garbage collector"
	}
	return s.String()
}
