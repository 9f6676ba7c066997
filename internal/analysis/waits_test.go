package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// ofLock makes an event one of the lock at addr, with its holder and the value of its uint
// slot.
func ofLock(e trace.Event, k format.Kind, addr, holder, what uint64) trace.Event {
	e.Kind = k
	e.Args = []format.Slot{{Type: format.SlotAddr, Value: addr}, {Type: format.SlotGoid, Value: holder}, {Type: format.SlotUint, Value: what}}
	return e
}

func waiterText(list []Waiter) string {
	var b []string
	for _, w := range list {
		who := names[w.Name]
		switch {
		case w.Unknown:
			who = "?"
		case w.Kind == 0:
			who = "none"
		case w.Kind == format.KindWait:
			who = "wait for " + who
		}
		b = append(b, fmt.Sprintf("%s %d×=%d", who, w.Count, w.Time))
	}
	return strings.Join(b, ", ")
}

func waitsOf(all bool, sums []format.LockSums, events ...trace.Event) *Waits {
	slices.SortStableFunc(events, func(a, b trace.Event) int { return int(a.Start - b.Start) })
	w := NewWaits(SummaryOptions{}, all)
	for i := range sums {
		w.AddSums(&sums[i])
	}
	for i := range events {
		w.Add(&events[i])
	}
	return w
}

// TestWhoHadIt: the scopes of the holder and the waiter when the wait began.
func TestWhoHadIt(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	const mutex, every = 0x100, 0x102
	for _, test := range []struct {
		about            string
		events           []trace.Event
		holders, waiters string
	}{
		{"each in a scope", []trace.Event{
			scope(nameA, 1, 0, 20), scope(nameB, 2, 0, 20), ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex)}, "A 1×=10", "B 1×=10"},
		{"the innermost", []trace.Event{
			scope(nameA, 1, 0, 20), scope(nameB, 1, 2, 4), scope(nameB, 1, 6, 20), ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex)}, "A 1×=10", "none 1×=10"},
		{"one that has ended", []trace.Event{
			scope(nameA, 1, 0, 3), ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex)}, "none 1×=10", "none 1×=10"},
		{"one that waits for another one", []trace.Event{
			scope(nameA, 1, 0, 20), ofLock(scope(lockM, 1, 1, 19), wait, 32, 0, mutex), ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex)}, "wait for M 1×=10", "none 1×=10"},
		{"nobody knows", []trace.Event{ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, mutex)}, "? 1×=10", "none 1×=10"},
		{"known by his hold", []trace.Event{
			scope(nameA, 1, 0, 20), ofLock(scope(lockL, 1, 1, 15), hold, 16, 0, every), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, every)}, "A 1×=10", "none 1×=10"},
		{"known by a hold whose record begins later", []trace.Event{
			scope(nameA, 1, 0, 20), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, mutex), ofLock(scope(lockL, 1, 6, 15), hold, 16, 0, 0x1000|mutex)}, "A 1×=9, ? 0×=1", "none 1×=10"},
		{"held by one after the other", []trace.Event{
			scope(nameA, 1, 0, 20), scope(nameB, 3, 0, 20), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, mutex),
			ofLock(scope(lockL, 1, 5, 9), hold, 16, 0, mutex), ofLock(scope(lockL, 3, 9, 20), hold, 16, 0, mutex)}, "B 0×=6, A 1×=4", "none 1×=10"},
		{"got by the one that waited", []trace.Event{
			scope(nameA, 2, 0, 20), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, mutex), ofLock(scope(lockL, 2, 15, 20), hold, 16, 0, mutex)}, "? 1×=10", "A 1×=10"},
		{"a hold that is over", []trace.Event{
			ofLock(scope(lockL, 1, 1, 4), hold, 16, 0, every), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, every)}, "? 1×=10", "none 1×=10"},
		{"a hold of another lock", []trace.Event{
			ofLock(scope(lockL, 1, 1, 15), hold, 24, 0, every), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, every)}, "? 1×=10", "none 1×=10"},
		{"one after the other", []trace.Event{
			scope(nameA, 1, 0, 8), scope(nameB, 1, 8, 20),
			ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex), ofLock(scope(lockL, 3, 9, 12), wait, 16, 1, mutex)}, "A 1×=10, B 1×=3", "none 2×=13"},
		{"still waiting", []trace.Event{scope(nameA, 1, 0, 8), open(ofLock(scope(lockL, 2, 5, 15), wait, 16, 1, mutex))}, "A 1×=10", "none 1×=10"},
		{"called off", []trace.Event{ofLock(scope(lockL, 1, 1, 2), hold, 16, 0, mutex), ofLock(scope(lockL, 2, 5, 5), wait, 16, 1, mutex)}, "", ""},
		{"an unknown goroutine", []trace.Event{ofLock(scope(lockL, 0, 5, 15), wait, 16, 1, mutex)}, "none 1×=10", "? 1×=10"},
		{"a loop", []trace.Event{ofLock(scope(lockL, 2, 5, 15), wait, 0, 0, 0x300)}, "", "none 1×=10"},
	} {
		var o *Object
		for _, x := range waitsOf(false, nil, test.events...).Objects() {
			if x.Name == lockL && (o == nil || x.Waits.Count+x.Waits.Open > 0) {
				o = x
			}
		}
		if h, w := waiterText(o.Holders()), waiterText(o.Waiters()); h != test.holders || w != test.waiters {
			t.Errorf("%s: holders %q, waiters %q; want %q, %q", test.about, h, w, test.holders, test.waiters)
		}
	}
}

