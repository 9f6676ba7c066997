package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// While somebody waits for a lock, somebody has it, or it was given to one that waits for a
// processor. Where what is recorded does not say so, holds are missing, and then the numbers of
// one finding do not add up: a thousand long waits for a lock that is held for some microseconds.
// So each finding about a lock accounts for the time in which somebody waited.

// account is where the time in which somebody waited for a lock went.
type account struct {
	some   int64 // ns in which somebody waited
	held   int64 // of it: a hold is recorded
	handed int64 // of the rest: one that waited was woken, and waited for a processor
	queued int64 // of all who waited together: after they were woken
}

// missing is the part of the time in which nobody is known to have had the lock.
func (a *account) missing() float64 {
	return max(float64(a.some-a.held-a.handed)/float64(max(a.some, 1)), 0)
}

// toldFrom is the part of the time in which somebody waited from which on it is said where
// it went, if not into recorded holds. Ours: waits and holds are recorded a little apart.
const toldFrom = 0.1

// account accounts for the waits of a lock whose holds are recorded, all or some.
func (u *use) account() account {
	if u.accounted == nil {
		a := account{some: u.line.upTo(1<<63 - 1)}
		var woken []turn
		for _, w := range u.l.waits {
			for i := w.g.at(w.from); i < len(w.g.ivs) && w.g.ivs[i].from < w.to; i++ {
				if v := &w.g.ivs[i]; v.state == states.Runnable {
					d := turn{from: max(v.from, w.from), to: min(v.to, w.to)}
					woken, a.queued = append(woken, d), a.queued+d.time()
				}
			}
		}
		a.held = u.line.covered(u.l.holds)
		a.handed = u.line.covered(append(woken, u.l.holds...)) - a.held
		u.accounted = &a
	}
	return *u.accounted
}

// covered is how much of the time in which somebody waited lies within one of the turns.
func (l *waitLine) covered(ts []turn) (ns int64) {
	ts = slices.Clone(ts)
	slices.SortFunc(ts, func(a, b turn) int { return cmp.Compare(a.from, b.from) })
	end := int64(-1 << 62)
	for _, t := range ts {
		if t.to > end {
			ns += l.waited(max(t.from, end), t.to)
			end = t.to
		}
	}
	return ns
}

// unaccounted says where the time in which somebody waited went, if not into recorded holds; it
// is empty where that is little, or where of no hold is known how long it was.
func (u *use) unaccounted(m *model) string {
	a := u.account()
	if u.l.place || !u.l.kind.Held() || a.some == 0 {
		return ""
	}
	some := float64(a.some)
	text := fmt.Sprintf("of the %s in which somebody waited for it, recorded holds explain %s", show.Duration(a.some), show.Percent(float64(a.held)/some))
	handed, missing := float64(a.handed)/some, a.missing()
	if handed < toldFrom && missing < toldFrom {
		return ""
	}
	if handed >= toldFrom {
		text += fmt.Sprintf("; %s of it the lock was free or given away, and one that was woken waited for a processor", show.Percent(handed))
	}
	if missing >= toldFrom {
		why := "holds are missing in the trace"
		if !m.hasGo {
			why += ", or one that was given the lock waited for a processor"
		}
		text += fmt.Sprintf("; for %s of it nobody is known to have the lock: %s", show.Percent(missing), why)
	}
	return text
}

// starvedFacts are of a lock that is waited for in a program that lacked CPUs.
type starvedFacts struct{ u *use }

// waitedWhileStarved finds the locks that were waited for, and of which no rule says that
// mending them gains something, where the program did not get the CPUs that it wanted. Whether
// they made it wait, or the missing CPUs, nobody can tell; but that it waited is so. Share is the
// part of the time in which somebody waited.
func (m *model) waitedWhileStarved(found []Finding) (fs []Finding) {
	if m.starved == nil || m.starved.Share < starvedShare || m.lacks(needCores) != 0 {
		return nil
	}
	for _, u := range m.uses() {
		if u.waitShare(m) <= lockContentionLimits.wait || slices.ContainsFunc(found, func(f Finding) bool { return f.use == u }) {
			continue
		}
		a := u.account()
		late := 2*a.handed > a.some
		if u.l.place {
			late = 2*a.queued > u.wait // when it was held is not known
		}
		if late { // for processors, which Starved says already
			continue
		}
		f := u.finding(m)
		f.Verdict, f.facts = lockContention, starvedFacts{u}
		f.Share, f.Gain, f.weight = float64(u.account().some)/float64(m.span()), unknownGain, worth
		f.Confidence *= 0.5
		fs = append(fs, f)
	}
	slices.SortStableFunc(fs, func(a, b Finding) int { return cmp.Compare(b.use.wait, a.use.wait) })
	return fs[:min(len(fs), mostStarved)]
}

// mostStarved bounds how many locks are named of a program that lacked CPUs.
const mostStarved = 3

func (x starvedFacts) words(m *model, _ *Finding) words {
	return words{
		text: fmt.Sprintf("Goroutines waited for %s %s together, %s.", x.u.called(), show.Duration(x.u.wait), x.u.while(m)),
		advice: "Whether that made the run longer can't be told, as the program did not get the CPUs that it wanted and a holder without one lets others wait; " +
			"recorded where it has them, a trace tells",
		evidence: x.u.evidence(m),
	}
}
