package count

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// inst is something that is followed.
type inst struct {
	key    uintptr
	next   uint32 // of those with the same head; behind 0, which is none
	site   uint32 // its row
	weight int64  // for how many it stands
	born   int64  // ns
	v      [slots]int64
}

// What an instance has, beyond what its row has. Kinds use what they need.
const (
	elem   = iota // bytes of an element
	length        // that is known
	capacity
	hint
	grown
	looked  // a length that was seen in memory
	unseen  // its creation was not seen
	exactly // the length is known
	own     // the first of a kind's own
	slots   = own + 14
)

// A slice's own.
const (
	copied   = own + iota // bytes
	outgrown              // bytes
)

// A map's own.
const (
	keyBytes = own + iota
	moved    // entries
	seed     // its random number
	tables   // bytes of the tables that were outgrown
	peak     // the most entries that were seen
	watched  // operations on it were looked at
	opGet    // operations, in the order of their events

	keyRead = opGet + 6 // bytes of strings that were hashed, in units
	nans    = opGet + 7 // stores with keys that nothing finds, in units
)

const (
	shardCount = 64
	headCount  = 4096
	instBytes  = 8*(4+slots) + 8
)

// table is the instances of a kind that live.
type table struct {
	kind    row.Kind
	fold    func(i *inst, t *tally) // adds what is known of an instance to its row
	entries []inst
	next    atomic.Uint32 // entries that were handed out
	shards  []shard
	full    atomic.Int64
	busy    atomic.Int64 // what was lost because a lock was not had
	aged    atomic.Int64 // what was taken for dead to make room
}

type shard struct {
	lock  atomic.Uint32
	free  uint32
	heads [headCount]uint32
}

// init makes room for so many bytes of instances.
func (t *table) init(bytes int64) {
	n := max(int(bytes/instBytes), 1024)
	t.entries, t.shards = sys.OffHeap[inst](t, n), sys.OffHeap[shard](t, shardCount)
}

func hashed(key uintptr) uint64 {
	h := uint64(key) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// enter locks the shard of a key: nil if it is not had within a bounded time.
func (t *table) enter(key uintptr) (*shard, *uint32) {
	h := hashed(key)
	s := &t.shards[h>>58]
	for range 2000 {
		if s.lock.Load() == 0 && s.lock.CompareAndSwap(0, 1) {
			return s, &s.heads[h>>40%headCount]
		}
	}
	t.busy.Add(1)
	return nil, nil
}

func (s *shard) leave() { s.lock.Store(0) }

// find is the instance at a key, while its shard is locked.
func (t *table) find(head *uint32, key uintptr) *inst {
	for i := *head; i != 0; i = t.entries[i-1].next {
		if t.entries[i-1].key == key {
			return &t.entries[i-1]
		}
	}
	return nil
}

// take removes the instance at a key.
func (t *table) take(key uintptr) (x inst, ok bool) {
	s, head := t.enter(key)
	if s == nil {
		return x, false
	}
	for at := head; *at != 0; {
		i := *at
		e := &t.entries[i-1]
		if e.key == key {
			x, ok = *e, true
			*at = e.next
			e.key, e.next = 0, s.free
			s.free = i
			break
		}
		at = &e.next
	}
	s.leave()
	return x, ok
}

// mark notes that a slice is followed at an address; see Followed. The runtime has the same hash.
func mark(key uintptr) {
	h := uint64(key) * 0x9e3779b97f4a7c15
	if w, bit := &followed[h>>48], uint64(1)<<(h>>42&63); atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
		marks.Add(1)
	}
}

// marks is how many bits are set; mostMarks is when they are set anew, of what is followed still.
var marks atomic.Int64

const mostMarks = 1 << 20

// remark sets the marks anew. Who is put meanwhile may lose its mark: its growth is missed then.
func (t *table) remark() {
	if marks.Load() < mostMarks {
		return
	}
	for i := range followed {
		atomic.StoreUint64(&followed[i], 0)
	}
	marks.Store(0)
	t.each(func(x *inst) bool {
		mark(x.key)
		return false
	})
}

// put has an instance followed. One that is at its key has died: it is folded.
func (t *table) put(x *inst, r *rows) {
	s, head := t.enter(x.key)
	if s == nil {
		return
	}
	if t.kind == row.Slice {
		mark(x.key)
	}
	var dead inst
	if e := t.find(head, x.key); e != nil {
		dead = *e
		next := e.next
		*e = *x
		e.next = next
		s.leave()
		t.died(&dead, r)
		return
	}
	i := s.free
	if i != 0 {
		s.free = t.entries[i-1].next
	} else {
		i = t.next.Add(1)
		if i > uint32(len(t.entries)) {
			t.next.Add(^uint32(0))
			s.leave()
			t.full.Add(1)
			return
		}
	}
	e := &t.entries[i-1]
	*e = *x
	e.next = *head
	*head = i
	s.leave()
}

// died folds an instance into its row.
func (t *table) died(x *inst, r *rows) {
	if x.site != 0 {
		t.fold(sys.Hidden(x), &r.sites[x.site-1].Stats) // or who calls would allocate it
	}
}

// headsAtOnce is how many heads are gone through with their shard locked.
const headsAtOnce = 32

// each calls f for all instances, and removes those that f reports dead. While some are gone through
// their shard is locked: f neither allocates nor parks, and pinned keeps the thread meanwhile.
func (t *table) each(f func(x *inst) (dead bool)) {
	for i := range t.shards {
		s := &t.shards[i]
		for from := 0; from < headCount; from += headsAtOnce {
			pin()
			for !s.lock.CompareAndSwap(0, 1) { // who has it is on a processor, or will be
				unpin()
				runtime.Gosched()
				pin()
			}
			for h := range headsAtOnce {
				for at := &s.heads[from+h]; *at != 0; {
					i := *at
					e := &t.entries[i-1]
					if !f(e) {
						at = &e.next
						continue
					}
					*at = e.next
					e.key, e.next = 0, s.free
					s.free = i
				}
			}
			s.leave()
			unpin()
		}
	}
}
