package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// collectorLimits say from which numbers on GC is told.
var collectorLimits = struct{ cpu, assist float64 }{
	cpu:    0.25, // of all that ran
	assist: 0.05, // of the goroutines' time on CPUs
}

// collector: the garbage collector takes the cores. Share is its part of all that ran, or
// where that is more the part of their own running time that goroutines help it. Gain is
// what a replay takes less without it, and without what the CPU profile finds in making
// the garbage: on cores that had nothing to do it costs nothing.
func collector(m *model) []Finding {
	var ran, assist, workers int64
	scopes := map[uint16]int64{}
	for _, g := range m.gs {
		for i := range g.ivs {
			v := &g.ivs[i]
			d := v.to - v.from
			switch {
			case !v.core:
			case g.role == roleCollector && v.state != states.Preempted:
				workers += d
			case v.state == states.GC:
				assist += d
				g.scopesIn(v.from, v.to, scopes)
			case running(v.state):
				ran += d
			}
		}
	}
	cpu := float64(workers+assist) / float64(max(workers+assist+ran, 1))
	helping := float64(assist) / float64(max(assist+ran, 1))
	if cpu < collectorLimits.cpu && helping < collectorLimits.assist || m.base == nil {
		return nil
	}
	f := Finding{Share: max(cpu, helping), Confidence: 0.8, FromNS: m.from, ToNS: m.to}
	made := m.allocating()
	f.weight = m.base.gain(without{
		lock: -1,
		skip: func(_ *script, s *step) bool { return s.s == states.GC },
		scale: func(sc *script, _ *step) float64 {
			if sc.g.role == roleUser {
				return 1 - made
			}
			return 1
		},
	})
	f.Scopes = m.most(scopes, assist)
	in := ""
	if len(f.Scopes) > 0 {
		in = ", mostly in " + quoted(f.Scopes[:1])
	}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; v.core && (v.state == states.GC || g.role == roleCollector) {
					yield(v.from, v.to)
				}
			}
		}
	})
	f.Text = fmt.Sprintf("The garbage collector takes %s of all that ran, and goroutines help it %s of their running time%s.",
		analysis.Percent(cpu), analysis.Percent(helping), in)
	f.mend, f.spared = "Without garbage", made
	f.Evidence = []string{fmt.Sprintf("its workers ran for %s, and goroutines helped for %s; a higher GOGC buys part of that with memory", analysis.Humane(workers), analysis.Humane(assist))}
	if made > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("by the CPU profile, %s of the program's own time goes into allocating", analysis.Percent(made)))
	}
	if m.beats.gcPause > 0 {
		f.Evidence = append(f.Evidence, "it stopped the world for "+analysis.Humane(m.beats.gcPause)+" altogether")
	}
	return []Finding{f}
}

// allocating is the share of the program's samples that are in allocation and not in
// what the states tell of as garbage collection; 0 where there are few.
func (m *model) allocating() float64 {
	n, all := 0, 0
	for _, s := range m.samples {
		if s.g.role == roleUser {
			all++
			if s.alloc {
				n++
			}
		}
	}
	if all < 30 {
		return 0
	}
	return float64(n) / float64(all)
}

// allocates tells whether a stack is in the allocator, and not helping the collector.
func allocates(frames []gotrace.Frame) (yes bool) {
	for i := range frames {
		switch {
		case strings.HasPrefix(frames[i].Func, "runtime.gcAssist"):
			return false
		case strings.HasPrefix(frames[i].Func, "runtime.mallocgc"):
			yes = true
		}
	}
	return yes
}

// handoffCost is what it takes to wake another goroutine and be switched away from.
const handoffCost = 1000

// channelLimits say from which numbers on Channel is told.
var channelLimits = struct{ blocked, pingpong, handing float64 }{
	blocked:  0.05,   // of the core time, that senders wait while their receiver runs; ours
	pingpong: 10_000, // hand-offs in a second
	handing:  0.05,   // of the CPU time, that those in all places take; ours
}

