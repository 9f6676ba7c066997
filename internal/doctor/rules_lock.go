package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
)

// What is wrong with a lock is told once: by the rule that comes first in the table of
// those that hold, as each of them knows more of the cause than the next.

// uses are the locks that somebody waited for.
func (m *model) uses() []*use {
	if m.locksUsed == nil {
		m.locksUsed = []*use{}
		for i, l := range m.locks {
			if len(l.waits) == 0 || l.kind == format.LockRetry {
				continue
			}
			u := m.use(l)
			u.index = int32(i)
			m.locksUsed = append(m.locksUsed, u)
		}
	}
	return m.locksUsed
}

// coreTime is C·T, without what other programs took of it.
func (m *model) coreTime() float64 {
	all := m.cores.Count * float64(m.span())
	if m.taken < 0 {
		m.taken = 0
		if s := m.starved; s != nil && !m.switches {
			m.taken = int64((s.Others + s.Quota) * float64(m.span()))
		}
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; v.core && v.state == states.Preempted {
					m.taken += v.to - v.from
				}
			}
		}
	}
	return max(all-float64(m.taken), all/5)
}

// free is what it would gain if nobody waited for the lock: by replay, of the run or of
// those who waited, but not much more than the core time that is lost to it allows; or
// where a replay is not possible, that core time over all that there is.
func (u *use) free(m *model) float64 {
	if u.gain < 0 {
		u.gain = u.lost / m.coreTime()
		if m.base != nil {
			waiters := map[*gor]bool{}
			for _, w := range u.l.waits {
				waiters[w.g] = true
			}
			x := without{lock: u.index}
			u.gain = min(max(m.base.gain(x), m.base.gainOf(x, func(g *gor) bool { return waiters[g] })), filled*u.gain)
		}
	}
	return u.gain
}

// filled bounds gains by what can be filled: who no longer waits can use the cores that
// were idle while he did, and no others. A replay that says more is wrong about what
// the scheduler does; a fourth is for what goes away besides, such as switches.
const filled = 1.25

// finding is what all findings about a lock have in common.
func (u *use) finding(m *model) Finding {
	from, to := m.where(func(yield func(a, b int64)) {
		u.line.each(func(a, b int64, _ int) { yield(a, b) })
	})
	weight := u.holdWaited
	if len(u.l.holds) == 0 {
		weight = u.wait
	}
	f := Finding{Object: u.l.name, Scopes: m.most(u.around, weight), FromNS: from, ToNS: to, Confidence: 0.9}
	for _, w := range u.l.waits[:min(len(u.l.waits), 50)] {
		if len(f.Goids) < 3 && !slices.Contains(f.Goids, w.g.id) {
			f.Goids = append(f.Goids, w.g.id)
		}
	}
	if u.waits < 20 {
		f.Confidence = 0.6
	}
	e := fmt.Sprintf("%s waits for %s took %s together, %s on average", analysis.Thousands(u.waits), u.called(), analysis.Humane(u.wait), analysis.Humane(u.wait/max(u.waits, 1)))
	if u.l.acquired > 0 {
		e += fmt.Sprintf("; %s of %s acquisitions had to wait", analysis.Percent(float64(u.l.contended)/float64(u.l.acquired)), analysis.Thousands(u.l.acquired))
	}
	f.Evidence = append(f.Evidence, e)
	if ns, n := u.l.whole(); ns > 0 && u.used > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("it is held %s of the time, for %s at a time: nobody can have it more than %s times in a second",
			analysis.Percent(u.used), analysis.Humane(ns/n), analysis.Thousands(int64(1e9*float64(n)/float64(ns)))))
	}
	if !u.l.every && !u.l.place {
		known := "only the number"
		if len(u.l.addrs) > 0 {
			known = "nothing"
		}
		f.Evidence = append(f.Evidence, "of holds that nobody waited for "+known+" is known; with scope.WithLockThreshold(scope.LocksAll) all are recorded")
	}
	if names := m.most(u.waiters, u.wait); len(names) > 0 {
		f.Evidence = append(f.Evidence, "who waited was in "+quoted(names))
	}
	if u.l.place {
		f.Confidence *= 0.8
		f.Evidence = append(f.Evidence, "it is no lock of package scope, so it is known where it was waited for and who woke, and not how long it was held")
	}
	return f
}

