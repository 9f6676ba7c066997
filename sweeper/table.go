package sweeper

import (
	"math/bits"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Limits of the stacks counted separately.
const (
	maxEntries = format.MaxStacks - 1
	maxKeys    = 2 << 20 // words: 16 MiB
)

// entry is a name with a stack.
type entry struct {
	hash     uint64
	key      int // index in table.keys of the record's head, which its addresses follow
	calls    int64
	weight   int64
	reported struct{ calls, weight int64 } // the part of calls and weight that was reported
	stack    uint32                        // its id in the trace
	named    bool                          // stack is known
}

// table counts equal records. Records beyond its limits count for their name,
// without addresses.
type table struct {
	slots   []int32 // 1 + index in entries; 0: free
	entries []entry
	keys    []uint64
	others  int64 // records beyond the limits
}

// add counts a record: its head and addresses.
func (t *table) add(head uint64, weight int64, pcs []uint64) {
	e := t.find(head, pcs)
	if e == nil {
		t.others++
		if e = t.find(head&^(0xffff<<16), nil); e == nil {
			return // unreachable: the entries reserved for names suffice for all names
		}
	}
	e.calls++
	e.weight += weight
}

// find returns the record's entry, which it creates if needed, or nil at the
// limits.
func (t *table) find(head uint64, pcs []uint64) *entry {
	h := hash(head, pcs)
	if t.slots != nil {
		mask := uint64(len(t.slots) - 1)
		for i := h & mask; t.slots[i] != 0; i = (i + 1) & mask {
			if e := &t.entries[t.slots[i]-1]; e.hash == h && t.keys[e.key] == head && slices.Equal(t.keys[e.key+1:e.key+1+len(pcs)], pcs) {
				return e
			}
		}
	}
	limit := maxEntries
	if len(pcs) == 0 {
		limit += 1 << 16 // for the other stacks of each name
	}
	if len(t.entries) >= limit || len(pcs) > 0 && len(t.keys)+len(pcs) > maxKeys {
		return nil
	}
	if 2*len(t.entries) >= len(t.slots) {
		t.grow()
	}
	t.entries = append(t.entries, entry{hash: h, key: len(t.keys)})
	t.keys = append(append(t.keys, head), pcs...)
	t.enter(h, int32(len(t.entries)))
	return &t.entries[len(t.entries)-1]
}

func (t *table) grow() {
	t.slots = make([]int32, max(1<<10, 2*len(t.slots)))
	for i := range t.entries {
		t.enter(t.entries[i].hash, int32(i+1))
	}
}

func (t *table) enter(h uint64, v int32) {
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = v
}

// name and pcs return the name and the addresses of an entry.
func (t *table) name(e *entry) uint16 { return uint16(t.keys[e.key]) }

func (t *table) pcs(e *entry) []uint64 {
	n := int(t.keys[e.key] >> 16 & 0xffff)
	return t.keys[e.key+1 : e.key+1+n]
}

// hash mixes by multiplication: each address affects all bits of the result.
func hash(head uint64, pcs []uint64) uint64 {
	h := head * 0x9e3779b97f4a7c15
	for _, pc := range pcs {
		hi, lo := bits.Mul64(h^pc, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	return h ^ h>>32
}
