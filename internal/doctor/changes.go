package doctor

// changes calls f with all changes, by time. Changes at the same time are grouped by
// goroutine, in the order of the goroutines. They are not stored: there are as many as
// intervals.
func (m *model) changes(f func(*change)) {
	h := make(changesHeap, 0, len(m.gs))
	for i, g := range m.gs {
		if c := (changesOf{change: change{g: g}, number: i}); c.next() {
			h = append(h, c)
		}
	}
	for i := len(h) / 2; i > 0; i-- {
		h.down(i - 1)
	}
	for len(h) > 0 {
		f(&h[0].change)
		if !h[0].next() {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		h.down(0)
	}
}

// changesOf iterates over the changes of a goroutine.
type changesOf struct {
	change
	number int  // index of the goroutine
	i      int  // index in ivs of the next interval
	gap    bool // the goroutine is in a gap between two intervals
}

// next advances to the next change and reports whether there is one.
func (c *changesOf) next() bool {
	ivs := c.g.ivs
	for ; c.i < len(ivs); c.i++ {
		v := &ivs[c.i]
		c.from = c.to
		if c.i > 0 && v.from > ivs[c.i-1].to && !c.gap {
			c.gap = true
			c.time, c.to = ivs[c.i-1].to, whatNothing
			return true
		}
		c.gap = false
		if now := whatOf(c.g, v); now != c.from {
			c.time, c.to = v.from, now
			c.i++
			return true
		}
	}
	if c.to == whatNothing {
		return false
	}
	c.time, c.from, c.to = ivs[len(ivs)-1].to, c.to, whatNothing
	return true
}

// changesHeap is a heap with the earliest change first.
type changesHeap []changesOf

func (h changesHeap) less(i, k int) bool {
	a, b := &h[i], &h[k]
	return a.time < b.time || a.time == b.time && a.number < b.number
}

// down moves the element at i down to restore the heap.
func (h changesHeap) down(i int) {
	for {
		k := 2*i + 1
		if k+1 < len(h) && h.less(k+1, k) {
			k++
		}
		if k >= len(h) || !h.less(k, i) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}