// called is the lock as a sentence has it.
func (u *use) called() string {
	switch n := len(u.l.addrs); {
	case n > 1:
		return fmt.Sprintf("the %d locks without a name in %s", n, analysis.Show(u.l.name))
	case n == 1:
		return "the lock in " + analysis.Show(u.l.name)
	case u.l.place:
		return "the lock in " + u.l.name
	}
	return "lock " + analysis.Show(u.l.name)
}

func (u *use) begin() string {
	s := u.called()
	return strings.ToUpper(s[:1]) + s[1:]
}

// while tells in which scope the holder is.
func (u *use) while(m *model) string {
	weight := u.holdWaited
	if len(u.l.holds) == 0 {
		weight = u.wait
	}
	names := m.most(u.around, weight)
	if len(names) == 0 {
		return "while it is held outside any scope"
	}
	share := ""
	if x := u.around[m.id(names[0])]; weight > 0 {
		share = fmt.Sprintf(" (%s of it)", analysis.Percent(float64(x)/float64(weight)))
	}
	if len(u.l.holds) == 0 {
		return "and mostly who unlocks it is in " + analysis.Show(names[0]) + share
	}
	return "while " + analysis.Show(names[0]) + " holds it" + share
}

// waitShare is the part of the core time that was waited.
func (u *use) waitShare(m *model) float64 { return float64(u.wait) / m.coreTime() }

// worth is the gain from which on a finding about it is told. Of locks that are not ours it
// is not known how long they are held, and some percent are estimated where nothing is to
// be had: of them what is waited for has to be, too.
func (u *use) worth() float64 {
	if u.l.place {
		return foreignWorth
	}
	return worth
}

// unwaited is how a sentence says what mending a lock does.
const unwaited = "If nobody had to wait for it"

// blockingUnderLockLimits say from which numbers on BlockingUnderLock is told.
var blockingUnderLockLimits = struct{ blocked float64 }{
	blocked: 0.05, // of the time, that a holder waits for something outside and others for it; ours
}

// blockingUnderLock: the holder waits for something outside, and others for the holder.
// Share is the part of the time in which that is so, gain what it would be worth if
// nobody waited for the lock, in the proportion of such waits.
func blockingUnderLock(m *model) (fs []Finding) {
	for _, u := range m.uses() {
		share := float64(u.blocked) / float64(m.span())
		if u.told || share < blockingUnderLockLimits.blocked || u.holdWaited == 0 {
			continue
		}
		f := u.finding(m)
		f.Share = share
		f.weight = u.free(m) * float64(u.blocked) / float64(u.holdWaited)
		if f.weight < worth {
			continue
		}
		why := ""
		for _, s := range []struct {
			s    states.State
			text string
		}{{states.Sleep, "asleep"}, {states.Network, "waiting for the network"}, {states.Blocked, "in a system call"}, {states.Channel, "waiting for a channel"},
			{states.Select, "waiting in a select"}, {states.Join, "waiting in a WaitGroup"}, {states.Cond, "waiting in a Cond"}} {
			if 10*u.blockedBy[s.s] >= u.blocked {
				why += ", " + s.text
			}
		}
		inside := m.most(u.inside, u.hold)
		in := ""
		if len(inside) > 0 {
			in = " in " + analysis.Show(inside[0])
			f.Scopes = append(inside[:1:1], f.Scopes...)
		}
		f.Text = fmt.Sprintf("%s is held%s while its holder waits%s: others wait for it meanwhile, %s of the time.",
			u.begin(), in, holding(why), analysis.Percent(share))
		f.mend = "Done before locking or after unlocking"
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the hold time that others waited for, the holder was off the CPU%s", analysis.Percent(float64(u.blocked)/float64(u.holdWaited)), holding(why)))
		u.told = true
		fs = append(fs, f)
	}
	return fs
}

func holding(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why[2:] + ")"
}

// fatCriticalSectionLimits say from which numbers on FatCriticalSection is told.
var fatCriticalSectionLimits = struct{ used, inside, wait float64 }{
	used:   0.5,  // of the time that somebody has the lock
	inside: 0.2,  // of that, that scopes begun under the lock take; ours
	wait:   0.05, // of the core time waited for it, else nobody minds
}