// TestObject: the numbers of a lock by what was recorded and counted; -1 is unknown.
func TestObject(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	recorded := func(what uint64) []trace.Event {
		return []trace.Event{
			ofLock(scope(lockL, 1, 0, 10), hold, 16, 0, what), ofLock(scope(lockL, 2, 4, 10), wait, 16, 1, what),
			ofLock(scope(lockL, 2, 10, 30), hold, 16, 0, what),
		}
	}
	old := []trace.Event{kind(hold, scope(lockL, 1, 0, 10)), kind(wait, scope(lockL, 2, 4, 10)), kind(hold, scope(lockL, 2, 10, 30))}
	counted := format.LockSums{Addr: 16, Name: lockL, Kind: format.LockMutex, Acquired: 10, Contended: 3, Short: 2, ShortWait: 5}
	unknown := counted
	unknown.Acquired = -1
	for _, test := range []struct {
		about                             string
		all                               bool
		sums                              []format.LockSums
		events                            []trace.Event
		acquired, contended, waited, held int64
		estimated                         bool
	}{
		{"scope.Lock", false, nil, recorded(0x102), 2, 1, 6, 30, false},
		{"of an older format", false, nil, old, 2, 1, 6, 30, false},
		{"a mutex, killed before its counts were recorded", false, nil, recorded(0x100), -1, -1, 6, -1, true},
		{"a mutex of which all is recorded", true, nil, recorded(0x100), 2, 1, 6, 30, false},
		{"a mutex", false, []format.LockSums{counted}, recorded(0x100), 10, 3, 11, 150, true},
		{"counted in two parts", false, []format.LockSums{counted, counted}, recorded(0x100), 20, 6, 16, 300, true},
		{"the number is unknown", false, []format.LockSums{counted, unknown}, recorded(0x200), -1, 6, 16, -1, true},
		{"more waits than were counted yet", false, []format.LockSums{{Addr: 16, Name: lockL, Kind: format.LockMutex, Acquired: 2}}, recorded(0x100), 2, 1, 6, 30, false},
		{"all is recorded, and half was lost", true, []format.LockSums{{Addr: 16, Name: lockL, Kind: format.LockMutex, Acquired: 4}}, recorded(0x100), 4, 1, 6, 60, true},
		{"only brief waits", false, []format.LockSums{counted}, nil, 10, 3, 5, -1, true},
	} {
		all := waitsOf(test.all, test.sums, test.events...).Objects()
		if len(all) != 1 {
			t.Errorf("%s: %d objects", test.about, len(all))
			continue
		}
		o := all[0]
		or := func(a amount) int64 {
			if !a.OK {
				return -1
			}
			return a.N
		}
		if acquired, contended, held := or(o.Acquired()), or(o.Contended()), or(o.Held()); acquired != test.acquired || contended != test.contended ||
			held != test.held || o.Held().Estimated != test.estimated || o.Waited() != test.waited {
			t.Errorf("%s: acquired %d, contended %d, waited %d, held %d, estimated %t; want %d, %d, %d, %d, %t", test.about,
				acquired, contended, o.Waited(), held, o.Held().Estimated, test.acquired, test.contended, test.waited, test.held, test.estimated)
		}
	}
}

