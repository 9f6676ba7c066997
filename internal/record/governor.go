//go:build !scope_off

package record

import (
	"math"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// governor keeps the total cost of a recording within the budget. The costs, and how each is
// determined:
//
//	the recorder's goroutines    the CPU time of their threads, around their work (flusher.Cost)
//	functions                    counted calls × the cost of one (budget)
//	hooks of the library         events × the cost of one (allowance)
//	thread switches              records of the system × the cost of one
//	states                       bytes of Go's tracer, and switches of goroutines × the cost of one
//	samples                      signals × the cost of one
//
// If the sum is too large, it switches off, in this order, until it is not:
//
//  1. Functions, the most called first: they get what the others leave, and a tenth of the
//     budget at least.
//  2. Parts of collectors that take more than their own part of the budget.
//  3. Parts of collectors, in their order: thread switches, states, samples.
//  4. Records of the hooks: their shares are halved repeatedly.
//
// A part comes back, the last one first, when the budget has earned what the part took the last
// time, and not before a delay that doubles each time the part has to be switched off again soon.
type governor struct {
	share float64
	parts []*governed

	used float64 // recent CPU time of the program, in ns, without the recorder's
	rest float64 // recent CPU time of the recorder, without the parts and records of functions
	owed float64 // total overspent since the recording began
	thin float64 // factor of the hooks' shares

	// later runs f when CPU time is not being measured; nil: at once. Ending Go's execution trace
	// waits, and what the thread runs meanwhile is the program's: for a whole trace, that was
	// charged to the recorder.
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
	seen  int64   // ns, at the last look
	late  float64 // recent cost
	owed  float64 // overspent since the recording began
	since int64   // ns: its cost when it was switched on
	tried float64 // its cost the last time that it was on
	back  time.Time
	hold  time.Duration
	why   string // if not empty, the governor has switched it off, for this reason
}

const (
	// lately is the time constant of recent costs. The cost of a second of Go's tracer is known at
	// its end.
	lately = 2 * time.Second
	// leastAll is a part's allowance in that time, however idle the program is.
	leastAll = 5 * time.Millisecond
	// partHold is the minimum time that a part stays off; partHoldMost is the maximum once it is
	// affordable again.
	partHold     = 2 * time.Second
	partHoldMost = 64 * time.Second
	// thinnest is the least factor of the hooks' shares.
	thinnest = 1. / 32
)

// limit returns the recent allowance for a part of the budget.
func (g *governor) limit(part float64) float64 {
	return max(part*g.share*g.used, float64(leastAll))
}

// look updates the parts' costs, and returns what they took since the last time. keep is the factor
// by which recent costs decay.
func (g *governor) look(keep, cpu float64) (took float64) {
	for _, p := range g.parts {
		ns, on := p.Spent()
		if on && !p.on {
			p.since = p.seen
		}
		new := float64(max(ns-p.seen, 0)) // a collector that has stopped it reports 0
		p.on, p.seen = on, max(ns, p.seen)
		p.late = p.late*keep + new
		p.owed += new - p.Most*g.share*cpu
		took += new
	}
	return took
}

// decide switches parts off that cost too much, and on when they are affordable again. began is the
// start of the recording.
func (g *governor) decide(now, began time.Time) {
	if g.share >= 1 {
		return // a budget of 100 % means no limit
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
		// A part that costs next to nothing stays: switching it off would not help.
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
			return // wait for its cost first
		}
	}
}

// off switches off a part that took the share took of the CPU time, and that a budget of enough
// would allow.
func (g *governor) off(p *governed, now, began time.Time, took, enough float64) {
	if p.back.IsZero() || now.Sub(p.back) > 10*p.hold {
		p.hold = partHold
	} else {
		p.hold = min(2*p.hold, partHoldMost)
	}
	p.back, p.on = now.Add(p.hold), false
	p.why = "it exceeded its share of the budget, " + percent(took) + " of the CPU time, and is off since " +
		now.Sub(began).Round(time.Millisecond).String()
	if enough < 1 {
		p.why += "; --budget " + whole(enough) + " keeps it on"
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

// paid adds ns that belong to no particular time.
func (g *governor) paid(ns int64) {
	g.owed += float64(ns)
	g.last.spent += float64(ns)
}

// round is the work of each tick. The governor skips a tick while a collector is being called for
// something else.
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

// account updates the recent costs after a tick of the budget. took is the cost of the parts.
func (g *governor) account(b *budget, keep float64, cpu int64, took float64) {
	l := &g.last
	spent, recorded := b.spent-l.spent, float64(b.sum.recorded)*b.recorded-l.recorded
	program := float64(cpu-l.cpu) - spent
	g.used = g.used*keep + max(program, 0)
	g.rest = g.rest*keep + max(spent-recorded-took, 0)
	g.owed += spent - known*g.share*max(program, 0)
	l.cpu, l.spent, l.recorded = cpu, b.spent, l.recorded+recorded
}