// fatCriticalSection: the lock is had most of the time, and in scopes that begin under
// it. Share is the part of the time in which they run under the lock. Gain is what it
// would be worth if nobody waited, but not more than what is left under the lock allows:
// that stays one after the other.
func fatCriticalSection(m *model) (fs []Finding) {
	for _, u := range m.uses() {
		used := u.used
		inside := total(u.inside)
		if u.told || u.hold == 0 || used < fatCriticalSectionLimits.used || u.waitShare(m) < fatCriticalSectionLimits.wait {
			continue
		}
		part := min(float64(inside)/float64(u.hold), 1)
		if part < fatCriticalSectionLimits.inside {
			continue
		}
		f := u.finding(m)
		f.Share = used * part
		f.weight = min(u.free(m), 1-used*(1-part))
		if f.weight < worth {
			continue
		}
		names := m.most(u.inside, u.hold)
		f.Scopes = append(slices.Clone(names), slices.DeleteFunc(f.Scopes, func(s string) bool { return slices.Contains(names, s) })...)
		f.Text = fmt.Sprintf("%s is held %s of the time, and %s of that is %s under the lock, %s.",
			u.begin(), analysis.Percent(used), analysis.Percent(part), quoted(names), u.while(m))
		f.mend = "Moved out of it"
		for _, n := range names {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s is %s of the time under the lock", analysis.Show(n), analysis.Percent(float64(u.inside[m.id(n)])/float64(u.hold))))
		}
		u.told = true
		fs = append(fs, f)
	}
	return fs
}

// convoyLimits say from which numbers on Convoy is told.
var convoyLimits = struct{ crowd, wait float64 }{
	crowd: 0.25, // of the time that more wait than there are cores: "persistently"
	wait:  0.05,
}

// convoy: more goroutines stand in line than there are cores, so each unlock wakes the
// next one and hardly any finds the lock free. Share is the part of the time with such a
// line.
func convoy(m *model) (fs []Finding) {
	for _, u := range m.uses() {
		share := float64(u.crowd) / float64(m.span())
		if u.told || share < convoyLimits.crowd || u.waitShare(m) < convoyLimits.wait || u.free(m) < u.worth() {
			continue
		}
		f := u.finding(m)
		f.Share, f.weight = share, u.free(m)
		f.Text = fmt.Sprintf("Goroutines stand in line at %s: more than the %s wait for it %s of the time, %.1f on average, %s.",
			u.called(), cores(m), analysis.Percent(share), float64(u.wait)/float64(m.span()), u.while(m))
		f.mend = unwaited
		u.told = true
		fs = append(fs, f)
	}
	return fs
}

// lockContentionLimits say from which numbers on LockContention is told.
var lockContentionLimits = struct{ wait, contended, often float64 }{
	wait:      0.05, // of the core time
	contended: 0.1,  // of the acquisitions
	often:     100,  // acquisitions in a second, with that
}

// lockContention: the wait is long, or the lock is had often and often not at once.
// Share is the part of the core time that is lost to waiting: not more than the cores
// that had nothing else to do.
func lockContention(m *model) (fs []Finding) {
	for _, u := range m.uses() {
		long := u.waitShare(m) > lockContentionLimits.wait
		often := u.l.acquired > 0 && float64(u.l.contended) > lockContentionLimits.contended*float64(u.l.acquired) && float64(u.l.acquired)*1e9 > lockContentionLimits.often*float64(m.span())
		if u.told || !long && !often || u.free(m) < u.worth() {
			continue
		}
		f := u.finding(m)
		f.Share, f.weight = u.lost/m.coreTime(), u.free(m)
		f.Text = fmt.Sprintf("Waiting for %s takes %s of the time of the %s, %s.", u.called(), analysis.Percent(f.Share), cores(m), u.while(m))
		f.mend = unwaited
		u.told = true
		fs = append(fs, f)
	}
	return fs
}

// cores is how many there are, as a sentence has it.
func cores(m *model) string {
	if c := m.cores.Count; c != float64(int64(c)) {
		return fmt.Sprintf("%.1f cores", c)
	}
	return analysis.Plural(int64(m.cores.Count), "core")
}
