package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// handoffCost is the CPU time, in ns, to wake another goroutine and be switched out.
const handoffCost = 1000

// channelLimits are the thresholds of channel.
var channelLimits = struct{ blocked, pingpong, handing float64 }{
	blocked:  0.05,   // of the core time: senders wait while their receiver runs; ours
	pingpong: 10_000, // hand-offs in a second
	handing:  0.05,   // of the CPU time: hand-offs of all places; ours
}

// senderFacts describes senders whose receiver runs.
type senderFacts struct {
	waits int
	mean  int64 // ns of a wait
}

// handingFacts describes goroutines with frequent hand-offs.
type handingFacts struct {
	waits  int
	places int // number of places with hand-offs; 0: the finding is about one place
}

// handed sums the waits for a channel, in a select or for a Cond at one place.
type handed struct {
	place           string
	waits           int
	waited, blocked int64            // ns; of senders while their receiver ran
	scopes          map[uint16]int64 // the receiver's, in blocked
}

// channel: senders wait although their receiver runs, which a larger buffer would avoid; or
// hand-offs are so frequent that they cost more than the work. Share is the part of the core
// time that senders wait so, or that hand-offs take. Gain is the reduction in a replay in
// which no sender waits, or the hand-offs' cost. A hand-off is a send, a wake-up out of a
// select, or a signal of a Cond.
//
// A buffer does not help a sender whose receivers are overloaded: the replay shows no gain.
func (m *model) channel() (fs []Finding) {
	list := m.handed()
	for _, u := range list {
		if share := float64(u.blocked) / m.coreTime(); share >= channelLimits.blocked && m.base != nil {
			f := m.handing(u, share, 0.8)
			f.weight = m.base.gain(removal{skip: func(_ *script, s *step) bool {
				return s.send && s.s == states.Channel
			}})
			f.weight = min(f.weight, filled*m.sweep.lost[partChannel]/float64(max(m.sweep.known, 1))/m.cores.Count)
			f.facts = senderFacts{u.waits, u.waited / int64(u.waits)}
			fs = append(fs, f)
		} else if m.often(u.waits) {
			f := m.handing(u, float64(u.waits)*handoffCost/m.coreTime(), 0.6)
			f.weight, f.savedWork, f.facts = f.Share, f.Share, handingFacts{waits: u.waits}
			fs = append(fs, f)
		}
	}
	if slices.ContainsFunc(fs, func(f Finding) bool { return f.weight >= worth }) {
		return fs
	}
	// In a server no single place may have many, but all together do.
	all, most := 0, (*handed)(nil)
	for _, u := range list {
		if all += u.waits; most == nil || u.waits > most.waits {
			most = u
		}
	}
	share := float64(all) * handoffCost / m.used()
	if !m.often(all) || share < channelLimits.handing {
		return fs
	}
	f := m.handing(most, share, 0.6)
	f.Gain, f.weight, f.facts = unknownGain, share, handingFacts{all, len(list)}
	return append(fs, f)
}

// often reports whether n hand-offs exceed the limit per second.
func (m *model) often(n int) bool {
	return float64(n)*1e9/float64(m.span()) > channelLimits.pingpong
}

// handing returns the common part of findings about a place with hand-offs.
func (m *model) handing(u *handed, share, confidence float64) Finding {
	f := Finding{Object: u.place, Scopes: m.most(u.scopes, u.blocked), Share: share, Confidence: confidence}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; handing(v.state) && v.by != 0 && m.place(v.stack) == u.place {
					f.worse(g, v.from, v.to)
					yield(v.from, v.to)
				}
			}
		}
	})
	return f
}

// handed returns the places with hand-offs, in the order of their first one.
func (m *model) handed() (list []*handed) {
	by := map[string]*handed{}
	for _, v := range m.did() {
		x := m.byID[v.by]
		if !handing(v.state) || v.lock >= 0 || v.by == 0 || x == nil {
			continue
		}
		place := m.place(v.stack)
		u := by[place]
		if u == nil {
			u = &handed{place: place, scopes: map[uint16]int64{}}
			by[place] = u
			list = append(list, u)
		}
		u.waits++
		u.waited += v.to - v.from
		if v.send {
			u.blocked += x.ran(v.from, v.to)
			x.scopesIn(v.from, v.to, u.scopes)
		}
	}
	return list
}
