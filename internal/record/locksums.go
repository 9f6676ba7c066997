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

// lockSums holds the counts of a lock that a goroutine once had to wait for, or of all
// unnamed locks that are locked at one place.
type lockSums struct {
	addr uint64 // of a single lock
	name string // "": its waits are counted by place
	kind format.LockKind
	rest bool // beyond maxLocks: it is counted in restLocks
	at   lockSite

	waiters   atomic.Int32  // current number
	contended atomic.Uint64 // waits × contendedOne, plus the short ones among them
	acquired  uint64        // LockState's count; here it is aligned where int has 32 bits
	shortWait atomic.Int64  // ticks
	gone      atomic.Bool   // the lock was garbage collected

	next    *lockSums   // in the list of new ones
	written writtenSums // guarded by lockTable.mu
}

const contendedOne = 1 << 32

// lockSite is the code position where the locks of a place are locked, and the recording that
// has it.
type lockSite struct {
	*format.Frame              // nil for a single lock
	writtenIn     atomic.Int64 // generation of the recording
}

// writtenSums holds the values last written to the recording.
type writtenSums struct {
	acquired  uint64
	contended uint64
	shortWait int64
}

// lockLife belongs to a lock: it is garbage collected together with the lock.
type lockLife struct{ sums *lockSums }

// maxLocks is the maximum number of locks that are counted individually.
const maxLocks = 65536

// restLocks counts all other locks.
var restLocks = &lockSums{name: "(other locks)"}

func (s *lockSums) counted() *lockSums {
	if s.rest {
		return restLocks
	}
	return s
}

// lockTable holds the counts of all locks. It does not keep locks from being garbage
// collected.
var lockTable struct {
	fresh atomic.Pointer[lockSums] // those not yet in all
	count atomic.Int64             // of both
	gen   atomic.Int64             // the recording that has the threshold

	mu  sync.Mutex // held while counts are written; no goroutine that locks waits for it
	all []*lockSums
	buf []byte

	retries struct {
		sync.RWMutex
		by map[string]*lockSums
	}

	// places holds the counts of unnamed locks, by the return address of the call that
	// locks; nil: that is in a method of a lock, and its caller is more specific.
	places struct {
		sync.Mutex // held to add a place
		at         atomic.Pointer[map[uintptr]*lockSums]
	}
}

// known returns the counts of the lock, and creates them at its first wait.
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
		lockTable.count.Add(-1) // it is not counted itself
		return s
	}
	s.register()
	l.life = &lockLife{s}
	runtime.AddCleanup(l.life, func(s *lockSums) { s.gone.Store(true) }, s)
	return s
}

// newSums returns new counts and reserves their place in the table; register adds them.
func newSums(addr uint64, name string, kind format.LockKind) *lockSums {
	return &lockSums{addr: addr, name: strings.Clone(name), kind: kind, rest: lockTable.count.Add(1) > maxLocks}
}

// register makes the counts be written from now on.
func (s *lockSums) register() {
	locksWriter.Store(&lockWriter)
	if s.rest {
		lockTable.count.Add(-1) // it has no place
		return
	}
	for {
		s.next = lockTable.fresh.Load()
		if lockTable.fresh.CompareAndSwap(s.next, s) {
			return
		}
	}
}

var lockWriter = (*recorder).lockSums

// lockFacts writes the threshold to the trace, once.
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

// lockSums writes what was counted since the last time.
func (r *recorder) lockSums(now collecting) {
	t := &lockTable
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := t.fresh.Swap(nil); s != nil; {
		t.all = append(t.all, s)
		s, s.next = s.next, nil // otherwise each would keep all earlier ones alive
	}
	kept := t.all[:0]
	for _, s := range t.all {
		if r.writeSums(s, now) || !s.gone.Load() {
			kept = append(kept, s)
		} else {
			t.count.Add(-1)
		}
	}
	clear(t.all[len(kept):])
	t.all = kept
	r.writeSums(restLocks, now)
	r.writeUnrecorded("waits_thinned", &r.thinned, &r.thin)
	r.unseen.Add(passedBy())
	r.writeUnrecorded("releases_unseen", &r.unseen, &r.unlooked)
	r.writeUnrecorded("goroutines_unnamed", &r.unnamed, &r.noName)
}

// writeUnrecorded writes how often hooks left something out, if that has increased.
func (r *recorder) writeUnrecorded(key string, count *atomic.Int64, written *int64) {
	if n := count.Load(); n != *written && r.block(format.BlockInfo, format.AppendInfo(nil, key, strconv.FormatInt(n, 10))) {
		*written = n
	}
}

