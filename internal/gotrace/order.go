package gotrace

import "slices"

// order sorts items by the times of stamps again. An item is released when one that is
// not earlier has followed it: an item that comes late overtakes those that it
// delayed.
type order struct {
	items  []item            // by time
	free   int               // number of items, from the first, that are released
	last   map[uint64]*int64 // the time of each goroutine's last change
	lately Lately[int64]     // for last
}

// maxHeld limits the items that wait to be released.
const maxHeld = 1 << 16

func (o *order) add(it *item, change bool) {
	if change {
		// The changes of one goroutine stay in the order in which they were decoded.
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

// next takes the first released item; if end is set, all are released. It reports
// whether there was one.
func (o *order) next(it *item, end bool) bool {
	if o.free == 0 && !(end && len(o.items) > 0) {
		return false
	}
	*it = o.items[0]
	o.items = o.items[:copy(o.items, o.items[1:])]
	o.free = max(o.free-1, 0)
	return true
}
