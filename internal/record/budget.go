//go:build !scope_off

package record

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// budget limits the share of the process's CPU time that the recording of functions takes. At each
// tick it reads the counts, and sets how many calls of each function each P may record until the
// next.
//
// It earns a share of the CPU time that the process used, without the recorder's own. It spends the
// calls × the cost of one. All of a function's calls are recorded, or none: the cheapest functions
// first, as many as the earnings allow. What a burst overspent is paid back, so that the share
// holds for the whole recording. (All values are ns, or ns per ns of wall time.)
type budget struct {
	share    float64 // of the CPU time without the recorder's
	recorded float64 // ns per recorded call
	skipped  float64 // ns per call that is only counted
	unseen   float64 // ns per call that is not even counted

	first   int64     // CPU time of the process, at the start
	cpu     int64     // of the process, at the last tick
	at      time.Time // time of the last tick
	sum     calls
	charged int64
	own     int64   // CPU time of the recorder's goroutines, at the last tick
	due     float64 // the part of own that records were charged for in advance
	using   float64 // CPU time used per ns, smoothed
	earning float64 // earned per ns, smoothed
	charges float64 // charged per ns, smoothed
	balance float64
	spent   float64
	over    float64 // the last reported excess, as a share of the CPU time; 0: none
	list    []*function
	every   time.Duration
}

// load is the cost of a function's calls.
type load struct {
	last  float64 // calls per ns, when last counted
	rate  float64 // calls per ns, smoothed
	since int64   // ticks: when switched off
	back  time.Time
	hold  time.Duration // how long to stay off
	seen  calls
}

const (
	tickFirst = 10 * time.Millisecond
	tickLeast = 50 * time.Millisecond
	tickMost  = 400 * time.Millisecond
	smooth    = 0.3          // weight of the newest value in an average
	payback   = float64(2e9) // ns in which a debt or surplus is spread
	headroom  = 1.5          // margin within which a function must fit to be switched on again
	always    = 0.1          // part of the earnings for the rarest functions, whatever the debt
	holdLeast = time.Second  // minimum time off
	holdMost  = 32 * time.Second
	leastLeft = 64 // minimum of calls that each P may record of a function that is on

	countPart  = 0.25             // part of the earnings for counting calls that are not recorded
	countLeast = 1e-3             // part of one CPU for counting, whatever the earnings
	sampleFor  = time.Millisecond // duration of a sample, if counting all calls costs too much
	sampleRare = 40               // ratio of the time between samples to sampleFor
)

// known is the part of the budget spent on measured costs. The rest covers unmeasured ones: the
// program's data that records push out of caches, and Go's collector, which runs more often because
// of the recorder's memory.
const known = 0.5

// Costs of a call beyond those measured at the start. A loop here would underestimate them: its
// data stays in registers and the first-level cache, which in real programs it does not. So the
// values were measured there.
//
// The added lines alone took 5 to 8 % of the CPU time of a first build of esbuild, which ran them
// 23.5 million times in 0.93 s: 2 to 3 ns. Samples of four more runs had 36 to 59 ms in the
// counting code, for some twelve million counted calls: 3 to 5 ns.
const (
	writeOut = 45.0 // ns per record: measured in recordings of a million records per second
	unseenBy = 2.5  // ns per call that is not even counted
	countBy  = 3.5  // additional ns per counted call
)

func (b *budget) init(r *recorder, share float64) {
	b.share = share
	b.recorded = float64(r.cost)/1e3 + writeOut
	b.skipped, b.unseen = unseenBy+countBy, unseenBy
	b.cpu, b.at, b.every = used(), time.Now(), tickLeast
	b.first, b.charged = b.cpu, hooked()
	b.own, _ = r.flusher.Cost.CPU()
}

// used returns the CPU time of the process; if unknown, that of one fully used CPU.
func used() int64 {
	user, system := sys.ProcessCPU()
	if user < 0 {
		return time.Now().UnixNano()
	}
	return user + system
}

// watch is the budget's goroutine.
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
			// Reading the counts of many functions takes at most a five-hundredth of the time. A
			// short-lived program is checked more often at its start.
			every := min(fs.budget.every, max(time.Since(fs.began), tickFirst))
			t.Reset(min(max(every, 500*fs.took, sampleRare*shown), time.Second))
		}
	}
}

// settle runs what the governor has put off.
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

