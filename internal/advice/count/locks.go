package count

import "github.com/scopeview/scopeview/internal/advice/row"

// Shared locks and maps have no creation event: they are parts of other objects. Each is
// identified by its address from its first reported use on, and its row is that of the call
// stack that uses it most.
const (
	voted  = own + iota // hash of its row's call stack
	votes               // majority vote: uses by that stack minus uses by others, since it became the row
	user                // goroutine that uses it most
	ahead               // majority vote: its uses minus those of others, since it became the user
	others              // uses by others, in units
	reads               // in units
	shared              // of reads: while others read
	writes
	fresh // of writes: new keys
	waited
	deleted
	ranges
)

// votesMost bounds the vote of a call stack: after as many uses by others the row changes.
const votesMost = 1 << 12

// votedBy is the number of innermost frames that distinguish users: those of the hook, of
// the used object, and of the user.
const votedBy = 3

// using returns the instance in use, with its shard locked, and adds it if necessary; nil if
// that fails.
func using(k row.Kind, a *[8]uintptr, pcs []uintptr) (*inst, *shard) {
	x, s := findOrFollow(k, a[0], pcs)
	if x != nil {
		x.vote(k, pcs)
		x.usedBy(int64(a[2]))
	}
	return x, s
}

// findOrFollow returns the instance at an address, with its shard locked, and adds it if
// necessary; nil if that fails.
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

// vote makes the call stack that uses an instance most its row: the majority, if there is
// one.
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

// usedBy records a goroutine's use of an instance: the majority is its user, if there is
// one.
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

// lockRW handles the acquisition of a sync.RWMutex: the lock, and the number of readers,
// including this one. For a reader it is negative if it had to wait for a writer; a writer
// waits for all readers.
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

// useSyncMap handles an operation on a sync.Map: the map, and whether a store found the key.
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
	add(t, row.Extra, w*(x.v[shared]+x.v[fresh])/unit) // the first is of locks, the second of maps
	add(t, row.Extra2, w*x.v[others]/unit)
}
