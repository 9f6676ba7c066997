package count

import "github.com/scopeview/scopeview/internal/advice/row"

// Locks and maps that goroutines share are not created: they are parts of others. One is known by its
// address from its first use that is told of, and its row is the call stack that uses it most.
const (
	voted  = own + iota // the call stack that its row is of
	votes               // how much more often that was seen than others, since it became the row
	user                // the goroutine that uses it most
	ahead               // how much more often it did than others, since it is that
	others              // uses by others, in units
	reads               // in units
	shared              // of them while others read
	writes
	fresh // writes of what was not there
	waited
	deleted
	ranges
)

// votesMost is how far ahead a call stack can get: after as many others its use has changed.
const votesMost = 1 << 12

// votedBy is how many of the innermost frames tell two users apart: those of the hook, of what is
// used, and of who uses it.
const votedBy = 3

// using finds what is used, with its shard locked: nil if it can't be.
func using(k row.Kind, a *[8]uintptr, pcs []uintptr) (*inst, *shard) {
	x, s := findOrFollow(k, a[0], pcs)
	if x != nil {
		x.vote(k, pcs)
		x.usedBy(int64(a[2]))
	}
	return x, s
}

// findOrFollow finds what is at an address, or begins to follow it, with its shard locked: nil if it can't be.
func findOrFollow(k row.Kind, key uintptr, pcs []uintptr) (*inst, *shard) {
	t := c.tables[k]
	s, head := t.enter(key)
	if s == nil {
		return nil, nil
	}
	x := t.find(head, key)
	if x == nil {
		s.leave()
		made, ok := born(k, key, 0, 1, pcs)
		if !ok {
			return nil, nil
		}
		made.v[unseen] = 1
		t.put(&made, &c.rows)
		if s, head = t.enter(key); s == nil {
			return nil, nil
		}
		if x = t.find(head, key); x == nil {
			s.leave()
			return nil, nil
		}
	}
	return x, s
}

// vote has an instance's row be the call stack that uses it most: the majority, if there is one.
func (x *inst) vote(k row.Kind, pcs []uintptr) {
	h := uint64(1)
	for _, pc := range pcs[:min(len(pcs), votedBy)] {
		h = (h ^ uint64(pc)) * 0x9e3779b97f4a7c15
	}
	switch {
	case x.v[voted] == int64(h):
		x.v[votes] = min(x.v[votes]+1, votesMost)
	case x.v[votes] > 0:
		x.v[votes]--
	default:
		if s := c.rows.of(k, 0, pcs); s != nil {
			x.site, x.v[voted], x.v[votes] = c.rows.index(s), int64(h), 1
		}
	}
}

// usedBy notes that a goroutine uses an instance: the majority is its user, if there is one.
func (x *inst) usedBy(g int64) {
	switch {
	case g == x.v[user]:
		x.v[ahead]++
	case x.v[ahead] > 0:
		x.v[ahead]--
		x.v[others] += one()
	default:
		if x.v[user] != 0 {
			x.v[others] += one()
		}
		x.v[user], x.v[ahead] = g, 1
	}
}

// lockRW takes that a sync.RWMutex is had: the lock, and how many readers there were, with this one. For
// a reader it is below 0 where it had to wait for a writer; a writer waits for all of them.
func lockRW(e row.Event, a *[8]uintptr, pcs []uintptr) {
	x, s := using(row.RWMutex, a, pcs)
	if x == nil {
		return
	}
	n, readers := one(), int32(a[1])
	switch {
	case e == row.WriteLock:
		x.v[writes] += n
		if readers > 0 {
			x.v[waited] += n
		}
	default:
		x.v[reads] += n
		if readers < 0 {
			x.v[waited] += n
		} else if readers > 1 {
			x.v[shared] += n
		}
	}
	s.leave()
}

// useSyncMap takes an operation on a sync.Map: the map, and whether a store found the key.
func useSyncMap(e row.Event, a *[8]uintptr, pcs []uintptr) {
	x, s := using(row.SyncMap, a, pcs)
	if x == nil {
		return
	}
	n := one()
	switch e {
	case row.SyncGet:
		x.v[reads] += n
	case row.SyncPut:
		x.v[writes] += n
		if a[1] == 0 {
			x.v[fresh] += n
		}
	case row.SyncDelete:
		x.v[deleted] += n
	case row.SyncRange:
		x.v[ranges] += n
	}
	s.leave()
}

// foldShared adds a lock or a map to its row.
func foldShared(x *inst, t *tally) {
	w := x.weight
	add(t, row.Made, w)
	add(t, row.Unseen, w*x.v[unseen])
	add(t, row.LifeNS, w*(c.now.Load()-x.born))
	add(t, row.Watched, w)
	add(t, row.Gets, w*x.v[reads]/unit)
	add(t, row.Puts, w*x.v[writes]/unit)
	add(t, row.Deletes, w*x.v[deleted]/unit)
	add(t, row.Iterations, w*x.v[ranges]/unit)
	add(t, row.Waits, w*x.v[waited]/unit)
	add(t, row.Extra, w*(x.v[shared]+x.v[fresh])/unit) // a lock has the first, a map the second
	add(t, row.Extra2, w*x.v[others]/unit)
}
