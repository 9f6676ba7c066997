//go:build !scope_off

package record

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// budget is how much of the process's CPU time the recording of functions may take. It
// looks at the counts each tick, and lets each P record so many calls of each function
// until the next.
//
// What is earned is a share of the CPU time that the process used, without what it spent
// on us. What is spent is counted: calls × what one costs. All of a function's calls are
// recorded, or none: those that cost the least come first, as many as what is earned
// bears. What a burst took too much is paid back, so that the share is true of the whole
// recording. (All values are ns, or ns per ns of wall time.)
type budget struct {
	share    float64 // of the CPU time without ours
	recorded float64 // ns of a call that is recorded
	skipped  float64 // ns of one that is only counted
	unseen   float64 // ns of one that is not even counted

	first   int64     // CPU time of the process, at the start
	cpu     int64     // of the process, at the last tick
	at      time.Time // of it
	sum     calls
	charged int64
	own     int64   // CPU time of the recorder's goroutines, at the last tick
	due     float64 // of it, what records have been charged for and it has not taken yet
	using   float64 // CPU time per ns, smoothed
	earning float64 // likewise
	charges float64 // likewise
	balance float64
	spent   float64
	over    float64 // the part of the CPU time that was told to be too much; 0: none was
	list    []*function
	every   time.Duration
}

// load is what a function's calls are for the budget.
type load struct {
	last  float64 // calls per ns, when they were last counted
	rate  float64 // likewise, smoothed
	since int64   // ticks: when it was switched off
	back  time.Time
	hold  time.Duration // how long it was to stay off
	seen  calls
}

const (
	tickFirst = 10 * time.Millisecond
	tickLeast = 50 * time.Millisecond
	tickMost  = 400 * time.Millisecond
	smooth    = 0.3          // of the newest value in an average
	payback   = float64(2e9) // ns in which a balance is brought to nothing
	headroom  = 1.5          // what a function must fit with that comes back
	always    = 0.1          // of what is earned is for the rarest functions, whatever is owed
	holdLeast = time.Second  // off at least
	holdMost  = 32 * time.Second
	leastLeft = 64 // calls that each P may record of what is on, at least

	countPart  = 0.25             // of what is earned is for counting calls that are not recorded
	countLeast = 1e-3             // of one CPU is for it whatever is earned
	sampleFor  = time.Millisecond // calls are counted for so long at a time where counting all is too much
	sampleRare = 40               // and so many times as long they are not
)

// known is which part of the budget is spent on what is counted. The rest is for what is not: caches
// that records push the program's data out of, and Go's collector, which runs more often for what
// the recorder has in memory.
const known = 0.5

// Costs of a call beyond what is measured at the start. A loop of its own would tell too little of them: there
// what the added lines need stays in the registers and in the first cache, and in programs of others it
// does not. So they are what was measured there.
//
// The added lines alone took 5 to 8 % of the CPU time of a first build of esbuild, in which they were run 23.5
// million times in 0.93 s: 2 to 3 ns. Samples of four more such runs had 36 to 59 ms in the code that counts,
// for some twelve million calls that it saw: 3 to 5 ns.
const (
	writeOut = 45.0 // ns per record: what measured recordings of a million a second took
	unseenBy = 2.5  // ns of a call that is not even counted
	countBy  = 3.5  // ns more of one that is
)

func (b *budget) init(r *recorder, share float64) {
	b.share = share
	b.recorded = float64(r.cost)/1e3 + writeOut
	b.skipped, b.unseen = unseenBy+countBy, unseenBy
	b.cpu, b.at, b.every = used(), time.Now(), tickLeast
	b.first, b.charged = b.cpu, hooked()
	b.own, _ = r.flusher.Cost.CPU()
}

// used is the CPU time of the process; where it is not known, that of one CPU.
func used() int64 {
	user, system := sys.ProcessCPU()
	if user < 0 {
		return time.Now().UnixNano()
	}
	return user + system
}

// watch is the goroutine of the budget.
func (fs *functions) watch() {
	defer fs.done.Done()
	t := time.NewTimer(tickFirst)
	defer t.Stop()
	for {
		select {
		case <-fs.r.quit:
			return
		case <-t.C:
			if deadlocked() {
				go fs.r.endDeadlocked()
				return
			}
			shown := fs.sample(t)
			fs.r.flusher.Cost.Round(fs.govern)
			fs.settle()
			// Looking at many functions takes at most a five-hundredth of the time. A program that is
			// over soon is looked at the more often before.
			every := min(fs.budget.every, max(time.Since(fs.began), tickFirst))
			t.Reset(min(max(every, 500*fs.took, sampleRare*shown), time.Second))
		}
	}
}

