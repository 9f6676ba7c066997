package analysis

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Object is a lock, or a loop that retries: one address with one name, or all unnamed locks
// that are locked in one place, which then is the name. Lock has its waits and holds as far
// as they were recorded.
type Object struct {
	Lock
	Addr uint64 // 0: a loop, a place, or all objects of the name beyond the limit
	Kind format.LockKind

	every bool // all waits and holds are recorded

	Shared int64 // waits for shared access, with other readers
	Tries  int64 // of a loop: failed tries in the recorded waits
	Own    int64 // unended waits for a lock that the waiter itself holds

	sums             *lockSums // nil: the recorder has no counters of it
	holders, waiters tally
}

// lockSums are the recorder's counters of a lock.
type lockSums struct {
	contended, acquired int64 // acquired -1: not counted
	brief, briefTime    int64 // waits that were shorter than the recorder's threshold
}

// Brief returns the number and the time of waits that were shorter than the recorder's threshold.
func (o *Object) Brief() (n, ns int64) {
	if o.sums == nil {
		return 0, 0
	}
	return o.sums.brief, o.sums.briefTime
}

// amount is a number and how well it is known.
type amount struct {
	N         int64
	OK        bool // otherwise N is a lower bound
	Estimated bool
}

// Waited returns the time of all waits in ns: recorded ones, those that have not ended, and
// brief ones.
func (o *Object) Waited() int64 {
	_, brief := o.Brief()
	return o.Waits.Total + o.Waits.OpenTime + brief
}

// Contended returns the number of acquisitions that had to wait.
func (o *Object) Contended() amount {
	n := o.Waits.Count + o.Waits.Open + o.Waits.Across
	if o.sums != nil {
		n = max(n, o.sums.contended) // the recorder's counters are written a little later
	}
	return amount{N: n, OK: o.sums != nil || o.every}
}

// Acquired returns the number of acquisitions.
func (o *Object) Acquired() (a amount) {
	if o.every {
		a = amount{N: o.held(), OK: true}
	}
	if o.sums != nil && o.sums.acquired >= 0 { // more than the holds if records were lost, less if the last counters were not written
		a = amount{N: max(a.N, o.sums.acquired), OK: true}
	}
	return a
}

// held returns the number of recorded holds.
func (o *Object) held() int64 { return o.Holds.Count + o.Holds.Open + o.Holds.Across }

// Held returns the time that the lock was held. If not all holds are recorded it is an
// estimate: the others are taken to be as long, on average.
func (o *Object) Held() amount {
	a := amount{N: o.Holds.Total + o.Holds.OpenTime, Estimated: true}
	acquired := o.Acquired()
	rest := max(acquired.N-o.held(), 0)
	switch {
	case !acquired.OK || !o.Kind.Held():
	case rest == 0:
		a.OK, a.Estimated = true, false
	case o.Holds.Count > 0:
		a.N += int64(float64(rest) * float64(o.Holds.Total) / float64(o.Holds.Count))
		a.OK = true
	}
	return a
}

// Holders returns the scopes of those that held the lock when a wait for it began. If that
// holder is not known, it is those that held it during the wait, for that time.
func (o *Object) Holders() []Waiter { return o.holders.shares() }

// Waiters returns the scopes of the waiters.
func (o *Object) Waiters() []Waiter { return o.waiters.shares() }

// maxWhere is the maximum number of holders' scopes, and of waiters' scopes, per object.
// Further ones count as unknown.
const maxWhere = 256

// maxObjects is the maximum number of objects by address; further ones are grouped by name.
const maxObjects = 1 << 16

// Waits computes the tables of `scopeview waits` for recorded locks. Its memory grows with
// the locks, the names and the scopes open at one moment.
type Waits struct {
	o       SummaryOptions
	all     bool
	objects map[objectKey]*Object
	rows    rows
	held    map[uint64]held // by address: the latest hold
	last    map[uint64]wait // by goroutine: its latest wait
	unheld  unheld          // waits without a known holder at their begin
	// Sizes of the maps above from which finished entries are dropped.
	sweepHeld, sweepLast int
}

type objectKey struct {
	addr uint64
	name uint16
}

type held struct {
	goid uint64
	end  int64
}

// wait is one wait for an object.
type wait struct {
	Object   *Object
	From, To int64
}

// NewWaits returns empty Waits; all means that every hold of a scope.Mutex is recorded: the
// fact "lock_threshold" is "all".
func NewWaits(o SummaryOptions, all bool) *Waits {
	w := &Waits{
		o: o, all: all,
		objects: make(map[objectKey]*Object), held: make(map[uint64]held), last: make(map[uint64]wait), unheld: unheld{},
	}
	w.rows.held = func(l *Lock, by *running, from, to int64) {
		if o.To > 0 {
			to = min(to, o.To)
		}
		if d := to - max(from, o.From); d > 0 {
			l.held(by, d)
		}
	}
	return w
}

// object returns the object of a key.
func (w *Waits) object(k objectKey, kind format.LockKind) *Object {
	o := w.objects[k]
	if o == nil && len(w.objects) >= maxObjects {
		k.addr = 0
		o = w.objects[k]
	}
	if o == nil {
		o = &Object{Lock: Lock{Name: k.name}, Addr: k.addr, Kind: kind}
		w.objects[k] = o
	}
	if kind != format.LockUnknown {
		o.Kind = kind
	}
	return o
}

// AddSums adds the recorder's counters.
func (w *Waits) AddSums(l *format.LockSums) {
	o := w.object(objectKey{l.Addr, l.Name}, l.Kind)
	if o.sums == nil {
		o.sums = &lockSums{}
	}
	s := o.sums
	s.contended, s.brief, s.briefTime = s.contended+l.Contended, s.brief+l.Short, s.briefTime+l.ShortWait
	if l.Acquired < 0 || s.acquired < 0 {
		s.acquired = -1
	} else {
		s.acquired += l.Acquired
	}
}

// Add adds an event. Events come in the reader's order.
func (w *Waits) Add(e *trace.Event) {
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess:
		if e.Goid != 0 {
			w.rows.nest(w.rows.at(e.Goid, e.Start), e, nil, e.Open)
		}
	case format.KindWait:
		w.wait(e)
	case format.KindHold:
		w.hold(e)
	}
}

func (w *Waits) keep(e *trace.Event) bool { return w.o.Keep == nil || w.o.Keep(e) }

func (w *Waits) wait(e *trace.Event) {
	if e.CalledOff() {
		return // it is counted as brief
	}
	l := lockOf(e.Args)
	across := w.o.Breaks.Across(e)
	if w.keep(e) {
		o := w.object(l.key(e.Name), l.kind)
		o.every = o.every || l.every || w.all && l.kind == format.LockMutex
		o.Waits.add(e.Dur, e.Dur, e.Open, across)
		o.Tries += l.tries(e)
		if l.shared {
			o.Shared++
		}
		if e.Goid != 0 {
			drop(w.last, &w.sweepLast, func(x wait) bool { return x.To < e.Start })
			w.last[e.Goid] = wait{o, e.Start, e.Start + e.Dur}
		}
		if !across {
			holder := w.holder(e, &l)
			if e.Open && holder != 0 && holder == e.Goid {
				o.Own++
			}
			switch {
			case !l.kind.Held():
			case holder == 0 && l.addr != 0:
				w.unheld.begin(l.addr, unheldWait{o: o, goid: e.Goid, from: e.Start, to: e.Start + e.Dur})
			default:
				o.holders.at(w.where(holder, e.Start), maxWhere).add(e.Dur)
			}
			o.waiters.at(w.where(e.Goid, e.Start), maxWhere).add(e.Dur)
		}
	}
	if e.Goid != 0 {
		w.rows.nest(w.rows.at(e.Goid, e.Start), e, nil, e.Open)
	}
}

// holder returns the goroutine that held the lock when the wait e began; 0: unknown.
func (w *Waits) holder(e *trace.Event, l *lockArgs) uint64 {
	if l.holder != 0 {
		return l.holder
	}
	if h := w.held[l.addr]; h.end > e.Start && l.addr != 0 {
		return h.goid
	}
	return 0
}

// where returns the innermost scope of a goroutine.
func (w *Waits) where(goid uint64, at int64) HolderKey {
	if goid == 0 {
		return HolderKey{Unknown: true}
	}
	return w.rows.at(goid, at).innermost().key()
}

func (w *Waits) hold(e *trace.Event) {
	l := lockOf(e.Args)
	across := w.o.Breaks.Across(e)
	if l.addr != 0 && e.Goid != 0 {
		drop(w.held, &w.sweepHeld, func(h held) bool { return h.end <= e.Start })
		w.held[l.addr] = held{e.Goid, e.Start + e.Dur}
		if !across && len(w.unheld[l.addr]) > 0 {
			w.unheld.hold(l.addr, e, w.where(e.Goid, e.Start))
		}
	}
	if !w.keep(e) {
		return
	}
	o := w.object(l.key(e.Name), l.kind)
	o.every = o.every || l.every || w.all && l.kind == format.LockMutex
	o.Since = o.Since || l.since
	o.Holds.add(e.Dur, e.Dur, e.Open, across)
	if e.Goid != 0 && !across {
		w.rows.at(e.Goid, e.Start).hold(e, &o.Lock)
	}
}

// drop removes finished entries from a map that has grown to twice its size after the last
// time.
func drop[V any](m map[uint64]V, sweep *int, over func(V) bool) {
	if len(m) < max(*sweep, minSweep) {
		return
	}
	for k, v := range m {
		if over(v) {
			delete(m, k)
		}
	}
	*sweep = 2 * len(m)
}

// Last returns the latest wait that a goroutine began, among those that are shown.
func (w *Waits) Last(goid uint64) (wait, bool) {
	x, ok := w.last[goid]
	return x, ok
}

// Objects returns all objects after the last event was added, the longest waits first.
func (w *Waits) Objects() []*Object {
	w.unheld.finish()
	w.rows.finish()
	return slices.SortedFunc(maps.Values(w.objects), func(a, b *Object) int {
		return cmp.Or(
			cmp.Compare(b.Waited(), a.Waited()),
			cmp.Compare(b.Holds.Total+b.Holds.OpenTime, a.Holds.Total+a.Holds.OpenTime),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Addr, b.Addr))
	})
}

// lockArgs are the arguments of a wait or a hold. Before format 1.2 there is only the
// address, and all are recorded.
type lockArgs struct {
	addr, holder  uint64
	kind          format.LockKind
	shared, every bool
	place         bool // the name is a place
	since         bool // held at least since the record's start
}

// key returns the key by which the lock's waits and holds are grouped.
func (l *lockArgs) key(name uint16) objectKey {
	if l.place {
		return objectKey{0, name}
	}
	return objectKey{l.addr, name}
}

func lockOf(args []format.Slot) (l lockArgs) {
	l.every = true
	if len(args) > 0 && args[0].Type == format.SlotAddr {
		l.addr = args[0].Value
	}
	if len(args) > 2 && args[1].Type == format.SlotGoid && args[2].Type == format.SlotUint {
		kind, mode := format.LockOf(args[2].Value)
		l.holder, l.kind, l.shared, l.every = args[1].Value, kind, mode == format.LockShared, args[2].Value&format.LockEvery != 0
		l.place = args[2].Value&format.LockPlace != 0
		l.since = args[2].Value&format.LockSince != 0
	}
	return l
}

// tries returns the number of failed tries of a loop.
func (l *lockArgs) tries(e *trace.Event) int64 {
	if l.kind == format.LockRetry && len(e.EndArgs) > 0 && e.EndArgs[0].Type == format.SlotInt {
		return max(e.EndArgs[0].Int(), 0)
	}
	return 0
}