// writeSums writes the changes of one lock's counts, and reports whether there were any.
func (r *recorder) writeSums(s *lockSums, at collecting) bool {
	var now writtenSums
	if n := atomic.LoadUint64(&s.acquired); n>>countBits == uint64(r.gen) && at != collectStart && s.kind == format.LockMutex {
		now.acquired = n & (1<<countBits - 1)
	}
	now.contended, now.shortWait = s.contended.Load(), s.shortWait.Load()
	was := s.written
	if now == was {
		return false
	}
	s.written = now
	if at == collectStart {
		return true // counted in another recording
	}
	id := r.names.find(s.name)
	if id&nameOut != 0 {
		return true
	}
	r.lockFacts()
	// Both halves at once: the difference of the words is that of the counts, and the short
	// waits never exceed all waits.
	n := now.contended - was.contended
	sums := format.LockSums{
		Ticks:     r.clock.Now(),
		Addr:      s.addr,
		Name:      uint16(id & nameID),
		Kind:      s.kind,
		Acquired:  -1, // acquisitions are not counted for a place, nor for readers
		Contended: int64(n / contendedOne),
		Short:     int64(n % contendedOne),
		ShortWait: int64(float64(now.shortWait-was.shortWait) / float64(r.rate) * 1e9),
	}
	if s.kind == format.LockMutex && s.addr != 0 {
		sums.Acquired = int64(now.acquired - was.acquired)
	}
	if lockTable.buf = format.AppendLockSums(lockTable.buf[:0], &sums); !r.block(format.BlockLock, lockTable.buf) {
		s.written = was
	}
	return true
}

// threshold returns the shortest wait that is recorded.
func (r *recorder) threshold() time.Duration {
	if d := r.opts.locks; d >= 0 {
		return d
	}
	lockCall.once.Do(func() { lockCall.times6 = r.callTimes(6) })
	return lockCall.times6
}

// lockCall is the duration of a call that locks a free lock, with the clock read before and
// after, as for the durations that are compared with the threshold.
var lockCall struct {
	once   sync.Once
	times6 time.Duration
}

// callTimes measures n calls in some 10 µs: the average of the least disturbed batch, and
// at least 100 ns, in case the clock is too coarse.
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

// place returns the counts of the place where an unnamed lock is being locked, whichever
// lock it is: naming a lock after the place of its first wait would differ from run to run.
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
			if s.at.writtenIn.Load() != r.gen {
				r.writePlace(s)
			}
			return s
		}
	}
	return restLocks
}

// writePlace writes the place to the trace, once: its name has only the end of the file's
// path, and readers of the source need all of it.
func (r *recorder) writePlace(s *lockSums) {
	if s.at.writtenIn.Swap(r.gen) == r.gen {
		return
	}
	id := r.names.find(s.name)
	if id&nameOut != 0 || id&nameID == format.NameOther {
		return
	}
	f := *s.at.Frame
	r.writeFrame(uint16(id&nameID), &f)
}

// newPlace adds the place at pc, "function file:line", or nil for a method of a lock.
// Several addresses may be one place, if its function was inlined into others.
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
	frames := runtime.CallersFrames([]uintptr{pc, 0}) // for the last address it returns only the innermost function
	for more := true; more && s == nil; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "" || lockMethod(f.Function) || sys.Wrapper(&f) {
			continue
		}
		file := f.File[strings.LastIndexAny(f.File, "/\\")+1:]
		name := format.ShortFunction(f.Function) + " " + file + ":" + strconv.Itoa(f.Line)
		if s = placeNamed(by, name); s != nil && s.at.File != f.File {
			// For two packages with the same base name, the first one gets the short name.
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

// placeNamed returns the place with a name, or nil.
func placeNamed(by map[uintptr]*lockSums, name string) *lockSums {
	for _, x := range by {
		if x != nil && x.name == name {
			return x
		}
	}
	return nil
}

// lockMethod reports whether a function is a method of a lock: of package scope, or of
// package sync, such as sync.Cond, which calls a sync.Locker.
func lockMethod(f string) bool {
	const ours = "github.com/scopeview/scopeview/"
	for _, p := range []string{ours + "scope.(*Mutex).", ours + "scope.(*RWMutex).", ours + "scope.(*rlocker).", ours + "internal/record.", "sync."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