// settle does what the governor has left for later.
func (fs *functions) settle() {
	if len(fs.later) == 0 {
		return
	}
	fs.r.beatMu.Lock()
	defer fs.r.beatMu.Unlock()
	for _, f := range fs.later {
		f()
	}
	clear(fs.later)
	fs.later = fs.later[:0]
}

// sample has calls be counted for a moment that are not otherwise, and returns how long that
// was. The tick that follows ends it.
func (fs *functions) sample(t *time.Timer) time.Duration {
	fs.mu.Lock()
	any := fs.show()
	if any {
		fs.shown = time.Now()
	}
	fs.mu.Unlock()
	if !any {
		return 0
	}
	began := time.Now()
	t.Reset(sampleFor)
	select {
	case <-fs.r.quit:
	case <-t.C:
	}
	return time.Since(began)
}

// show has all calls be counted, and reports whether some were not. fs.mu is held.
func (fs *functions) show() (any bool) {
	for _, f := range fs.all {
		if f.sampled {
			f.f.Hide(false)
			any = true
		}
	}
	return any
}

// guess estimates the calls that were not counted since the last tick: by the rate that was last
// seen, and the one that has been seen now. While calls are counted there are fewer, by what that
// takes of the CPUs that are in use. fs.mu is held, and the sum of all comes back.
func (fs *functions) guess(wall, shown float64) (sum int64) {
	free := shown // what it would have been, had counting taken nothing
	if shown > 0 {
		counted := 0.0
		for _, f := range fs.all {
			if f.sampled {
				counted += f.now.less(f.load.seen).seen()
			}
		}
		b := &fs.budget
		lost := counted * (b.skipped - b.unseen) / max(b.using, 1)
		free = max(shown-lost, shown/4)
	}
	for _, f := range fs.all {
		if f.sampled {
			l := &f.load
			rate := l.last
			if shown > 0 {
				rate = f.now.less(l.seen).seen() / free
			}
			f.unseen += (l.last + rate) / 2 * max(wall-shown, 0)
			f.now.unseen, l.last = int64(f.unseen), rate
		}
		sum += f.now.unseen
	}
	return sum
}

func (c calls) seen() float64 { return float64(c.recorded + c.skipped) }

// tick does what is due.
func (fs *functions) tick() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	now, sum := time.Now(), fs.sum()
	defer func() { fs.took = time.Since(now) }()
	b := &fs.budget
	if wall := float64(now.Sub(b.at)); wall > 0 {
		shown := 0.0
		if !fs.shown.IsZero() {
			shown, fs.shown = float64(now.Sub(fs.shown)), time.Time{}
		}
		sum.unseen = fs.guess(wall, shown)
		new := sum.less(b.sum)
		if b.every = tickLeast; new.recorded+new.skipped == 0 {
			b.every = min(2*max(b.every, now.Sub(b.at)), tickMost)
		}
		own, _ := fs.r.flusher.Cost.CPU()
		b.account(wall, used(), own, new, fs.charged.Load()+hooked())
		b.sum, b.at = sum, now
		fs.choose(now, wall)
		fs.excess(false)
	}
}

// account brings what is earned and spent up to date, with the calls since the last tick.
func (b *budget) account(wall float64, cpu, own int64, new calls, charged int64) {
	// The recorder's goroutines write out later what was charged when it was recorded.
	b.due += float64(new.recorded) * writeOut
	took := float64(own - b.own)
	paid := float64(charged-b.charged) + max(took-b.due, 0)
	b.due = max(b.due-took, 0) * max(1-wall/4e9, 0)
	cost := float64(new.recorded)*b.recorded + float64(new.skipped)*b.skipped + float64(new.unseen)*b.unseen + paid
	part := b.share * known
	if b.share >= 1 {
		part = 1 // whoever asks for this wants all, whatever it takes
	}
	earned := max(float64(cpu-b.cpu)-cost, 0) * part
	b.spent += cost
	if b.using == 0 { // the first time
		b.using, b.earning = float64(cpu-b.cpu)/wall, earned/wall
	}
	average(&b.using, float64(cpu-b.cpu)/wall)
	average(&b.earning, earned/wall)
	average(&b.charges, paid/wall)
	b.balance = min(b.balance+earned-cost, b.earning*payback/2)
	b.cpu, b.charged, b.own = cpu, charged, own
}

// hookPart is which part of the budget each kind of hook may take, at most.
const hookPart = 1. / 8

// hooks gives the hooks their parts of the CPU time that the process uses, or thin of them.
func (b *budget) hooks(thin float64) {
	ppm := max(int64(1e6*b.share*hookPart*thin*min(b.using/float64(procs()), 1)), 1)
	SetHookShares(ppm, ppm, ppm)
}

