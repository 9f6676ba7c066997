//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// Func is a function whose calls are scopes; see scope/hooks.
type Func = sys.Func

// functions is a recording's table of the called functions. Each gets a number at its first call,
// by which its calls are counted: by each P in a row of its own or, without assembly, in shared
// counters.
type functions struct {
	r      *recorder
	mu     sync.Mutex
	all    []*function // by number; the first are reserved
	shared [sys.MaxFuncs / sharedPage]atomic.Pointer[[sharedPage]sys.Tally]

	budget   budget
	govern   func()   // work of each tick
	later    []func() // work after a tick
	began    time.Time
	took     time.Duration // duration of the last tick
	sampling bool          // the cost of counting is known, so calls between samples can be estimated
	shown    time.Time     // start of the current sample; zero: none
	charged  atomic.Int64  // ns
	begun    atomic.Int64  // ns that starting took, not yet paid for
	buf      []format.Calls
	unseen   []format.Unseen
	block    []byte
	done     sync.WaitGroup
}

const sharedPage = 128

// function is an instrumented function. functions.mu guards all fields but f.
type function struct {
	f       *sys.Func // nil: the shared count of functions without a number
	number  int
	id      uint16
	now     calls
	written calls

	off     bool    // calls are only counted
	sampled bool    // calls are counted only in samples
	unseen  float64 // estimated calls between samples
	load    load
}

// calls holds counts of calls.
type calls struct {
	recorded, skipped int64
	unseen            int64 // estimate of the calls that were not counted
}

func (c calls) less(d calls) calls {
	return calls{c.recorded - d.recorded, c.skipped - d.skipped, c.unseen - d.unseen}
}

// Instrument makes later recordings record functions, with the given share of the process's CPU
// time.
func Instrument(share float64) {
	instrumented.share = share
	onEnter()
	f := (*recorder).writeFunctions
	funcsWriter.Store(&f)
}

var instrumented struct{ share float64 }

// writeFunctions handles a stage of the recording.
func (r *recorder) writeFunctions(now collecting) {
	switch now {
	case collectStart:
		fs := &functions{r: r, sampling: r.fast != nil}
		fs.all = []*function{sys.NoFunc: {}, sys.OtherFuncs: {number: sys.OtherFuncs, id: format.NameOther}}
		page := fs.page(0)
		page[sys.NoFunc].Deny()
		page[sys.OtherFuncs].Deny()
		fs.budget.init(r, instrumented.share)
		fs.began = time.Now()
		g := &governor{share: instrumented.share, thin: 1}
		g.later = func(f func()) { fs.later = append(fs.later, f) }
		fs.govern = func() { fs.pay(g); g.round(fs) }
		r.funcs.Store(fs)
		r.fact(factBudget, percent(fs.budget.share))
		r.writeOmitted()
		fs.done.Add(1)
		go fs.watch()
	case collectStop:
		fs := r.funcs.Load()
		fs.done.Wait() // r.quit is closed
		fs.pay(nil)
		fs.tick()
		fs.mu.Lock()
		fs.excess(true)
		fs.show()
		fs.mu.Unlock()
		fs.write()
	case collectFilter:
		r.funcs.Load().refilter()
	default:
		r.funcs.Load().write()
	}
}

// page returns the page of shared tallies for a number.
func (fs *functions) page(number int) *[sharedPage]sys.Tally {
	p := &fs.shared[number/sharedPage]
	if p.Load() == nil {
		p.CompareAndSwap(nil, new([sharedPage]sys.Tally))
	}
	return p.Load()
}

// take counts a call of f that the assembly has not, and reports whether to record it.
func take(f *sys.Func) bool {
	r := current.Load()
	if r == nil {
		return false // the recording is about to begin
	}
	fs := r.funcs.Load()
	if fs == nil {
		return false // it began before Instrument
	}
	for range attempts {
		number := f.Number(r.gen)
		if number < 0 {
			fs.assign(f)
			continue
		}
		if r.fast == nil {
			return fs.page(number)[number%sharedPage].TakeShared()
		}
		switch sys.Take(f) {
		case sys.Took:
			return true
		case sys.LeftOut:
			return false
		}
		r.fast.Tally()
	}
	// The recording is over, or there is no memory for this P's row.
	number := f.Number(r.gen)
	if number < 0 {
		number = sys.OtherFuncs
	}
	return fs.page(number)[number%sharedPage].TakeShared()
}

// enter implements Enter without the assembly.
//
//go:noinline
func enter(f *sys.Func) Handle {
	if !take(f) {
		return Handle{}
	}
	return entered(f)
}

// EnterArgs is Enter with arguments.
//
//go:noinline
func EnterArgs(s *sys.FuncState, args []any) Handle {
	f := sys.FuncOf(s)
	if !take(f) {
		return Handle{}
	}
	return BeginTask(f.Name, args)
}

// Charge charges the functions' budget with ns that hooks took.
func Charge(ns int64) {
	if r := current.Load(); r != nil {
		if fs := r.funcs.Load(); fs != nil {
			fs.charged.Add(ns)
		}
	}
}

