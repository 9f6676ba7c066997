package analysis

// table maps names to values. Names are small numbers, so it needs no hashing.
type table[V any] struct {
	at    []*V // by name; nil: no value
	names []uint16
	free  []*V
}

// get returns the value of a name, or nil.
func (t *table[V]) get(name uint16) *V {
	if int(name) < len(t.at) {
		return t.at[name]
	}
	return nil
}

// of returns the value of a name, and adds an empty one if there is none.
func (t *table[V]) of(name uint16) *V {
	if v := t.get(name); v != nil {
		return v
	}
	return t.add(name)
}

func (t *table[V]) add(name uint16) *V {
	if n := int(name) + 1; n > len(t.at) {
		t.at = append(t.at, make([]*V, n-len(t.at))...)
	}
	v := new(V)
	if n := len(t.free); n > 0 {
		v, t.free = t.free[n-1], t.free[:n-1]
	}
	t.at[name], t.names = v, append(t.names, name)
	return v
}

func (t *table[V]) each(f func(name uint16, v *V)) {
	for _, name := range t.names {
		f(name, t.at[name])
	}
}

// reset empties the table. It reuses the values, which reset must have cleared.
func (t *table[V]) reset(reset func(*V)) {
	t.each(func(name uint16, v *V) {
		reset(v)
		t.free, t.at[name] = append(t.free, v), nil
	})
	t.names = t.names[:0]
}

// rowTable maps goroutines to rows. A trace may have as many goroutines as records, and each
// record looks up its row: a map takes three times as long.
type rowTable struct {
	slots []rowSlot // their number is a power of two
	n     int
}

type rowSlot struct {
	goid uint64
	row  *row // nil: empty
}

// leastSlots is the initial size, enough for most programs.
const leastSlots = 64

// get returns goid's row, or nil.
func (t *rowTable) get(goid uint64) *row {
	if len(t.slots) == 0 {
		return nil
	}
	return t.slots[t.find(goid)].row
}

// find returns the index of goid's slot, or of a free one for it.
func (t *rowTable) find(goid uint64) int {
	mask := len(t.slots) - 1
	i := int(goid*0x9e3779b97f4a7c15>>32) & mask
	for t.slots[i].row != nil && t.slots[i].goid != goid {
		i = (i + 1) & mask
	}
	return i
}

// put adds the row of a goroutine that is not in the table.
func (t *rowTable) put(goid uint64, r *row) {
	if t.n >= len(t.slots)/2 {
		old := t.slots
		t.slots = make([]rowSlot, max(leastSlots, 2*len(old)))
		for _, s := range old {
			if s.row != nil {
				t.slots[t.find(s.goid)] = s
			}
		}
	}
	t.slots[t.find(goid)] = rowSlot{goid, r}
	t.n++
}

func (t *rowTable) each(f func(goid uint64, r *row)) {
	for _, s := range t.slots {
		if s.row != nil {
			f(s.goid, s.row)
		}
	}
}

// clear empties the table, and keeps the memory.
func (t *rowTable) clear() {
	clear(t.slots)
	t.n = 0
}
