package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// handoffCost is what it takes to wake another goroutine and be switched away from.
const handoffCost = 1000

// channelLimits say from which numbers on channel is told.
var channelLimits = struct{ blocked, pingpong, handing float64 }{
	blocked:  0.05,   // of the core time, that senders wait while their receiver runs; ours
	pingpong: 10_000, // hand-offs in a second
	handing:  0.05,   // of the CPU time, that those in all places take; ours
}

// senderFacts are of senders whose receiver runs.
type senderFacts struct {
	waits int
	mean  int64 // ns of a wait
}

// handingFacts are of goroutines that hand on often.
type handingFacts struct {
	waits  int
	places int // in which they do; 0: it is told of one place
}

// handed is what waits for a channel, in a select or for a Cond took in one place.
type handed struct {
	place           string
	waits           int
	waited, blocked int64            // ns; of senders while their receiver ran
	scopes          map[uint16]int64 // in which that ran
}

// channel: senders wait although their receiver runs, which more room in the channel
// would spare them; or goroutines hand on so often that this costs more than the work.
// Share is the part of the core time that senders wait so, or that handing on takes. Gain
// is what a replay takes less in which no sender waits, or that cost. To hand on is to send,
// to wake who waits in a select, and to signal a Cond.
//
// A sender that waits because its receivers have too much to do gains nothing by room:
// the replay tells.
func (m *model) channel() (fs []Finding) {
	list := m.handed()
	for _, u := range list {
		if share := float64(u.blocked) / m.coreTime(); share >= channelLimits.blocked && m.base != nil {
			f := m.handing(u, share, 0.8)
			f.weight = m.base.gain(without{skip: func(_ *script, s *step) bool {
				return s.send && s.s == states.Channel
			}})
			f.weight = min(f.weight, filled*m.sweep.lost[partChannel]/float64(max(m.sweep.known, 1))/m.cores.Count)
			f.facts = senderFacts{u.waits, u.waited / int64(u.waits)}
			fs = append(fs, f)
		} else if m.often(u.waits) {
			f := m.handing(u, float64(u.waits)*handoffCost/m.coreTime(), 0.6)
			f.weight, f.spared, f.facts = f.Share, f.Share, handingFacts{waits: u.waits}
			fs = append(fs, f)
		}
	}
	if slices.ContainsFunc(fs, func(f Finding) bool { return f.weight >= worth }) {
		return fs
	}
	// In a server no place may have many, and all together have.
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

// often reports whether so many hand-offs are too many.
func (m *model) often(n int) bool {
	return float64(n)*1e9/float64(m.span()) > channelLimits.pingpong
}

// handing is what findings about a place where goroutines hand on have in common.
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

// handed are the places where goroutines hand on, in the order in which they are met.
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