func average(v *float64, new float64) {
	*v += smooth * (new - *v)
}

// choose decides which functions are recorded until the next tick.
func (fs *functions) choose(now time.Time, wall float64) {
	b := &fs.budget
	counting := b.charges // what is spent whatever is recorded
	b.list = b.list[:0]
	for number, f := range fs.all {
		l := &f.load
		new := f.now.less(l.seen)
		l.seen = f.now
		if !f.sampled {
			l.last = new.seen() / wall
		}
		average(&l.rate, l.last)
		counting += l.rate * b.notRecorded(f)
		if f.f == nil || number < sys.FirstFunc {
			continue
		}
		if l.rate*wall > 0.01 || f.off {
			b.list = append(b.list, f)
		}
	}
	left := b.earning - counting
	room := max(left+b.balance/payback, always*b.earning)
	slices.SortFunc(b.list, func(x, y *function) int { return cmp.Compare(b.wants(x), b.wants(y)) })
	ps := float64(1)
	if fs.r.fast != nil {
		ps = float64(max(len(fs.r.fast.Tallies()), 1))
	}
	// A burst may take what was saved, and no P more than its part of it.
	credit := int64(max(room, 0) * float64(max(b.every, tickLeast)) * 2 / ps / b.recorded)
	if b.balance > 0 {
		credit = max(credit, int64(b.balance/ps/b.recorded))
	}
	credit = max(credit, leastLeft)
	count := max(countPart*b.earning, countLeast)
	for _, f := range b.list {
		if cost := b.wants(f); cost <= room && !(f.off && now.Before(f.load.back)) {
			room -= cost
			fs.on(f, credit)
			continue
		}
		fs.switchOff(f, now)
		cost := f.load.rate * (b.skipped - b.unseen)
		if f.sampled {
			cost *= headroom
		}
		f.sampled = cost > count && fs.sampling
		f.f.Hide(f.sampled)
		if !f.sampled {
			count -= cost
		}
	}
}

// notRecorded is what a call of f costs that is not recorded.
func (b *budget) notRecorded(f *function) float64 {
	if f.sampled {
		return b.unseen
	}
	return b.skipped
}

// wants is what recording a function costs more than not recording it.
func (b *budget) wants(f *function) float64 {
	w := f.load.rate * (b.recorded - b.notRecorded(f))
	if f.off {
		w *= headroom
	}
	return w
}

// on has calls of f be recorded, credit of them by each P.
func (fs *functions) on(f *function, credit int64) {
	f.off, f.sampled = false, false
	f.f.Hide(false)
	fs.each(f.number, func(t *sys.Tally) {
		// What has much left is not written to: most rows are of Ps that never call it.
		if left := t.Credit(); left < credit/2 || left > 4*credit {
			t.Allow(credit)
		}
	})
}

// switchOff has calls of f be counted only. What comes back too often stays off longer.
func (fs *functions) switchOff(f *function, now time.Time) {
	l := &f.load
	if !f.off {
		if now.Sub(l.back) < 10*time.Second {
			l.hold = min(2*l.hold, holdMost)
		} else {
			l.hold = 0
		}
		l.hold = max(l.hold, holdLeast)
		f.off, l.since, l.back = true, fs.r.clock.Now(), now.Add(l.hold)
	}
	fs.each(f.number, (*sys.Tally).Deny)
}

// Facts about the budget.
const (
	factBudget     = "budget"
	factBudgetOver = "budget_exceeded"
)

// idle is which part of one CPU recording may take however idle the program is.
const idle = 0.005

// excess tells the trace where the promise was not kept: where what recording took of the CPU
// time, by its model, is more than the budget. It is told again as it changes, to the end.
func (fs *functions) excess(last bool) {
	b := &fs.budget
	all := float64(b.cpu - b.first)
	now := fs.r.clock.Now()
	if all <= 0 || now-fs.r.began < fs.r.ticks(time.Second) && !last {
		return // it is not known yet
	}
	// The goroutines of a recording take some, however little the program does.
	if b.spent < idle*float64(now-fs.r.began)/float64(fs.r.rate)*1e9 {
		return
	}
	part := b.spent / all
	if part < 1.1*b.share && b.over == 0 || !last && part < 1.2*b.over {
		return
	}
	b.over = part
	text := percent(part) + " of the CPU time went into recording"
	if counting := (float64(b.sum.skipped)*b.skipped + float64(b.sum.unseen)*b.unseen) / all; counting > b.share/2 {
		text += ", " + percent(counting) + " into calls that are not recorded"
	}
	if part <= b.share {
		text += " in the end, and more before"
	} else {
		text += ": the budget could not be kept"
	}
	fs.r.fact(factBudgetOver, text)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }
