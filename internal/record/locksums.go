//go:build !scope_off

package record

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// lockSums is what is counted of a lock that somebody once had to wait for, or of all
// locks without a name that are locked in one place.
type lockSums struct {
	addr uint64 // of a lock's own
	name string // "": its waits are counted by the places where it is locked
	kind format.LockKind
	rest bool // beyond maxLocks: it is counted among restLocks
	at   placeFrame

	waiters   atomic.Int32  // now
	contended atomic.Uint64 // how often × contendedOne, and how often of that briefly
	acquired  uint64        // LockState's count; here it is aligned where an int has 32 bits
	shortWait atomic.Int64  // ticks
	gone      atomic.Bool   // the lock was collected

	next *lockSums // of those that are new
	told lockTold  // lockTable.mu is held
}

const contendedOne = 1 << 32

// placeFrame is where the locks of a place are locked, and the recording that knows.
type placeFrame struct {
	*format.Frame // nil: it is a lock's own
	told          atomic.Int64
}

// lockTold is what the recording was told of a lock so far.
type lockTold struct {
	acquired  uint64
	contended uint64
	shortWait int64
}

// lockLife is a lock's own: when it is collected, so was the lock.
type lockLife struct{ sums *lockSums }

// maxLocks is how many locks are counted one by one.
const maxLocks = 65536

// restLocks is where all others are counted.
var restLocks = &lockSums{name: "(other locks)"}

func (s *lockSums) counted() *lockSums {
	if s.rest {
		return restLocks
	}
	return s
}

// lockTable is all locks that are counted. No lock is kept from being collected.
var lockTable struct {
	fresh atomic.Pointer[lockSums] // those that are not in all yet
	count atomic.Int64             // of both
	gen   atomic.Int64             // the recording that knows the threshold

	mu  sync.Mutex // held by who tells; nobody who locks waits for it
	all []*lockSums
	buf []byte

	retries struct {
		sync.RWMutex
		by map[string]*lockSums
	}

	// places are those of locks without a name, by the address behind the call that locks;
	// nil: that is in a function of a lock, and its caller says more.
	places struct {
		sync.Mutex // held by who comes from a new place
		at         atomic.Pointer[map[uintptr]*lockSums]
	}
}

// known is what is counted of the lock, which its first wait makes.
func (l *LockState) known(name string, what uint64) *lockSums {
	a := any(l)
	addr := uint64(sys.Object(&a))
	old := l.sums.Load()
	if old != nil && old.addr == addr { // else the lock is a copy
		return old
	}
	s := newSums(addr, name, format.LockKind(what>>8))
	if !l.sums.CompareAndSwap(old, s) {
		lockTable.count.Add(-1)
		return l.sums.Load()
	}
	if name == "" {
		lockTable.count.Add(-1) // nothing is told of it itself
		return s
	}
	s.register()
	l.life = &lockLife{s}
	runtime.AddCleanup(l.life, func(s *lockSums) { s.gone.Store(true) }, s)
	return s
}

// newSums makes what register then has told, and takes its place in the table.
func newSums(addr uint64, name string, kind format.LockKind) *lockSums {
	return &lockSums{addr: addr, name: strings.Clone(name), kind: kind, rest: lockTable.count.Add(1) > maxLocks}
}

// register has the lock told of from now on.
func (s *lockSums) register() {
	tellLocks.Store(&lockTeller)
	if s.rest {
		lockTable.count.Add(-1) // it has none
		return
	}
	for {
		s.next = lockTable.fresh.Load()
		if lockTable.fresh.CompareAndSwap(s.next, s) {
			return
		}
	}
}

var lockTeller = (*recorder).lockSums

// lockFacts tells the trace the threshold, once.
func (r *recorder) lockFacts() {
	if lockTable.gen.Load() == r.gen || lockTable.gen.Swap(r.gen) == r.gen {
		return
	}
	how := "duration"
	switch r.opts.locks {
	case LocksAll:
		how = "all"
	case LocksCalibrated:
		how = "calibrated"
	}
	for _, f := range [][2]string{
		{"lock_threshold", how},
		{"lock_threshold_ns", strconv.FormatInt(int64(r.threshold()), 10)},
	} {
		r.block(format.BlockInfo, format.AppendInfo(nil, f[0], f[1]))
	}
}

// lockSums tells what was counted since it was told last.
func (r *recorder) lockSums(now collecting) {
	t := &lockTable
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := t.fresh.Swap(nil); s != nil; {
		t.all = append(t.all, s)
		s, s.next = s.next, nil // or each would keep all that came before it
	}
	kept := t.all[:0]
	for _, s := range t.all {
		if r.tellSums(s, now) || !s.gone.Load() {
			kept = append(kept, s)
		} else {
			t.count.Add(-1)
		}
	}
	clear(t.all[len(kept):])
	t.all = kept
	r.tellSums(restLocks, now)
	r.tellLeftOut("waits_thinned", &r.thinned, &r.thin)
	r.unseen.Add(passedBy())
	r.tellLeftOut("releases_unseen", &r.unseen, &r.unlooked)
	r.tellLeftOut("goroutines_unnamed", &r.unnamed, &r.noName)
}

// tellLeftOut tells what of the hooks was left out, where that is more than was told.
func (r *recorder) tellLeftOut(key string, count *atomic.Int64, told *int64) {
	if n := count.Load(); n != *told && r.block(format.BlockInfo, format.AppendInfo(nil, key, strconv.FormatInt(n, 10))) {
		*told = n
	}
}

