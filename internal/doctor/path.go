package doctor

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// The critical path is found by walking back from an end. It follows a goroutine while that
// runs, and where it waited, the goroutine that woke it. So the path has no gaps, and
// nothing off it would have made the end come earlier.

const (
	maxWalks  = 200 // scopes of one name whose paths are walked; of more, every n-th
	maxParts  = 12
	maxTasks  = 5   // names that get a path
	taskShare = 0.2 // part of the range that a name's outermost scopes must take to get one
	pathShare = 0.01
	whatIfs   = 6
	maxAtOnce = 1000 // steps of a walk without progress in time
	noName    = -1
)

// walk follows the critical path of g back from one moment to another.
func (m *model) walk(g *gor, from, to int64, on func(g *gor, from, to int64, s states.State)) {
	t, still := to, 0
	for t > from && still < maxAtOnce {
		if x := m.before(g, t); x != nil {
			g = x
			still++
			continue
		}
		a, s := from, states.Unknown // g has no interval in between
		if i := g.at(t - 1); i < len(g.ivs) && g.ivs[i].from < t {
			a, s = max(from, g.ivs[i].from), g.ivs[i].state
		} else if i > 0 {
			a = max(from, g.ivs[i-1].to)
		}
		on(g, a, t, s)
		t, still = a, 0
	}
}

// before returns the goroutine on which g's progress at t depended: the one that created or
// woke it then; nil if there is none.
func (m *model) before(g *gor, t int64) (x *gor) {
	if i := g.at(t - 1); i == len(g.ivs) || g.ivs[i].from >= t {
		if g.created && t <= g.from {
			x = m.byID[g.creator]
		}
	} else if v := &g.ivs[i]; v.by != 0 && t == v.to && waits(v.state) {
		if x = m.byID[v.by]; x != nil && len(x.ivs) == 0 {
			return nil
		}
	}
	if x == nil || x == g || x.role != roleUser {
		return nil
	}
	return x
}

type partKey struct {
	name  int32
	state states.State
}

// tally sums the parts of paths.
type tally struct {
	parts map[partKey]int64
	time  int64
	count int64
}

func (y *tally) walk(m *model, g *gor, from, to int64) {
	y.count++
	m.walk(g, from, to, func(g *gor, a, b int64, s states.State) {
		y.time += b - a
		times := map[uint16]int64{}
		g.scopesIn(a, b, times)
		rest := b - a
		for n, d := range times {
			y.parts[partKey{int32(n), s}] += d
			rest -= d
		}
		if rest > 0 {
			y.parts[partKey{noName, s}] += rest
		}
	})
}

func (y *tally) path(m *model, of string) Path {
	p := Path{Of: of, Count: y.count, All: y.count, Time: y.time, Parts: []Part{}, WhatIf: []WhatIf{}}
	for k, d := range y.parts {
		if d > 0 {
			p.Parts = append(p.Parts, Part{m.scopeName(k.name), k.state.String(), d, float64(d) / float64(max(y.time, 1))})
		}
	}
	slices.SortFunc(p.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.State, b.State))
	})
	p.Parts = p.Parts[:min(len(p.Parts), maxParts)]
	return p
}

