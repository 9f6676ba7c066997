package gotrace

import "slices"

// order puts items by time again whose times are those of stamps. An item goes on when
// one that is not earlier has come behind it: what comes late is overtaken by what it
// kept waiting.
type order struct {
	items  []item            // by time
	free   int               // so many of the first may go on
	last   map[uint64]*int64 // when each goroutine changed
	lately Lately[int64]     // of last
}

// maxHeld bounds what is overtaken.
const maxHeld = 1 << 16

func (o *order) add(it *item, change bool) {
	if change {
		// Of one goroutine everything stays in the order in which it was told.
		l := o.lately.Of(o.last, it.goid)
		if l != nil {
			it.time = max(it.time, *l)
			*l = it.time
		}
		switch {
		case it.to == NotExist:
			delete(o.last, it.goid)
			o.lately.Forget(it.goid)
		case l == nil:
			at := it.time
			o.last[it.goid] = &at
		}
	}
	i := len(o.items)
	for i > o.free && o.items[i-1].time > it.time {
		i--
	}
	if i < len(o.items) {
		o.items = slices.Insert(o.items, i, *it)
	} else {
		o.items = append(o.items, *it)
	}
	if o.free = i; len(o.items) > maxHeld {
		o.free = len(o.items)
	}
}

// next takes the first that may go on; at the end all may.
func (o *order) next(it *item, end bool) bool {
	if o.free == 0 && !(end && len(o.items) > 0) {
		return false
	}
	*it = o.items[0]
	o.items = o.items[:copy(o.items, o.items[1:])]
	o.free = max(o.free-1, 0)
	return true
}