// tellSums tells what is new of one lock, and whether there was something new.
func (r *recorder) tellSums(s *lockSums, at collecting) bool {
	var now lockTold
	if n := atomic.LoadUint64(&s.acquired); n>>countBits == uint64(r.gen) && at != collectStart && s.kind == format.LockMutex {
		now.acquired = n & (1<<countBits - 1)
	}
	now.contended, now.shortWait = s.contended.Load(), s.shortWait.Load()
	was := s.told
	if now == was {
		return false
	}
	s.told = now
	if at == collectStart {
		return true // that was another recording's
	}
	id := r.names.find(s.name)
	if id&nameOut != 0 {
		return true
	}
	r.lockFacts()
	// Both halves in one: the difference of the words is that of the counts, and of
	// the brief ones there are never more than of all.
	n := now.contended - was.contended
	sums := format.LockSums{
		Ticks:     r.clock.Now(),
		Addr:      s.addr,
		Name:      uint16(id & nameID),
		Kind:      s.kind,
		Acquired:  -1, // of a place, as of readers, nobody counts that
		Contended: int64(n / contendedOne),
		Short:     int64(n % contendedOne),
		ShortWait: int64(float64(now.shortWait-was.shortWait) / float64(r.rate) * 1e9),
	}
	if s.kind == format.LockMutex && s.addr != 0 {
		sums.Acquired = int64(now.acquired - was.acquired)
	}
	if lockTable.buf = format.AppendLockSums(lockTable.buf[:0], &sums); !r.block(format.BlockLock, lockTable.buf) {
		s.told = was
	}
	return true
}

// threshold is how long a wait must be to be recorded.
func (r *recorder) threshold() time.Duration {
	if d := r.opts.locks; d >= 0 {
		return d
	}
	lockCall.once.Do(func() { lockCall.times6 = r.callTimes(6) })
	return lockCall.times6
}

// lockCall is what the call that locks a free lock takes, with its time taken before
// and after: what is compared with the threshold is measured so too.
var lockCall struct {
	once   sync.Once
	times6 time.Duration
}

// callTimes measures n of them in some 10 µs: by the average of a batch, of the batch
// that was disturbed the least, and at least 100 ns, where the clock is too coarse to tell.
func (r *recorder) callTimes(n float64) time.Duration {
	const batches, calls = 8, 16
	best := int64(math.MaxInt64)
	for range batches {
		var mu sync.Mutex
		began := r.clock.Now()
		for range calls {
			r.clock.Now()
			mu.Lock()
			r.clock.Now()
			mu.Unlock()
		}
		best = min(best, r.clock.Now()-began)
	}
	return max(time.Duration(n*float64(best)/calls/float64(r.rate)*1e9), 100)
}

// place is where one of our locks without a name is locked, whichever lock it is: what is
// known of a lock by its first wait differs from run to run.
//
//go:noinline
func (r *recorder) place(what uint64) *lockSums {
	var pcs sys.PCs
	for _, pc := range sys.Callers(&pcs, r.walk) {
		var s *lockSums
		at, ok := lockTable.places.at.Load(), false
		if at != nil {
			s, ok = (*at)[pc]
		}
		if !ok {
			s = newPlace(pc, what)
		}
		if s != nil {
			if s.at.told.Load() != r.gen {
				r.tellPlace(s)
			}
			return s
		}
	}
	return restLocks
}

// tellPlace tells the trace, once, where the place is: its name has no more than the end of
// the file's path, and who reads the source needs all of it.
func (r *recorder) tellPlace(s *lockSums) {
	if s.at.told.Swap(r.gen) == r.gen {
		return
	}
	id := r.names.find(s.name)
	if id&nameOut != 0 || id&nameID == format.NameOther {
		return
	}
	f := *s.at.Frame
	r.tellAt(uint16(id&nameID), &f)
}

// newPlace finds out what is at pc: "function file:line", or nil for a function of a lock.
// Several addresses may be one place, where its function was inlined into others.
func newPlace(pc uintptr, what uint64) (s *lockSums) {
	t := &lockTable.places
	t.Lock()
	defer t.Unlock()
	by := map[uintptr]*lockSums{}
	if at := t.at.Load(); at != nil {
		for pc, s := range *at {
			by[pc] = s
		}
	}
	frames := runtime.CallersFrames([]uintptr{pc, 0}) // of the last one it tells only the innermost function
	for more := true; more && s == nil; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "" || lockMethod(f.Function) || sys.Wrapper(&f) {
			continue
		}
		file := f.File[strings.LastIndexAny(f.File, "/\\")+1:]
		name := format.ShortFunction(f.Function) + " " + file + ":" + strconv.Itoa(f.Line)
		if s = placeNamed(by, name); s != nil && s.at.File != f.File {
			// Of two packages whose paths end alike, the first one has the short name.
			name = f.Function + " " + f.File + ":" + strconv.Itoa(f.Line)
			s = placeNamed(by, name)
		}
		if s == nil {
			s = newSums(0, name, format.LockKind(what>>8))
			s.at.Frame = frameOf(&f, s.kind)
			s.register()
		}
	}
	by[pc] = s
	t.at.Store(&by)
	return s
}

// placeNamed returns the place with a name, nil if there is none.
func placeNamed(by map[uintptr]*lockSums, name string) *lockSums {
	for _, x := range by {
		if x != nil && x.name == name {
			return x
		}
	}
	return nil
}

// lockMethod reports whether a function is one of a lock: ours, or what calls a
// sync.Locker for somebody, such as sync.Cond.
func lockMethod(f string) bool {
	const ours = "github.com/scopeview/scopeview/"
	for _, p := range []string{ours + "scope.(*Mutex).", ours + "scope.(*RWMutex).", ours + "scope.(*rlocker).", ours + "internal/record.", "sync."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
