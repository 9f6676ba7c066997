//go:build !scope_off

package record

import (
	"math"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// governor keeps the sum of what a recording takes within the budget. What is in the sum, and how
// it is known:
//
//	the recorder's goroutines    the CPU time of their threads, around their work (flusher.Cost)
//	functions                    calls that were counted × what one takes (budget)
//	hooks of the library         what each has taken × what one takes (allowance)
//	thread switches              records of the system × what one takes
//	states                       bytes of Go's tracer, and switches of goroutines × what one takes
//	samples                      signals × what one takes
//
// Where the sum is too much, this is what goes, in this order, until it is not:
//
//  1. Functions, the most called first: they have what the others leave, and a tenth of the budget at
//     least.
//  2. Parts of collectors that take more than their own part of the budget.
//  3. Parts of collectors, in their order: thread switches, states, samples.
//  4. Records of the hooks: their parts are halved, again and again.
//
// What was switched off comes back, the last first, when it has earned what it took the last time,
// and no sooner than after a time that doubles where that was of no use.
type governor struct {
	share float64
	parts []*governed

	used float64 // of late, ns of CPU time: of the program, without ours
	rest float64 // likewise: what is ours, but for the parts and for records of functions
	owed float64 // what all has taken more than the budget, since the recording began
	thin float64 // which part of theirs the hooks have

	// later has f run where CPU time is not measured. To end Go's execution trace is to wait, and
	// what the thread runs meanwhile is the program's: for a whole trace that was charged to us. nil: at once.
	later func(f func())

	last struct {
		at              time.Time
		cpu             int64
		spent, recorded float64
	}
}

// governed is a part of a collector.
type governed struct {
	collect.Part
	on    bool
	seen  int64   // ns, as of the last look
	late  float64 // of late
	owed  float64 // what it has taken more than it may, since the recording began
	since int64   // ns: what it had taken when it was switched on
	tried float64 // what it took the last time that it was on
	back  time.Time
	hold  time.Duration
	why   string // not empty: the governor has switched it off
}

const (
	// lately is for how long what was spent counts. What a second took of Go's tracer is known at its
	// end.
	lately = 2 * time.Second
	// leastAll is what may be taken of that, however idle the program is.
	leastAll = 5 * time.Millisecond
	// partHold is how long a part stays off at least, and partHoldMost how long at most if it can be
	// borne again.
	partHold     = 2 * time.Second
	partHoldMost = 64 * time.Second
	// thinnest is the least part of theirs that hooks keep.
	thinnest = 1. / 32
)

// limit is how much of late a part of the budget is.
func (g *governor) limit(part float64) float64 {
	return max(part*g.share*g.used, float64(leastAll))
}

// look brings the parts' costs up to date, and returns what they took since the last time. keep is
// what is left of what was of late.
func (g *governor) look(keep, cpu float64) (took float64) {
	for _, p := range g.parts {
		ns, on := p.Spent()
		if on && !p.on {
			p.since = p.seen
		}
		new := float64(max(ns-p.seen, 0)) // of a collector that has stopped it is nothing
		p.on, p.seen = on, max(ns, p.seen)
		p.late = p.late*keep + new
		p.owed += new - p.Most*g.share*cpu
		took += new
	}
	return took
}

// decide switches off what is too much, and on what can be borne again. began is when the
// recording did.
func (g *governor) decide(now, began time.Time) {
	if g.share >= 1 {
		return // whoever asks for this wants all, whatever it takes
	}
	sum := g.rest
	for _, p := range g.parts {
		if p.on {
			sum += p.late
		}
	}
	over, all := sum-g.limit(known*(1-always)), g.used+sum
	for _, p := range g.parts {
		if p.on && (p.late > g.limit(p.Most) || over > 0 && p.late > p.Most*g.share*g.used) {
			over -= p.late
			g.off(p, now, began, p.late/all, p.late/all/p.Most)
		}
	}
	for _, p := range g.parts {
		// What takes next to nothing stays: without it there is no more room.
		if over > 0 && p.on && p.late > over/16 {
			over -= p.late
			g.off(p, now, began, p.late/all, sum/all/known)
		}
	}
	if over > 0 {
		g.thin = max(g.thin/2, thinnest)
		return
	}
	g.thin = min(g.thin*1.25, 1)
	if g.owed > 0 {
		return
	}
	for i := len(g.parts) - 1; i >= 0; i-- {
		p := g.parts[i]
		if p.why != "" && !now.Before(p.back) && max(p.owed, g.owed)+p.tried*headroom <= 0 {
			p.why = ""
			g.do(func() { p.Switch(true, "") })
			return // what that takes is to be seen first
		}
	}
}

// off switches a part off that takes so much of the CPU time, and that a budget of enough would keep.
func (g *governor) off(p *governed, now, began time.Time, took, enough float64) {
	if p.back.IsZero() || now.Sub(p.back) > 10*p.hold {
		p.hold = partHold
	} else {
		p.hold = min(2*p.hold, partHoldMost)
	}
	p.back, p.on = now.Add(p.hold), false
	p.why = "it took more than its share of the budget, " + percent(took) + " of the CPU time, and is off since " +
		now.Sub(began).Round(time.Millisecond).String()
	if enough < 1 {
		p.why += "; --budget " + whole(enough) + " keeps it"
	}
	ns, _ := p.Spent()
	p.tried = float64(ns - p.since)
	g.do(func() {
		p.Switch(false, p.why)
		ns, _ := p.Spent()
		p.tried = float64(ns - p.since)
	})
}

func (g *governor) do(f func()) {
	if g.later == nil {
		f()
		return
	}
	g.later(f)
}

func whole(share float64) string {
	return strconv.FormatFloat(math.Ceil(100*share), 'f', 0, 64) + "%"
}

// paid is told that so many ns are paid for, and belong to no time.
func (g *governor) paid(ns int64) {
	g.owed += float64(ns)
	g.last.spent += float64(ns)
}

// round is what is done at each tick. While a collector is called for something else, the governor
// is put off.
func (g *governor) round(fs *functions) {
	r := fs.r
	if !r.beatMu.TryLock() {
		fs.tick()
		return
	}
	defer r.beatMu.Unlock()
	if g.last.at.IsZero() {
		if parts := collect.Parts.Load(); parts != nil && r.opts.collect != nil {
			for _, p := range (*parts)() {
				g.parts = append(g.parts, &governed{Part: p})
			}
		}
		g.last.at, g.last.cpu = fs.began, fs.budget.first
	}
	now, cpu := time.Now(), used()
	keep := math.Exp(-float64(now.Sub(g.last.at)) / float64(lately))
	took := g.look(keep, float64(cpu-g.last.cpu))
	fs.charged.Add(int64(took))
	fs.tick()
	g.account(&fs.budget, keep, cpu, took)
	g.last.at = now
	g.decide(now, fs.began)
	fs.budget.hooks(g.thin)
}

// account brings what is of late up to date, after a tick of the budget. took is of the parts.
func (g *governor) account(b *budget, keep float64, cpu int64, took float64) {
	l := &g.last
	spent, recorded := b.spent-l.spent, float64(b.sum.recorded)*b.recorded-l.recorded
	program := float64(cpu-l.cpu) - spent
	g.used = g.used*keep + max(program, 0)
	g.rest = g.rest*keep + max(spent-recorded-took, 0)
	g.owed += spent - known*g.share*max(program, 0)
	l.cpu, l.spent, l.recorded = cpu, b.spent, l.recorded+recorded
}
