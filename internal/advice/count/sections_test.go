package count

import (
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// TestSections: sections between Lock and Unlock of a mutex are classified by their stores,
// and incomplete ones do not count.
func TestSections(t *testing.T) {
	b, pc := noted(t), here()[0]
	mutex, other := onLine(0), onLine(1)
	lock := func(proc int, g, m uintptr) { b.note(proc, g, m, pc, lockSize, 0) }
	unlock := func(proc int, g, m uintptr) { b.note(proc, g, m, pc, lockSize, 1) }
	b.load(0, 1, onLine(5), pc) // locked before the burst
	unlock(0, 1, mutex)
	for range 3 { // only loads, though others store meanwhile, and it stores to its own stack
		lock(0, 1, mutex)
		b.load(0, 1, onLine(5), pc)
		b.store(1, 2, onLine(6), pc)
		b.note(1, 1, onLine(7), pc, localSize|8, 1) // now on another processor
		unlock(1, 1, mutex)
	}
	lock(0, 1, mutex) // a store
	b.load(0, 1, onLine(5), pc)
	b.store(0, 1, onLine(5), pc)
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // a store that is reported only for sections, in two nested ones
	lock(0, 1, other)
	b.load(0, 1, onLine(5), pc)
	b.note(0, 1, onLine(5), pc, hiddenSize, 1)
	unlock(0, 1, other)
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // another goroutine unlocks it: not counted
	b.store(0, 1, onLine(5), pc)
	unlock(0, 2, mutex)
	lock(0, 1, mutex) // no access is seen
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // the burst ends
	b.load(0, 1, onLine(5), pc)

	r := b.row(row.Mutex) // of both mutexes
	b.values(r, map[row.Value]int64{
		row.Made: 2, row.Unseen: 2, row.Gets: 30, row.Puts: 30, row.Misses: 10, row.Watched: 7, row.Steps: 90, row.Waits: 0, row.HeldNS: 0,
	})
	if r.V[row.MaxCap] < 1 {
		t.Errorf("%d processors", r.V[row.MaxCap])
	}
}

// TestMutexWaits: the row is the place with most waits, and several waits at once are one
// hold.
func TestMutexWaits(t *testing.T) {
	b, pc := noted(t), here()[0]
	mutex := onLine(0)
	b.note(0, 1, mutex, pc, lockSize, 0)
	b.load(0, 1, onLine(5), pc)
	b.note(0, 1, mutex, pc, lockSize, 1)
	b.look(30)
	waits := append([]uintptr{1}, here()...)
	report(row.MutexWait, waits, mutex, 900, 2)
	report(row.MutexWait|1<<8, waits, mutex, 100, 0) // counts for two
	var found []row.Row
	for _, r := range b.rows() {
		if r.Kind == row.Mutex {
			found = append(found, r)
		}
	}
	if len(found) != 1 || len(found[0].Stack) != len(waits)-1 {
		t.Fatalf("%+v", found)
	}
	holds(t, found[0], map[row.Value]int64{row.Made: 1, row.Gets: 10, row.Waits: 3, row.WaitNS: 1100, row.HeldNS: 500})
}
