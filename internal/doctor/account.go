package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// While a goroutine waits for a lock, another one holds it, or it was handed to a waiter
// that waits for a processor. Where the recorded holds do not cover a wait, holds are
// missing, and the numbers of a finding do not add up: a thousand long waits for a lock that
// is held for some microseconds. So each finding about a lock accounts for the time in which
// goroutines waited.

// account divides the time in which at least one goroutine waited for a lock.
type account struct {
	some   int64 // ns in which at least one goroutine waited
	held   int64 // ns of some that recorded holds cover
	handed int64 // ns of the rest in which a woken waiter waited for a processor
	queued int64 // ns that woken waiters waited for a processor, summed over waiters
}

// missing returns the part of the time, 0 to 1, for which no holder is known.
func (a *account) missing() float64 {
	return max(float64(a.some-a.held-a.handed)/float64(max(a.some, 1)), 0)
}

// minMentioned is the part of the waited time that must lie outside recorded holds before a
// finding mentions it. Ours: waits and holds are recorded a little apart.
const minMentioned = 0.1

// account accounts for the waits of a lock of which all or some holds are recorded.
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

// covered returns the ns in which at least one goroutine waited and one of the turns lasted.
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

// unaccounted describes the waited time that recorded holds do not cover. It returns ""
// where that is little, or where no hold has a known length.
func (u *use) unaccounted(m *model) string {
	a := u.account()
	if u.l.place || !u.l.kind.Held() || a.some == 0 {
		return ""
	}
	some := float64(a.some)
	text := fmt.Sprintf("recorded holds explain %s of the %s in which goroutines waited for it", show.Percent(float64(a.held)/some), show.Duration(a.some))
	handed, missing := float64(a.handed)/some, a.missing()
	if handed < minMentioned && missing < minMentioned {
		return ""
	}
	if handed >= minMentioned {
		text += fmt.Sprintf("; for %s of it the lock was free or handed over, and a woken goroutine waited for a processor", show.Percent(handed))
	}
	if missing >= minMentioned {
		why := "holds are missing from the trace"
		if !m.hasGo {
			why += ", or a goroutine that was handed the lock waited for a processor"
		}
		text += fmt.Sprintf("; for %s of it no holder is known: %s", show.Percent(missing), why)
	}
	return text
}

// starvedFacts describes a lock that goroutines waited for in a program that lacked CPUs.
type starvedFacts struct{ u *use }

// waitedWhileStarved finds the locks that goroutines waited for, and for which no rule
// estimates a gain, in a program that did not get the CPUs it could use. A trace can't show
// whether the lock or the lack of CPUs caused the wait, only that it happened. Share is the
// part of the time in which at least one goroutine waited.
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
			late = 2*a.queued > u.wait // the times of its holds are not known
		}
		if late { // they waited for processors, which Starved already reports
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

// mostStarved is the maximum number of locks reported for a program that lacked CPUs.
const mostStarved = 3

func (x starvedFacts) words(m *model, _ *Finding) words {
	return words{
		text: fmt.Sprintf("Goroutines waited for %s, in all %s, %s.", x.u.called(), show.Duration(x.u.wait), x.u.while(m)),
		advice: "It is not known whether that made the run longer, because the program did not get the CPUs that it wanted, and a holder without a CPU keeps others waiting; " +
			"record it where it gets them",
		evidence: x.u.evidence(m),
	}
}
