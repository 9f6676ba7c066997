package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// Each lock gets at most one finding: from the first rule in the table that matches, as
// earlier rules identify the cause more precisely.

// uses returns the locks that goroutines waited for.
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

// unreported returns look's findings about the locks that no earlier rule has reported.
func (m *model) unreported(look func(u *use) (Finding, bool)) (fs []Finding) {
	for _, u := range m.uses() {
		if u.reported {
			continue
		}
		if f, ok := look(u); ok {
			u.reported = true
			fs = append(fs, f)
		}
	}
	return fs
}

// coreTime returns C·T in ns, without the part that other programs took.
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

// free returns the gain if nobody waited for the lock: from a replay, of the run or of the
// waiters, limited by the core time that the lock costs. Without a replay it is that core
// time over all core time.
func (u *use) free(m *model) float64 {
	if u.gain < 0 {
		u.gain = u.lost / m.coreTime()
		if m.base != nil {
			waiters := map[*gor]bool{}
			for _, w := range u.l.waits {
				waiters[w.g] = true
			}
			x := removal{skip: func(_ *script, s *step) bool { return s.lock == u.index }}
			u.gain = min(max(m.base.gain(x), m.base.gainOf(x, func(g *gor) bool { return waiters[g] })), filled*u.gain)
		}
	}
	return u.gain
}

// filled limits the gain of removing waits, as a factor of the idle core time: goroutines
// that no longer wait can use only cores that were idle meanwhile. A replay with a larger
// gain misjudges the scheduler; a quarter is added for what is saved besides, such as
// switches.
const filled = 1.25

// finding returns the common part of all findings about a lock.
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
	} else if a := u.account(); len(u.l.holds) > 0 && a.missing() >= minMentioned {
		f.Confidence *= 1 - a.missing()/2
	}
	return f
}

// waitShare returns the waited time as a part of the core time.
func (u *use) waitShare(m *model) float64 { return float64(u.wait) / m.coreTime() }

// worth returns the gain below which a finding about the lock is dropped. For locks that
// package scope does not record, hold times are unknown, and an estimate may be some percent
// where there is no gain: these need at least the share of waiting that the sources require.
func (u *use) worth() float64 {
	if u.l.place {
		return foreignWorth
	}
	return worth
}

// blockingUnderLockLimits are the thresholds of blockingUnderLock.
var blockingUnderLockLimits = struct{ blocked float64 }{
	blocked: 0.05, // of the time: the holder waits for something outside while others wait for it; ours
}

// blockingFacts describes a lock whose holder waits.
type blockingFacts struct {
	u      *use
	in     string         // scope in which the holder waits; "": none that began under the lock
	states []states.State // states in which the holder waits
}

// blockingUnderLock: the holder waits for something outside, and others wait for the holder.
// Share is the part of the time in which that is so. Gain is the gain if nobody waited for
// the lock, times the part of the waited holds that the holder itself waits.
func (m *model) blockingUnderLock() []Finding {
	return m.unreported(func(u *use) (f Finding, ok bool) {
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

// fatCriticalSectionLimits are the thresholds of fatCriticalSection.
var fatCriticalSectionLimits = struct{ used, inside, wait float64 }{
	used:   0.5,  // of the time: the lock is held
	inside: 0.2,  // of the hold time: in scopes that begin under the lock; ours
	wait:   0.05, // of the core time: waits for the lock
}

// fatFacts describes a lock that is held for long.
type fatFacts struct {
	u     *use
	part  float64  // part of the hold time in scopes that began under the lock
	names []string // these scopes
}

// fatCriticalSection: the lock is held most of the time, and a good part of that in scopes
// that begin under it. Share is the part of the time that these take under the lock. Gain is
// the gain if nobody waited, limited by what remains under the lock, which stays serial.
func (m *model) fatCriticalSection() []Finding {
	limits := &fatCriticalSectionLimits
	return m.unreported(func(u *use) (f Finding, ok bool) {
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

// convoyLimits are the thresholds of convoy.
var convoyLimits = struct{ crowd, wait float64 }{
	crowd: 0.25, // of the time: more goroutines wait than there are cores ("persistently")
	wait:  0.05,
}

// convoyFacts describes a lock with a long queue.
type convoyFacts struct{ u *use }

// convoy: more goroutines are queued than there are cores, so each unlock wakes the next one
// and hardly any finds the lock free. Share is the part of the time with such a queue.
func (m *model) convoy() []Finding {
	return m.unreported(func(u *use) (f Finding, ok bool) {
		share := float64(u.crowd) / float64(m.span())
		if share < convoyLimits.crowd || u.waitShare(m) < convoyLimits.wait || u.free(m) < u.worth() {
			return f, false
		}
		f = u.finding(m)
		f.Share, f.weight, f.facts = share, u.free(m), convoyFacts{u}
		return f, true
	})
}

// lockContentionLimits are the thresholds of lockContention.
var lockContentionLimits = struct{ wait, contended, often float64 }{
	wait:      0.05, // of the core time
	contended: 0.1,  // of the acquisitions
	often:     100,  // acquisitions per second, for contended to count
}

// contentionFacts describes a lock that goroutines wait for.
type contentionFacts struct{ u *use }

// lockContention: waits are long, or acquisitions are frequent and often have to wait. Share
// is the part of the core time lost to waiting: at most that of the cores that had nothing
// else to do.
func (m *model) lockContention() []Finding {
	limits := &lockContentionLimits
	return m.unreported(func(u *use) (f Finding, ok bool) {
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
