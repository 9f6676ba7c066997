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

// functions is what a recording knows of the functions that were called. Each has a
// number from its first call on, by which its calls are counted: by each P in a row of
// its own, or, where there is no assembly, by all together.
type functions struct {
	r      *recorder
	mu     sync.Mutex
	all    []*function // by number; the first are those of nobody
	shared [sys.MaxFuncs / sharedPage]atomic.Pointer[[sharedPage]sys.Tally]

	budget   budget
	govern   func()   // what is done at each tick
	later    []func() // what is done behind it
	began    time.Time
	took     time.Duration // the last tick
	sampling bool          // what counting takes is known, and so how many calls there are in between
	shown    time.Time     // since when what is sampled is counted; zero: it is not
	charged  atomic.Int64  // ns
	begun    atomic.Int64  // ns that it took to begin, which are not paid for yet
	buf      []format.Calls
	unseen   []format.Unseen
	block    []byte
	done     sync.WaitGroup
}

const sharedPage = 128

// function is one of them. functions.mu is held by who looks at it, but for f.
type function struct {
	f      *sys.Func // nil: what is counted here has no name of its own
	number int
	id     uint16
	now    calls
	told   calls

	off     bool    // its calls are only counted
	sampled bool    // and that now and then
	unseen  float64 // calls while they were not counted, by the rates in between
	load    load
}

// calls are counts of calls.
type calls struct {
	recorded, skipped int64
	unseen            int64 // an estimate: while they were not counted
}

func (c calls) less(d calls) calls {
	return calls{c.recorded - d.recorded, c.skipped - d.skipped, c.unseen - d.unseen}
}

// Instrument has recordings that begin from now on record functions, whose part of the
// process's CPU time is share.
func Instrument(share float64) {
	instrumented.share = share
	onEnter()
	f := (*recorder).tellFunctions
	tellFuncs.Store(&f)
}

var instrumented struct{ share float64 }

// tellFunctions is told how far the recording is.
func (r *recorder) tellFunctions(now collecting) {
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
		r.tellOmitted()
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
		fs.tell()
	case collectFilter:
		r.funcs.Load().refilter()
	default:
		r.funcs.Load().tell()
	}
}

// page is the page of shared tallies that has the number's.
func (fs *functions) page(number int) *[sharedPage]sys.Tally {
	p := &fs.shared[number/sharedPage]
	if p.Load() == nil {
		p.CompareAndSwap(nil, new([sharedPage]sys.Tally))
	}
	return p.Load()
}

// take counts a call of f where the assembly has not, and reports whether it is to be
// recorded.
func take(f *sys.Func) bool {
	r := current.Load()
	if r == nil {
		return false // the recording is about to begin
	}
	fs := r.funcs.Load()
	if fs == nil {
		return false // it was begun before Instrument
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

// enter is Enter where the assembly does nothing.
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

// Charge has the functions' budget pay for ns that hooks took.
func Charge(ns int64) {
	if r := current.Load(); r != nil {
		if fs := r.funcs.Load(); fs != nil {
			fs.charged.Add(ns)
		}
	}
}

// Began has the functions' budget pay for ns that it took to begin the recording.
func Began(ns int64) {
	r := current.Load()
	if r == nil {
		return
	}
	if fs := r.funcs.Load(); fs != nil {
		fs.begun.Add(ns)
	}
}

// pay has the budget, and the governor if it goes on, pay for what it took to begin. Ticks may have
// been before that is known.
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

// firstCost is what a function's first call costs, in ns: half of it to find its place.
const firstCost = 4000

// assign gives f its number, and its word by what the filter says of its name. The filter
// may change meanwhile, so it is asked again.
func (fs *functions) assign(f *sys.Func) {
	id, first := fs.r.names.learn(f.Name)
	if first {
		fs.r.tellGiven(uint16(id))
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

// word gives f its word. fs.mu is held.
func (fs *functions) word(f *sys.Func, number int, id uint64) {
	if id&nameOut != 0 {
		number = sys.NoFunc
	}
	f.Assign(fs.r.gen, headTask|id&nameID<<48, number)
}

// refilter decides anew which functions are recorded.
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

// sum brings the counts up to date. fs.mu is held.
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

// tell tells of the functions that were not recorded each time since they were told last.
func (fs *functions) tell() {
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
				f.told.recorded, f.told.skipped = f.now.recorded, f.now.skipped
			}
			if guessed {
				f.told.unseen = f.now.unseen
			}
		}
		list, fs.buf, fs.unseen = list[:0], fs.buf[:0], fs.unseen[:0]
	}
	for number, f := range fs.all {
		new := f.now.less(f.told)
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