// Began charges the functions' budget with the ns that starting the recording took.
func Began(ns int64) {
	r := current.Load()
	if r == nil {
		return
	}
	if fs := r.funcs.Load(); fs != nil {
		fs.begun.Add(ns)
	}
}

// pay charges the budget, and the governor unless it is nil, with the cost of starting, which may
// become known only after the first ticks.
func (fs *functions) pay(g *governor) {
	ns := fs.begun.Swap(0)
	if ns == 0 {
		return
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.budget.balance -= float64(ns)
	fs.budget.spent += float64(ns)
	fs.budget.first -= ns
	if g != nil {
		g.paid(ns)
	}
}

// firstCost is the cost of a function's first call, in ns: half of it is for looking up its place.
const firstCost = 4000

// assign sets f's number, and its word according to the filter. The filter may change meanwhile, so
// the name is looked up again.
func (fs *functions) assign(f *sys.Func) {
	id, first := fs.r.names.learn(f.Name)
	if first {
		fs.r.writeNamePlace(uint16(id))
	}
	fs.mu.Lock()
	if f.Number(fs.r.gen) < 0 {
		number := sys.OtherFuncs
		if len(fs.all) < sys.MaxFuncs && id&nameID != format.NameOther {
			number = len(fs.all)
			fs.all = append(fs.all, &function{f: f, number: number, id: uint16(id & nameID)})
		}
		fs.word(f, number, id)
		fs.charged.Add(firstCost)
	}
	fs.mu.Unlock()
	if again := fs.r.names.lookup(f.Name); again != id {
		fs.refilter()
	}
}

// word sets f's word. fs.mu is held.
func (fs *functions) word(f *sys.Func, number int, id uint64) {
	if id&nameOut != 0 {
		number = sys.NoFunc
	}
	f.Assign(fs.r.gen, headTask|id&nameID<<48, number)
}

// refilter applies the current filter to all functions.
func (fs *functions) refilter() {
	fs.mu.Lock()
	n := len(fs.all)
	fs.mu.Unlock()
	for number := sys.FirstFunc; number < n; number++ {
		fs.mu.Lock()
		f := fs.all[number].f
		fs.mu.Unlock()
		for {
			id := fs.r.names.lookup(f.Name)
			fs.mu.Lock()
			fs.word(f, number, id)
			fs.mu.Unlock()
			if fs.r.names.lookup(f.Name) == id {
				break
			}
		}
	}
}

// sum updates the counts and returns their sum. fs.mu is held.
func (fs *functions) sum() (sum calls) {
	var rows [][]sys.Tally
	if fs.r.fast != nil {
		rows = fs.r.fast.Tallies()
	}
	for number, f := range fs.all {
		f.now = calls{unseen: int64(f.unseen)}
		for _, row := range rows {
			f.now.add(&row[number])
		}
		if p := fs.shared[number/sharedPage].Load(); p != nil {
			f.now.add(&p[number%sharedPage])
		}
		sum.recorded += f.now.recorded
		sum.skipped += f.now.skipped
		sum.unseen += f.now.unseen
	}
	return sum
}

func (c *calls) add(t *sys.Tally) {
	recorded, skipped := t.Counts()
	c.recorded += recorded
	c.skipped += skipped
}

// each calls do with every tally of a function. fs.mu is held.
func (fs *functions) each(number int, do func(t *sys.Tally)) {
	if fs.r.fast == nil {
		do(&fs.page(number)[number%sharedPage])
		return
	}
	for _, row := range fs.r.fast.Tallies() {
		do(&row[number])
	}
	if p := fs.shared[number/sharedPage].Load(); p != nil {
		do(&p[number%sharedPage])
	}
}

// write writes the counts of functions with calls that were not recorded, if they have changed since
// they were last written.
func (fs *functions) write() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.sum()
	now := fs.r.clock.Now()
	var list []*function
	flush := func() {
		if len(list) == 0 {
			return
		}
		fs.block = format.AppendCalls(fs.block[:0], now, fs.buf)
		counted := fs.r.block(format.BlockCalls, fs.block)
		fs.block = format.AppendUnseen(fs.block[:0], now, fs.unseen)
		guessed := len(fs.unseen) == 0 || fs.r.block(format.BlockUnseen, fs.block)
		for _, f := range list {
			if counted {
				f.written.recorded, f.written.skipped = f.now.recorded, f.now.skipped
			}
			if guessed {
				f.written.unseen = f.now.unseen
			}
		}
		list, fs.buf, fs.unseen = list[:0], fs.buf[:0], fs.unseen[:0]
	}
	for number, f := range fs.all {
		new := f.now.less(f.written)
		if new.skipped+new.unseen == 0 || number == sys.NoFunc {
			continue
		}
		c := format.Calls{Name: f.id, Calls: new.recorded + new.skipped, Recorded: new.recorded, Off: -1}
		if f.off || f.f == nil {
			c.Off = max(now-f.load.since, 0)
		}
		list, fs.buf = append(list, f), append(fs.buf, c)
		if new.unseen > 0 {
			fs.unseen = append(fs.unseen, format.Unseen{Name: f.id, Calls: new.unseen})
		}
		if len(list) == format.MaxCalls {
			flush()
		}
	}
	flush()
}