// sample counts the calls of sampled functions for a moment, and returns its length. The following
// tick ends the counting.
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

// show counts the calls of sampled functions, and reports whether there are any. fs.mu is held.
func (fs *functions) show() (any bool) {
	for _, f := range fs.all {
		if f.sampled {
			f.f.Hide(false)
			any = true
		}
	}
	return any
}

// guess estimates the calls that were not counted since the last tick, from the last and the
// current rate, and returns the sum over all functions. While calls are counted there are fewer of
// them, by what counting takes of the CPUs in use. fs.mu is held.
func (fs *functions) guess(wall, shown float64) (sum int64) {
	free := shown // the time shown, without the cost of counting
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

// tick updates the budget and chooses the functions to record.
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

// account updates what is earned and spent, with the calls since the last tick.
func (b *budget) account(wall float64, cpu, own int64, new calls, charged int64) {
	// The recorder's goroutines write out later what was charged when recorded.
	b.due += float64(new.recorded) * writeOut
	took := float64(own - b.own)
	paid := float64(charged-b.charged) + max(took-b.due, 0)
	b.due = max(b.due-took, 0) * max(1-wall/4e9, 0)
	cost := float64(new.recorded)*b.recorded + float64(new.skipped)*b.skipped + float64(new.unseen)*b.unseen + paid
	part := b.share * known
	if b.share >= 1 {
		part = 1 // a budget of 100 % means no limit
	}
	earned := max(float64(cpu-b.cpu)-cost, 0) * part
	b.spent += cost
	if b.using == 0 { // the first tick
		b.using, b.earning = float64(cpu-b.cpu)/wall, earned/wall
	}
	average(&b.using, float64(cpu-b.cpu)/wall)
	average(&b.earning, earned/wall)
	average(&b.charges, paid/wall)
	b.balance = min(b.balance+earned-cost, b.earning*payback/2)
	b.cpu, b.charged, b.own = cpu, charged, own
}

// hookPart is the largest part of the budget for each kind of hook.
const hookPart = 1. / 8

// hooks sets the hooks' shares, scaled by thin, according to the CPU time that the process uses.
func (b *budget) hooks(thin float64) {
	ppm := max(int64(1e6*b.share*hookPart*thin*min(b.using/float64(procs()), 1)), 1)
	SetHookShares(ppm, ppm, ppm)
}

func average(v *float64, new float64) {
	*v += smooth * (new - *v)
}

// choose selects the functions that are recorded until the next tick.
func (fs *functions) choose(now time.Time, wall float64) {
	b := &fs.budget
	counting := b.charges // spent whatever is recorded
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
	// A burst may use the savings, but no P more than its part of them.
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

// notRecorded returns the cost of a call of f that is not recorded.
func (b *budget) notRecorded(f *function) float64 {
	if f.sampled {
		return b.unseen
	}
	return b.skipped
}

// wants returns the additional cost of recording a function.
func (b *budget) wants(f *function) float64 {
	w := f.load.rate * (b.recorded - b.notRecorded(f))
	if f.off {
		w *= headroom
	}
	return w
}

// on makes calls of f recorded, credit of them on each P.
func (fs *functions) on(f *function, credit int64) {
	f.off, f.sampled = false, false
	f.f.Hide(false)
	fs.each(f.number, func(t *sys.Tally) {
		// Do not write to rows with much left: most belong to Ps that never call f.
		if left := t.Credit(); left < credit/2 || left > 4*credit {
			t.Allow(credit)
		}
	})
}

// switchOff makes calls of f only counted. A function that comes back too often stays off longer.
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

// idle is the part of one CPU that recording may take however idle the program is.
const idle = 0.005

// excess records that the budget was exceeded: that recording took, by its model, a larger share of
// the CPU time. It records changes of that, up to the end.
func (fs *functions) excess(last bool) {
	b := &fs.budget
	all := float64(b.cpu - b.first)
	now := fs.r.clock.Now()
	if all <= 0 || now-fs.r.began < fs.r.ticks(time.Second) && !last {
		return // not known yet
	}
	// A recording's goroutines take some time however little the program does.
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
		text += ", " + percent(counting) + " into calls without a record"
	}
	if part <= b.share {
		text += " at the end, and more before"
	} else {
		text += ": the budget could not be kept"
	}
	fs.r.fact(factBudgetOver, text)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }
