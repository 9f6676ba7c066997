package count

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// inst is a followed object.
type inst struct {
	key    uintptr
	next   uint32 // next one with the same head, plus one; 0: none
	site   uint32 // number of its row
	weight int64  // number of objects that it represents
	born   int64  // ns
	v      [slots]int64
}

// Values of an instance, beyond those of its row. Each kind uses those that it needs.
const (
	elem   = iota // bytes of an element
	length        // known length
	capacity
	hint
	grown
	looked  // length read from memory
	unseen  // its creation was not seen
	exactly // the length is known
	own     // first value of a kind's own
	slots   = own + 14
)

// Values of a slice.
const (
	copied   = own + iota // bytes
	outgrown              // bytes
)

// Values of a map.
const (
	keyBytes = own + iota
	moved    // entries
	seed     // random number
	tables   // bytes of outgrown tables
	peak     // largest number of entries seen
	watched  // operations on it were seen
	opGet    // operations, in the order of their events

	keyRead = opGet + 6 // bytes of hashed strings, in units
	nans    = opGet + 7 // stores with keys that no lookup finds, in units
)

const (
	shardCount = 64
	headCount  = 4096
	instBytes  = 8*(4+slots) + 8
)

// table has the live instances of a kind.
type table struct {
	kind    row.Kind
	fold    func(i *inst, t *tally) // adds an instance to its row
	entries []inst
	next    atomic.Uint32 // number of entries handed out
	shards  []shard
	full    atomic.Int64
	busy    atomic.Int64 // events lost because a lock was not acquired
	aged    atomic.Int64 // instances taken for dead to make room
}

type shard struct {
	lock  atomic.Uint32
	free  uint32
	heads [headCount]uint32
}

// init makes room for this many bytes of instances.
func (t *table) init(bytes int64) {
	n := max(int(bytes/instBytes), 1024)
	t.entries, t.shards = sys.OffHeap[inst](t, n), sys.OffHeap[shard](t, shardCount)
}

func hashed(key uintptr) uint64 {
	h := uint64(key) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// enter locks the shard of a key; it returns nil if that fails within a bounded time.
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

// find returns the instance at a key, whose shard is locked.
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
			t.unmark(key)
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

// place returns the bit that marks a followed slice's address for the runtime; see Followed.
// The runtime has the same hash.
func place(key uintptr) (word *uint64, bit uint64) {
	h := uint64(key) * 0x9e3779b97f4a7c15
	return &followed[h>>51], 1 << (h >> 45 & 63)
}

// mark sets an instance's bit, and unmark clears it. Another instance may share the bit:
// until it is marked again, at the next writing, its growth is missed.
func (t *table) mark(key uintptr) {
	if word, bit := place(key); t.kind == row.Slice && atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

func (t *table) unmark(key uintptr) {
	if word, bit := place(key); t.kind == row.Slice {
		atomic.AndUint64(word, ^bit)
	}
}

// put adds an instance. If another one has its key, that one has died: it is folded.
func (t *table) put(x *inst, r *rows) {
	s, head := t.enter(x.key)
	if s == nil {
		return
	}
	t.mark(x.key)
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
		t.fold(sys.Hidden(x), &r.sites[x.site-1].Stats) // hidden, as the caller would allocate it otherwise
	}
}

// headsAtOnce is the number of heads visited while their shard is locked.
const headsAtOnce = 32

// each calls f for all instances, and removes those that f reports dead. It locks the shard
// during calls: f neither allocates nor parks, and pin keeps the thread meanwhile.
func (t *table) each(f func(x *inst) (dead bool)) {
	for i := range t.shards {
		s := &t.shards[i]
		for from := 0; from < headCount; from += headsAtOnce {
			pin()
			for !s.lock.CompareAndSwap(0, 1) { // the holder is on a processor, or will be
				unpin()
				runtime.Gosched()
				pin()
			}
			for h := range headsAtOnce {
				for at := &s.heads[from+h]; *at != 0; {
					i := *at
					e := &t.entries[i-1]
					if !f(e) {
						t.mark(e.key)
						at = &e.next
						continue
					}
					t.unmark(e.key)
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