// channel: senders wait although their receiver runs, which more room in the channel
// would spare them; or goroutines hand on so often that this costs more than the work.
// Share is the part of the core time that senders wait so, or that handing on takes. Gain
// is what a replay takes less in which no sender waits, or that cost. To hand on is to send,
// to wake who waits in a select, and to signal a Cond.
//
// A sender that waits because its receivers have too much to do gains nothing by room:
// the replay tells.
func channel(m *model) (fs []Finding) {
	type use struct {
		waited, blocked int64
		n               int
		from            map[uint16]int64
		stack           uint32
	}
	by := map[string]*use{}
	var places []string
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		for i := range g.ivs {
			v := &g.ivs[i]
			x := m.byID[v.by]
			if !handing(v.state) || v.lock >= 0 || v.by == 0 || x == nil {
				continue
			}
			place := m.place(v.stack)
			u := by[place]
			if u == nil {
				u = &use{from: map[uint16]int64{}, stack: v.stack}
				by[place] = u
				places = append(places, place)
			}
			u.n++
			u.waited += v.to - v.from
			if v.send {
				d := x.ran(v.from, v.to)
				u.blocked += d
				x.scopesIn(v.from, v.to, u.from)
			}
		}
	}
	for _, p := range places {
		u := by[p]
		if share := float64(u.blocked) / m.coreTime(); share >= channelLimits.blocked && m.base != nil {
			f := Finding{Object: p, Scopes: m.most(u.from, u.blocked), Share: share, Confidence: 0.8}
			f.weight = m.base.gain(without{lock: -1, skip: func(_ *script, s *step) bool {
				return s.send && s.s == states.Channel
			}})
			f.weight = min(f.weight, filled*m.sweep.lost[partChannel]/float64(max(m.sweep.known, 1))/m.cores.Count)
			f.FromNS, f.ToNS = m.channelWhere(p)
			f.Text = fmt.Sprintf("Who sends in %s waits %s of the time of the %s for a receiver that works on what it has got, in %s.",
				orPlace(p), analysis.Percent(share), cores(m), quoted(f.Scopes))
			f.mend = "With room for what comes in bursts"
			f.Evidence = []string{fmt.Sprintf("%s waits to send there, for %s on average", analysis.Thousands(int64(u.n)), analysis.Humane(u.waited/int64(u.n)))}
			fs = append(fs, f)
			continue
		}
		if rate := float64(u.n) * 1e9 / float64(m.span()); rate > channelLimits.pingpong {
			share := float64(u.n) * handoffCost / m.coreTime()
			f := Finding{Object: p, Scopes: m.most(u.from, u.blocked), Share: share, weight: share, spared: share, Confidence: 0.6}
			f.FromNS, f.ToNS = m.channelWhere(p)
			f.Text = fmt.Sprintf("Goroutines hand on %s times in a second in %s, and each time one is switched for another: %s of the time of the %s.",
				analysis.Thousands(int64(rate)), orPlace(p), analysis.Percent(share), cores(m))
			f.mend = "With several values at a time"
			f.Evidence = []string{fmt.Sprintf("%s waits for a channel, in a select or for a Cond there; one is taken to cost %s", analysis.Thousands(int64(u.n)), analysis.Humane(handoffCost))}
			fs = append(fs, f)
		}
	}
	// In a server no place may have many, and all together have.
	all, most := 0, ""
	for _, p := range places {
		if all += by[p].n; most == "" || by[p].n > by[most].n {
			most = p
		}
	}
	rate, share := float64(all)*1e9/float64(m.span()), float64(all)*handoffCost/m.used()
	told := slices.ContainsFunc(fs, func(f Finding) bool { return f.weight >= worth })
	if told || rate <= channelLimits.pingpong || share < channelLimits.handing {
		return fs
	}
	f := Finding{Object: most, Scopes: m.most(by[most].from, by[most].blocked), Share: share, Gain: Unknown, weight: share, Confidence: 0.6}
	f.FromNS, f.ToNS = m.channelWhere(most)
	f.Text = fmt.Sprintf("Goroutines hand on %s times in a second, most in %s: to switch between them takes some %s of the CPU time, and more where they wake each other across CPUs.",
		analysis.Thousands(int64(rate)), orPlace(most), analysis.Percent(share))
	f.mend = "With several values at a time, or fewer processors, it might be shorter; by how much is not to be told from a trace: scopeview scale runs it with several numbers of them"
	f.Evidence = []string{fmt.Sprintf("%s waits for a channel, in a select or for a Cond in %s; one is taken to cost %s", analysis.Thousands(int64(all)), analysis.Plural(int64(len(places)), "place"), analysis.Humane(handoffCost))}
	return append(fs, f)
}

