package timeline

import "math"

// threadList numbers the threads of items. 0 is an unknown thread, as are those after the first
// 65,535 of a process.
type threadList struct {
	ids   []uint32
	index map[uint32]uint16
	fixed bool // no thread is added
	near  [64]struct {
		id uint32
		at uint16
	} // cache of index
}

func newThreadList() threadList {
	return threadList{ids: []uint32{0}, index: map[uint32]uint16{0: 0}}
}

// reset removes the threads, for reuse.
func (t *threadList) reset() {
	clear(t.index)
	t.index[0] = 0
	*t = threadList{ids: t.ids[:1], index: t.index}
}

// of returns the index of a thread.
func (t *threadList) of(id uint32) uint16 {
	near := &t.near[id%uint32(len(t.near))]
	if id != near.id {
		at, ok := t.index[id]
		if !ok && len(t.ids) <= math.MaxUint16 && !t.fixed {
			at = uint16(len(t.ids))
			t.index[id] = at
			t.ids = append(t.ids, id)
		}
		near.id, near.at = id, at
	}
	return near.at
}
