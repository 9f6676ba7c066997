package doctor

import (
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/symbols"
)

// polls reports whether a stack has a function that one polls with among its four innermost
// frames.
func polls(frames []*symbols.Frame) bool {
	for i := range frames[:min(len(frames), 4)] {
		if name, ok := strings.CutPrefix(frames[i].Func, "sync/atomic."); ok && (strings.Contains(name, "Load") || strings.Contains(name, "CompareAndSwap")) {
			return true
		}
		if gotrace.Functions.Poll.Has(frames[i].Func) {
			return true
		}
	}
	return false
}

// spinningLimits are the thresholds of spinning.
var spinningLimits = struct{ spin, polls, loops float64 }{
	spin:  0.05, // of the core time; ours
	polls: 0.6,  // of a goroutine's samples: in functions that one polls with; ours
	loops: 0.2,  // of a goroutine's samples: in a loop that only yields; ours
}

// spinningFacts describes goroutines that poll in one place.
type spinningFacts struct {
	g                            *gor // the first of the goroutines
	goroutines, samples, looping int
}

// retryFacts describes a loop of scope.Retry.
type retryFacts struct{ u *use }

// spinning: goroutines use cores to check repeatedly for a condition. A goroutine spins if
// most of its samples are in functions that one polls with, or enough are in a loop that
// only yields. Lock-free loops are found by the records of scope.Retry. Share is the part of
// the core time that spinning takes. Gain is the reduction in a replay without it.
func (m *model) spinning() []Finding {
	fs, retries := m.retries()
	list, places := m.samplesOf(retries), map[string][]*polled{}
	var order []string
	for _, x := range list {
		place := x.place()
		if places[place] == nil {
			order = append(order, place)
		}
		places[place] = append(places[place], x)
	}
	for _, place := range order {
		if f, ok := m.spins(place, places[place]); ok {
			fs = append(fs, f)
		}
	}
	return fs
}

// polled counts a goroutine's samples in the CPU profile.
type polled struct {
	g               *gor
	all, in, looped int            // samples: all, in polling functions, and in yielding loops
	places          map[string]int // places of the samples that poll
}

// spins reports whether the goroutine mostly polls.
func (x *polled) spins() bool {
	return x.all >= 10 && (float64(x.in) >= spinningLimits.polls*float64(x.all) || float64(x.looped) >= spinningLimits.loops*float64(x.all))
}

// place returns the place with the most polling.
func (x *polled) place() (best string) {
	for p, n := range x.places {
		if n > x.places[best] || n == x.places[best] && p < best {
			best = p
		}
	}
	return best
}

// samplesOf counts the samples of the program's goroutines that spin, except for those in
// reported.
func (m *model) samplesOf(reported map[*gor]bool) (list []*polled) {
	by := map[*gor]*polled{}
	for _, s := range m.samples {
		if s.g.role != roleUser || reported[s.g] {
			continue
		}
		x := by[s.g]
		if x == nil {
			x = &polled{g: s.g, places: map[string]int{}}
			by[s.g] = x
		}
		x.all++
		if s.loops {
			x.looped++
		}
		if s.polls || s.loops {
			x.in++
			x.places[s.place]++
		}
	}
	for _, g := range m.gs {
		if x := by[g]; x != nil && x.spins() {
			list = append(list, x)
		}
	}
	return list
}

// spins returns the finding about goroutines that poll in one place.
func (m *model) spins(place string, xs []*polled) (f Finding, ok bool) {
	var spun int64
	idle, times := map[*gor]float64{}, map[uint16]int64{}
	facts := spinningFacts{g: xs[0].g, goroutines: len(xs)}
	for _, x := range xs {
		share := float64(x.in) / float64(x.all)
		idle[x.g] = 1 - share
		spun += int64(share * float64(x.g.ran(m.from, m.to)))
		facts.samples += x.all
		facts.looping += x.looped
	}
	share := float64(spun) / m.coreTime()
	if share < spinningLimits.spin || m.base == nil {
		return f, false
	}
	f = Finding{Object: place, Share: share, Confidence: 0.8, FromNS: m.from, ToNS: m.to, savedWork: share, facts: facts}
	if facts.samples < 30 {
		f.Confidence = 0.6
	}
	f.weight = m.base.gain(keeping(idle))
	for _, x := range xs {
		if x.g.scopesIn(m.from, m.to, times); len(f.Goids) < 3 {
			f.Goids = append(f.Goids, x.g.id)
		}
	}
	f.Scopes = m.most(times, total(times))
	return f, true
}

// keeping scales the run time of goroutines by these parts.
func keeping(parts map[*gor]float64) removal {
	return removal{scale: func(sc *script, _ *step) float64 {
		if x, ok := parts[sc.g]; ok {
			return x
		}
		return 1
	}}
}

// retries returns the findings about loops of scope.Retry, and the goroutines in these.
func (m *model) retries() (fs []Finding, in map[*gor]bool) {
	in = map[*gor]bool{}
	for _, k := range m.locks {
		if k.kind != format.LockRetry || len(k.waits) == 0 {
			continue
		}
		if f, ok := m.retry(m.use(k)); ok {
			fs = append(fs, f)
			for _, w := range k.waits {
				in[w.g] = true
			}
		}
	}
	return fs, in
}

// retry returns the finding about a loop of scope.Retry.
func (m *model) retry(u *use) (f Finding, ok bool) {
	spun, of := u.wait, map[*gor]int64{}
	if m.hasGo { // the times at which they ran are known
		spun = 0
		for _, w := range u.l.waits {
			d := w.g.ran(w.from, w.to)
			spun += d
			of[w.g] += d
		}
	}
	share := float64(spun) / m.coreTime()
	if share < spinningLimits.spin {
		return f, false
	}
	f = u.finding(m)
	f.Share, f.Confidence, f.savedWork, f.facts = share, 0.75, share, retryFacts{u}
	f.Scopes = m.most(u.waiters, u.wait)
	f.weight = min(share, 1-1/m.cores.Count)
	if m.base != nil {
		rest := map[*gor]float64{}
		for g, d := range of {
			rest[g] = 1 - float64(d)/float64(max(g.ran(m.from, m.to), 1))
		}
		f.weight = m.base.gain(keeping(rest))
	}
	return f, true
}