func (m *model) channelWhere(place string) (from, to int64) {
	return m.where(func(yield func(a, b int64)) {
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; handing(v.state) && v.by != 0 && m.place(v.stack) == place {
					yield(v.from, v.to)
				}
			}
		}
	})
}

// polls reports whether a stack is in a function that one polls with, at its leaf or just
// above it.
func polls(frames []gotrace.Frame) bool {
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

// spinningLimits say from which numbers on Spinning is told.
var spinningLimits = struct{ spin, polls, loops float64 }{
	spin:  0.05, // of the core time; ours
	polls: 0.6,  // of a goroutine's samples, that are in what one polls with; ours
	loops: 0.2,  // of a goroutine's samples, that are in a loop that does nothing but let others run; ours
}

// spinning: goroutines take cores to look whether something has come. Of a goroutine it
// is told by its samples: most of them are in what one polls with, or outside what it
// does otherwise. Of lock-free loops, by the records of scope.Retry. Share is the part of
// the core time that this takes. Gain is what a replay takes less in which it takes none.
func spinning(m *model) []Finding {
	fs, retries := m.retries()
	all, in, loops := map[*gor]int{}, map[*gor]int{}, map[*gor]int{}
	leaves := map[*gor]map[string]int{}
	for _, s := range m.samples {
		if s.g.role != roleUser || retries[s.g] {
			continue // or it is told already
		}
		all[s.g]++
		if s.loops {
			loops[s.g]++
		}
		if s.polls || s.loops {
			in[s.g]++
			if leaves[s.g] == nil {
				leaves[s.g] = map[string]int{}
			}
			leaves[s.g][s.place]++
		}
	}
	byPlace := map[string][]*gor{}
	var places []string
	for _, g := range m.gs {
		if all[g] < 10 || float64(in[g]) < spinningLimits.polls*float64(all[g]) && float64(loops[g]) < spinningLimits.loops*float64(all[g]) {
			continue
		}
		best := ""
		for p, n := range leaves[g] {
			if n > leaves[g][best] || n == leaves[g][best] && p < best {
				best = p
			}
		}
		if byPlace[best] == nil {
			places = append(places, best)
		}
		byPlace[best] = append(byPlace[best], g)
	}
	for _, p := range places {
		gs := byPlace[p]
		var spun int64
		idle := map[*gor]float64{}
		samples, looping := 0, 0
		for _, g := range gs {
			looping += loops[g]
			share := float64(in[g]) / float64(all[g])
			idle[g] = 1 - share
			spun += int64(share * float64(g.ran(m.from, m.to)))
			samples += all[g]
		}
		share := float64(spun) / m.coreTime()
		if share < spinningLimits.spin || m.base == nil {
			continue
		}
		f := Finding{Object: p, Share: share, Confidence: 0.8, FromNS: m.from, ToNS: m.to}
		if samples < 30 {
			f.Confidence = 0.6
		}
		f.weight = m.base.gain(without{lock: -1, scale: func(sc *script, _ *step) float64 {
			if x, ok := idle[sc.g]; ok {
				return x
			}
			return 1
		}})
		times := map[uint16]int64{}
		for _, g := range gs {
			if g.scopesIn(m.from, m.to, times); len(f.Goids) < 3 {
				f.Goids = append(f.Goids, g.id)
			}
		}
		f.Scopes = m.most(times, total(times))
		f.Text = fmt.Sprintf("%s looks again and again whether something has come, in %s: that takes %s of the time of the %s.",
			m.who(gs[0]), orPlace(p), analysis.Percent(share), cores(m))
		f.mend, f.spared = "Waiting for it", share
		what := "most are in calls that one polls with"
		if looping > 0 {
			what = analysis.Thousands(int64(looping)) + " are in a loop in which it lets others run, and in nothing that the loop calls"
		}
		f.Evidence = []string{fmt.Sprintf("of %s samples of the CPU profile of %s %s", analysis.Thousands(int64(samples)), analysis.Plural(int64(len(gs)), "goroutine"), what)}
		fs = append(fs, f)
	}
	return fs
}

// retries are the loops of scope.Retry that take cores, and who is in them.
func (m *model) retries() (fs []Finding, in map[*gor]bool) {
	in = map[*gor]bool{}
	for i, k := range m.locks {
		if k.kind != format.LockRetry || len(k.waits) == 0 {
			continue
		}
		u := m.use(k)
		spun, of := u.wait, map[*gor]int64{}
		if m.hasGo { // then it is known when they ran
			spun = 0
			for _, w := range k.waits {
				d := w.g.ran(w.from, w.to)
				spun += d
				of[w.g] += d
			}
		}
		share := float64(spun) / m.coreTime()
		if share < spinningLimits.spin {
			continue
		}
		f := u.finding(m)
		f.Share, f.Confidence = share, 0.75
		f.Scopes = m.most(u.waiters, u.wait)
		f.weight = min(share, 1-1/m.cores.Count)
		if m.base != nil {
			rest := map[*gor]float64{}
			for g, d := range of {
				rest[g] = 1 - float64(d)/float64(max(g.ran(m.from, m.to), 1))
			}
			f.weight = m.base.gain(without{lock: -1, scale: func(sc *script, _ *step) float64 {
				if x, ok := rest[sc.g]; ok {
					return x
				}
				return 1
			}})
		}
		f.Text = fmt.Sprintf("%s is tried again and again: failed tries take %s of the time of the %s, in %s.",
			analysis.Show(m.locks[i].name), analysis.Percent(share), cores(m), quoted(f.Scopes))
		f.mend, f.spared = "Without them", share
		fs = append(fs, f)
		for _, w := range k.waits {
			in[w.g] = true
		}
	}
	return fs, in
}

// faultCost is the most that one page fault without I/O is taken to cost: it clears a
// page and puts it into the page table. With huge pages and in virtual machines it is
// more; then the finding's share is too small.
const faultCost = 2500

// pageFaultsLimits say from which numbers on PageFaults is told.
var pageFaultsLimits = struct{ fault float64 }{
	fault: 0.05, // of the CPU time
}

// pageFaults: the system's time goes into giving the program memory that it gives back, or
// had before: faults by which it has grown are not counted. Share is the
// system's part of the CPU time, as far as the page faults can have cost it. Gain is what
// a replay takes less in which all runs are shorter by that, or that share of the CPU
// time over the core time.
func pageFaults(m *model) []Finding {
	b := &m.beats
	cpu := b.user + b.system
	if cpu <= 0 {
		return nil
	}
	faults := b.minor + b.major
	cost := min(b.system, faults*faultCost)
	share := float64(cost) / float64(cpu)
	if share < pageFaultsLimits.fault || faults < 1000 {
		return nil
	}
	f := Finding{Share: share, Confidence: 0.7, FromNS: m.from, ToNS: m.to, weight: float64(cost) / (m.cores.Count * float64(b.over))}
	scopes := map[uint16]int64{}
	if m.base != nil {
		f.weight = m.base.gain(without{lock: -1, scale: func(*script, *step) float64 { return 1 - share }})
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; g.role == roleUser && v.core {
					g.scopesIn(v.from, v.to, scopes)
				}
			}
		}
	}
	f.Scopes = m.most(scopes, total(scopes))
	f.Text = fmt.Sprintf("Page faults take up to %s of the CPU time: the program touches new memory %s times in a second, while it is mostly in %s.",
		analysis.Percent(share), analysis.Thousands(int64(float64(faults)*1e9/float64(max(b.over, 1)))), quoted(f.Scopes))
	f.spared = share
	f.mend = "With memory that it keeps and uses again"
	f.Evidence = []string{fmt.Sprintf("%s page faults, %s of them with I/O, and %s of system time in %s of CPU time", analysis.Thousands(faults), analysis.Thousands(b.major), analysis.Humane(b.system), analysis.Humane(cpu))}
	return []Finding{f}
}
