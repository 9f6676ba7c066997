package doctor

import (
	"cmp"
	"math"
	"slices"
)

// rule is a row of the table.
type rule struct {
	verdict Verdict
	source  string // of the rule, and of the thresholds that are not marked as ours
	needs   need
	look    func(m *model) []Finding
}

// need is the data that a rule requires.
type need uint8

const (
	needGo      need = 1 << iota // states of goroutines
	needCores                    // number of cores
	needBeats                    // at least two heartbeats
	needSamples                  // the CPU profile
)

// rules is the table. A limit that the sources leave open, or where we differ from them, has
// a comment that says "ours".
var rules = []rule{
	{blockingUnderLock, "SyncPerf (EuroSys 2017)", needGo, (*model).blockingUnderLock},
	{fatCriticalSection, "the utilization law; Pikus", needCores, (*model).fatCriticalSection},
	{convoy, "the starvation of sync.Mutex, after 1 ms", needCores, (*model).convoy},
	{lockContention, "VTune; SyncPerf", needCores, (*model).lockContention},
	{serialization, "Pikus; bottle graphs (OOPSLA 2013)", needGo | needCores, (*model).serialization},
	{workInflation, "Acar, Charguéraud, Rainey: work inflation", needGo | needCores, (*model).workInflation},
	{loadImbalance, "SyncPerf; imbalance as HPC tools have it", needGo | needCores, (*model).loadImbalance},
	{tooFine, "work and span", needGo | needCores, (*model).tooFine},
	{oversubscription, "VTune", needGo | needCores, (*model).oversubscription},
	{notEnoughParallelism, "bottle graphs; GAPP", needGo | needCores, (*model).notEnoughParallelism},
	{gc, "runtime/metrics", needGo | needCores, (*model).collector},
	{channel, "Little's law", needGo | needCores, (*model).channel},
	{spinning, "VTune", needGo | needCores | needSamples, (*model).spinning},
	{pageFaults, "Sun's microstates", needBeats | needCores, (*model).pageFaults},
}

// worth is the gain below which a finding is dropped. Ours: the sources' thresholds show
// that a problem exists, not that fixing it pays, and where all cores are busy with other
// work it does not.
const worth = 0.03

// foreignWorth is worth for locks that package scope does not record: the share of waiting
// that the sources require, see "wait".
const foreignWorth = 0.05

// examine runs all rules that have their data.
func (m *model) examine() []Finding {
	found := []Finding{}
	for i := range rules {
		r := &rules[i]
		if m.lacks(r.needs) != 0 {
			continue
		}
		for _, f := range r.look(m) {
			if f.Verdict == "" {
				f.Verdict = r.verdict
			}
			if f.Gain != unknownGain {
				f.weight = rounded(min(f.weight, m.mostGain(f.savedWork)))
				f.Gain = Gain(f.weight)
			}
			if f.weight >= worth {
				found = append(found, f)
			}
		}
	}
	found = append(found, m.waitedWhileStarved(found)...)
	for i := range found {
		f := &found[i]
		f.say(m)
		m.locate(f)
		f.Share, f.Confidence = rounded(f.Share), rounded(f.Confidence*m.trust())
		if f.Scopes == nil {
			f.Scopes = []string{}
		}
		if f.Goids == nil {
			f.Goids = []uint64{}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Compare(b.weight*b.Confidence, a.weight*a.Confidence)
	})
	return found
}

// mostGain returns the upper bound of a gain: the program's own work stays, except for the
// spared part, and takes its time on all cores. The goroutines' own work is at most the
// process's CPU time.
func (m *model) mostGain(spared float64) float64 {
	if !m.hasGo || m.cores.Count <= 0 {
		return 1
	}
	var own float64
	for _, g := range m.gs {
		if g.role == roleUser {
			own += float64(g.onCPU(m.from, m.to))
		}
	}
	if b := &m.beats; b.cpuKnown() {
		own = min(own, float64(b.user+b.system)/float64(b.over)*float64(m.span()))
	}
	return min(max(1-own/m.coreTime()+spared, 0), 1)
}

// rounded returns a share from 0 to 1 with six decimals, the most that the data supports.
func rounded(share float64) float64 { return math.Round(min(max(share, 0), 1)*1e6) / 1e6 }

// trust returns the factor for the confidence of findings, from how well a replay reproduces
// the run, and from the part of the CPU time that others took.
func (m *model) trust() float64 {
	if s := m.starved; s != nil && s.Share >= starvedShare {
		return (1 - s.Share/2) * m.replays()
	}
	return m.replays()
}

func (m *model) replays() float64 {
	switch {
	case !m.hasGo:
		return 0.6
	case m.base == nil:
		return 0.7
	}
	off := float64(m.base.time)/float64(max(m.base.real, 1)) - 1
	if off < -0.25 || off > 0.25 {
		return 0.7
	}
	return 1
}

// lacks returns those of needs that the trace does not meet.
func (m *model) lacks(needs need) (l need) {
	for n, have := range map[need]bool{
		needGo:      m.hasGo && m.sweep != nil && m.sweep.known > 0,
		needCores:   m.cores.Count > 0,
		needBeats:   m.beats.over > 0 && m.beats.user >= 0 && m.beats.minor >= 0,
		needSamples: len(m.samples) > 0,
	} {
		if needs&n != 0 && !have {
			l |= n
		}
	}
	return l
}

// unexamined returns the rules that could not run, and why.
func (m *model) unexamined() []Unexamined {
	list := []Unexamined{}
	if m.merged > 0 {
		// Rules are about the processors of one process, and shares of its time.
		u := ofMerged(m.merged)
		for _, r := range rules {
			if m.lacks(r.needs) != 0 {
				u.Verdicts = append(u.Verdicts, r.verdict)
			}
		}
		if len(u.Verdicts) > 0 {
			list = append(list, u)
		}
		return list
	}
	for _, n := range []need{needGo, needSamples, needBeats, needCores} {
		var vs []Verdict
		for _, r := range rules {
			l := m.lacks(r.needs)
			if first := l & -l; first == n || n == needSamples && l == needSamples {
				vs = append(vs, r.verdict)
			}
		}
		if len(vs) == 0 {
			continue
		}
		u := Unexamined{Verdicts: vs}
		switch n {
		case needGo:
			u.Why, u.How = "the goroutines' states are not known: there is no Go execution trace", "record with scope.Start(path, gotrace.With()), or join one with scopeview join"
			if m.noGo != "" {
				u.Why = "the goroutines' states are not known: " + m.noGo
			}
		case needSamples:
			u.Why, u.How = "there are no samples of the CPU profile", "record at least a second with gotrace.With(), while no other profiler runs in the program"
		case needBeats:
			u.Why, u.How = "fewer than two heartbeats have page faults", "record on Linux, until Stop"
		case needCores:
			u.Why, u.How = "the number of CPUs that the program could use is not known", "record with heartbeats"
		}
		list = append(list, u)
	}
	return list
}
