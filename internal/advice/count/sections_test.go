package count

import (
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// TestSections: what happens between Lock and Unlock of a mutex is told apart by what is stored, and what is not seen
// whole does not count.
func TestSections(t *testing.T) {
	b, pc := noted(t), here()[0]
	mutex, other := onLine(0), onLine(1)
	lock := func(proc int, g, m uintptr) { b.note(proc, g, m, pc, lockSize, 0) }
	unlock := func(proc int, g, m uintptr) { b.note(proc, g, m, pc, lockSize, 1) }
	b.load(0, 1, onLine(5), pc) // it was locked before
	unlock(0, 1, mutex)
	for range 3 { // only loads, though others store meanwhile, and it does to its own stack
		lock(0, 1, mutex)
		b.load(0, 1, onLine(5), pc)
		b.store(1, 2, onLine(6), pc)
		b.note(1, 1, onLine(7), pc, localSize|8, 1) // on another processor by now
		unlock(1, 1, mutex)
	}
	lock(0, 1, mutex) // a store
	b.load(0, 1, onLine(5), pc)
	b.store(0, 1, onLine(5), pc)
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // one that is told of here only, in both of two
	lock(0, 1, other)
	b.load(0, 1, onLine(5), pc)
	b.note(0, 1, onLine(5), pc, hiddenSize, 1)
	unlock(0, 1, other)
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // another unlocks it: that one is not counted
	b.store(0, 1, onLine(5), pc)
	unlock(0, 2, mutex)
	lock(0, 1, mutex) // nothing is seen
	unlock(0, 1, mutex)
	lock(0, 1, mutex) // the burst ends
	b.load(0, 1, onLine(5), pc)

	r := b.row(row.Mutex) // of both
	b.values(r, map[row.Value]int64{
		row.Made: 2, row.Unseen: 2, row.Gets: 30, row.Puts: 30, row.Misses: 10, row.Watched: 7, row.Steps: 90, row.Waits: 0, row.HeldNS: 0,
	})
	if r.V[row.MaxCap] < 1 {
		t.Errorf("%d processors", r.V[row.MaxCap])
	}
}

// TestMutexWaits: waits have the row be where most of them are, and several at once are one time that it is locked.
func TestMutexWaits(t *testing.T) {
	b, pc := noted(t), here()[0]
	mutex := onLine(0)
	b.note(0, 1, mutex, pc, lockSize, 0)
	b.load(0, 1, onLine(5), pc)
	b.note(0, 1, mutex, pc, lockSize, 1)
	b.look(30)
	waits := append([]uintptr{1}, here()...)
	tell(row.MutexWait, waits, mutex, 900, 2)
	tell(row.MutexWait|1<<8, waits, mutex, 100, 0) // for two
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
