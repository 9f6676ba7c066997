package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// What is wrong with a lock is told once: by the rule that comes first in the table of
// those that hold, as each of them knows more of the cause than the next.

// uses are the locks that somebody waited for.
func (m *model) uses() []*use {
	if m.locksUsed == nil {
		m.locksUsed = []*use{}
		for i, l := range m.locks {
			if len(l.waits) == 0 || !l.kind.Held() {
				continue
			}
			u := m.use(l)
			u.index = int32(i)
			m.locksUsed = append(m.locksUsed, u)
		}
	}
	return m.locksUsed
}

// untold asks a rule about each lock that no rule before it has told of.
func (m *model) untold(look func(u *use) (Finding, bool)) (fs []Finding) {
	for _, u := range m.uses() {
		if u.told {
			continue
		}
		if f, ok := look(u); ok {
			u.told = true
			fs = append(fs, f)
		}
	}
	return fs
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

// free is what it would gain if nobody waited for the lock. A replay tells, of the run or
// of those who waited, but no more than the core time that is lost to it allows. Where a
// replay is not possible, it is that core time over all that there is.
func (u *use) free(m *model) float64 {
	if u.gain < 0 {
		u.gain = u.lost / m.coreTime()
		if m.base != nil {
			waiters := map[*gor]bool{}
			for _, w := range u.l.waits {
				waiters[w.g] = true
			}
			x := without{skip: func(_ *script, s *step) bool { return s.lock == u.index }}
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
	f := Finding{Object: u.l.name, Scopes: m.most(u.around, u.aroundOf()), Confidence: 0.9, use: u, holder: u.holder(m)}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		u.line.each(func(a, b int64, _ int) { yield(a, b) })
	})
	for _, w := range u.l.waits[:min(len(u.l.waits), 50)] {
		if len(f.Goids) < 3 && !slices.Contains(f.Goids, w.g.id) {
			f.Goids = append(f.Goids, w.g.id)
		}
	}
	for _, w := range u.l.waits {
		f.worse(w.g, w.from, w.to)
	}
	if u.waits < 20 {
		f.Confidence = 0.6
	}
	if u.l.place {
		f.Confidence *= 0.8
	} else if a := u.account(); len(u.l.holds) > 0 && a.missing() >= toldFrom {
		f.Confidence *= 1 - a.missing()/2
	}
	return f
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

// blockingUnderLockLimits say from which numbers on blockingUnderLock is told.
var blockingUnderLockLimits = struct{ blocked float64 }{
	blocked: 0.05, // of the time, that a holder waits for something outside and others for it; ours
}

// blockingFacts are of a lock whose holder waits.
type blockingFacts struct {
	u      *use
	in     string         // the scope that it waits in; "": none that began under the lock
	states []states.State // in which it waits
}

// blockingUnderLock: the holder waits for something outside, and others for the holder.
// Share is the part of the time in which that is so, gain what it would be worth if
// nobody waited for the lock, in the proportion of such waits.
func (m *model) blockingUnderLock() []Finding {
	return m.untold(func(u *use) (f Finding, ok bool) {
		share := float64(u.blocked) / float64(m.span())
		if share < blockingUnderLockLimits.blocked || u.holdWaited == 0 {
			return f, false
		}
		weight := u.free(m) * float64(u.blocked) / float64(u.holdWaited)
		if weight < worth {
			return f, false
		}
		f = u.finding(m)
		f.Share, f.weight = share, weight
		x := blockingFacts{u: u}
		for _, s := range []states.State{states.Sleep, states.Network, states.Blocked, states.Channel, states.Select, states.Join, states.Cond} {
			if 10*u.blockedBy[s] >= u.blocked {
				x.states = append(x.states, s)
			}
		}
		if inside := m.most(u.inside, u.hold); len(inside) > 0 {
			x.in = inside[0]
			f.Scopes = append(inside[:1:1], f.Scopes...)
		}
		f.facts = x
		return f, true
	})
}

// fatCriticalSectionLimits say from which numbers on fatCriticalSection is told.
var fatCriticalSectionLimits = struct{ used, inside, wait float64 }{
	used:   0.5,  // of the time that somebody has the lock
	inside: 0.2,  // of that, that scopes begun under the lock take; ours
	wait:   0.05, // of the core time waited for it, else nobody minds
}

// fatFacts are of a lock that is held for long.
type fatFacts struct {
	u     *use
	part  float64  // of the hold time, that is in scopes that began under the lock
	names []string // of those
}

// fatCriticalSection: the lock is had most of the time, and in scopes that begin under
// it. Share is the part of the time in which they run under the lock. Gain is what it
// would be worth if nobody waited, but not more than what is left under the lock allows:
// that stays one after the other.
func (m *model) fatCriticalSection() []Finding {
	limits := &fatCriticalSectionLimits
	return m.untold(func(u *use) (f Finding, ok bool) {
		if u.hold == 0 || u.used < limits.used || u.waitShare(m) < limits.wait {
			return f, false
		}
		part := min(float64(total(u.inside))/float64(u.hold), 1)
		if part < limits.inside {
			return f, false
		}
		weight := min(u.free(m), 1-u.used*(1-part))
		if weight < worth {
			return f, false
		}
		f = u.finding(m)
		f.Share, f.weight = u.used*part, weight
		names := m.most(u.inside, u.hold)
		f.Scopes = append(slices.Clone(names), slices.DeleteFunc(f.Scopes, func(s string) bool { return slices.Contains(names, s) })...)
		f.facts = fatFacts{u, part, names}
		return f, true
	})
}

// convoyLimits say from which numbers on convoy is told.
var convoyLimits = struct{ crowd, wait float64 }{
	crowd: 0.25, // of the time that more wait than there are cores: "persistently"
	wait:  0.05,
}

// convoyFacts are of a lock that many stand in line at.
type convoyFacts struct{ u *use }

// convoy: more goroutines stand in line than there are cores, so each unlock wakes the
// next one and hardly any finds the lock free. Share is the part of the time with such a
// line.
func (m *model) convoy() []Finding {
	return m.untold(func(u *use) (f Finding, ok bool) {
		share := float64(u.crowd) / float64(m.span())
		if share < convoyLimits.crowd || u.waitShare(m) < convoyLimits.wait || u.free(m) < u.worth() {
			return f, false
		}
		f = u.finding(m)
		f.Share, f.weight, f.facts = share, u.free(m), convoyFacts{u}
		return f, true
	})
}

// lockContentionLimits say from which numbers on lockContention is told.
var lockContentionLimits = struct{ wait, contended, often float64 }{
	wait:      0.05, // of the core time
	contended: 0.1,  // of the acquisitions
	often:     100,  // acquisitions in a second, with that
}

// contentionFacts are of a lock that is waited for.
type contentionFacts struct{ u *use }

// lockContention: the wait is long, or the lock is had often and often not at once.
// Share is the part of the core time that is lost to waiting: not more than the cores
// that had nothing else to do.
func (m *model) lockContention() []Finding {
	limits := &lockContentionLimits
	return m.untold(func(u *use) (f Finding, ok bool) {
		acquired := float64(u.l.acquired)
		long := u.waitShare(m) > limits.wait
		often := acquired > 0 && float64(u.l.contended) > limits.contended*acquired && acquired*1e9 > limits.often*float64(m.span())
		if !long && !often || u.free(m) < u.worth() {
			return f, false
		}
		f = u.finding(m)
		f.Share, f.weight, f.facts = u.lost/m.coreTime(), u.free(m), contentionFacts{u}
		return f, true
	})
}