// names returns the scopes on the paths, those with the most time first.
func (y *tally) names() (list []int32) {
	times := map[int32]int64{}
	for k, d := range y.parts {
		if k.name != noName {
			times[k.name] += d
		}
	}
	for n, d := range times {
		if float64(d) >= pathShare*float64(y.time) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	return list[:min(len(list), whatIfs)]
}

func (y *tally) share(name int32) float64 {
	var sum int64
	for k, d := range y.parts {
		if k.name == name {
			sum += d
		}
	}
	return float64(sum) / float64(max(y.time, 1))
}

func (m *model) scopeName(n int32) string {
	if n == noName {
		return ""
	}
	return m.name(uint16(n))
}

// paths returns the critical paths of the run and of the longest tasks.
func (m *model) paths() []Path {
	list := []Path{}
	if last := m.lastOne(); last != nil {
		y := &tally{parts: map[partKey]int64{}}
		y.walk(m, last, m.from, m.to)
		p := y.path(m, "")
		for _, n := range y.names() {
			// The scope's time on other goroutines is removed too: the scope costs nothing
			// anywhere.
			free := func(_ *script, s *step) bool { return s.kind == stepRun && s.name == n }
			if g := m.base.gain(removal{skip: free}); g >= pathShare {
				p.WhatIf = append(p.WhatIf, WhatIf{Name: m.scopeName(n), Gain: g, Partly: m.partly(n)})
			}
		}
		sortWhatIf(p.WhatIf)
		m.steps(&p, last)
		list = append(list, p)
	}
	for _, t := range m.tasks() {
		y := &tally{parts: map[partKey]int64{}}
		every := (len(t.spans) + maxWalks - 1) / maxWalks
		for i := 0; i < len(t.spans); i += every {
			y.walk(m, t.gs[i], t.spans[i].from, t.spans[i].to)
		}
		p := y.path(m, m.name(t.name))
		p.All = int64(len(t.spans))
		for _, n := range y.names() {
			if s := y.share(n); n != int32(t.name) && s >= pathShare {
				p.WhatIf = append(p.WhatIf, WhatIf{Name: m.scopeName(n), Gain: s})
			}
		}
		sortWhatIf(p.WhatIf)
		list = append(list, p)
	}
	return list
}

func sortWhatIf(ws []WhatIf) {
	slices.SortFunc(ws, func(a, b WhatIf) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Name, b.Name))
	})
}

// task is a name's outermost scopes.
type task struct {
	name  uint16
	time  int64
	spans []span
	gs    []*gor
}

// tasks returns the names whose outermost scopes take much of the time, the most first.
func (m *model) tasks() []*task {
	by := map[uint16]*task{}
	for _, g := range m.gs {
		if len(g.ivs) == 0 {
			continue
		}
		for _, s := range g.spans {
			if s.depth > 0 {
				continue
			}
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
		if float64(t.time) >= taskShare*float64(m.span()) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *task) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(m.name(a.name), m.name(b.name)))
	})
	return list[:min(len(list), maxTasks)]
}

// mostSteps is the maximum number of steps of the critical path in a report: more than a
// page has pixels.
const mostSteps = 3000

// steps stores in p the longest steps of last's critical path, if Options.Drawn is set.
func (m *model) steps(p *Path, last *gor) {
	if !m.drawn {
		return
	}
	var all [][3]int64 // from the last to the first
	m.walk(last, m.from, m.to, func(g *gor, a, b int64, _ states.State) {
		if n := len(all); n > 0 && all[n-1][0] == int64(g.id) && all[n-1][1] == b {
			all[n-1][1] = a
		} else if b > a {
			all = append(all, [3]int64{int64(g.id), a, b})
		}
	})
	p.AllSteps = len(all)
	slices.SortFunc(all, func(a, b [3]int64) int { return cmp.Or(cmp.Compare(b[2]-b[1], a[2]-a[1]), cmp.Compare(a[1], b[1])) })
	p.Steps = slices.Clone(all[:min(len(all), mostSteps)])
	slices.SortFunc(p.Steps, func(a, b [3]int64) int { return cmp.Compare(a[1], b[1]) })
}

// partly returns the gains of the run if the scopes of a name took 3/4, 1/2 and 1/4 of their
// own time; nil unless Options.Drawn is set.
func (m *model) partly(name int32) (gains []float64) {
	if !m.drawn {
		return nil
	}
	for _, left := range []float64{0.75, 0.5, 0.25} {
		gains = append(gains, m.base.gain(removal{scale: func(_ *script, s *step) float64 {
			if s.kind == stepRun && s.name == name {
				return left
			}
			return 1
		}}))
	}
	return gains
}