// TestOneThatWaitsForItself: a wait for a lock that the waiter itself holds is counted in
// Own.
func TestOneThatWaitsForItself(t *testing.T) {
	wait := format.KindWait
	w := waitsOf(false, nil,
		open(ofLock(scope(lockL, 1, 0, 10), wait, 16, 1, 0x100)),
		open(ofLock(scope(lockL, 2, 1, 10), wait, 16, 1, 0x100)),
		ofLock(scope(lockM, 3, 1, 10), wait, 24, 3, 0x100), // another goroutine unlocked it
	)
	for _, o := range w.Objects() {
		if want := map[uint16]int64{lockL: 1, lockM: 0}[o.Name]; o.Own != want {
			t.Errorf("%s: %d wait for what they have, want %d", names[o.Name], o.Own, want)
		}
	}
}

// TestManyObjects: memory is bounded by maxObjects; no wait is lost.
func TestManyObjects(t *testing.T) {
	w := NewWaits(SummaryOptions{}, false)
	const n = maxObjects + 100
	for i := range n {
		e := ofLock(scope(lockL, uint64(i%7+1), int64(i), int64(i+1)), format.KindWait, uint64(16+8*i), 0, 0x100)
		w.Add(&e)
	}
	var count, total int64
	objects := w.Objects()
	for _, o := range objects {
		count += o.Waits.Count
		total += o.Waits.Total
	}
	if len(objects) > maxObjects+1 || count != n || total != n {
		t.Errorf("%d objects with %d waits of %d ns, want %d at most, %d, %d", len(objects), count, total, maxObjects+1, n, n)
	}
	if len(w.last) > 4*minSweep || len(w.held) > 4*minSweep {
		t.Errorf("%d waits and %d holds are kept", len(w.last), len(w.held))
	}
}

func TestManyScopesAtALock(t *testing.T) {
	w := NewWaits(SummaryOptions{}, false)
	const n = 4 * maxWhere
	for i := range n {
		at := int64(i)
		in := scope(uint16(1000+i), 1, 10*at, 10*at+9)
		e := ofLock(scope(lockL, 2, 10*at+1, 10*at+3), format.KindWait, 16, 1, 0x100)
		w.Add(&in)
		w.Add(&e)
	}
	var time int64
	holders := w.Objects()[0].Holders()
	for _, h := range holders {
		time += h.Time
	}
	if len(holders) > maxWhere+1 || time != 2*n {
		t.Errorf("%d holders with %d ns, want %d at most, %d", len(holders), time, maxWhere+1, 2*n)
	}
}

// TestLocksWithoutAName: waits in one place are one object, whichever lock it is, and the
// holder is found by the lock's address, wherever it was locked.
func TestLocksWithoutAName(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	const place, every = 0x104, 0x106
	w := waitsOf(false, []format.LockSums{{Name: lockL, Kind: format.LockMutex, Acquired: -1, Contended: 5, Short: 2, ShortWait: 7}},
		scope(nameA, 1, 0, 60),
		ofLock(scope(lockM, 1, 1, 15), hold, 16, 0, every), ofLock(scope(lockL, 2, 5, 15), wait, 16, 0, every),
		ofLock(scope(lockL, 2, 20, 30), wait, 24, 1, place),
		ofLock(scope(lockM, 3, 40, 50), wait, 24, 1, place))
	var got []string
	for _, o := range w.Objects() {
		got = append(got, fmt.Sprintf("%s %#x waits %d=%d of %d holds %d acquired %v holders %s", names[o.Name], o.Addr, o.Waits.Count, o.Waited(), o.Contended().N, o.Holds.Count, o.Acquired().OK && !o.every, waiterText(o.Holders())))
	}
	want := []string{"L 0x0 waits 2=27 of 5 holds 0 acquired false holders A 2×=20", "M 0x0 waits 1=10 of 1 holds 1 acquired false holders A 1×=10"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
