package timeline

import "sort"

// stretches are the parts of a large trace that are read again for fine views. A stretch
// begins at a moment at which no item of the one before began.
type stretches struct {
	every, running int64   // see Size
	begins         []int64 // begin of each; the first is at the beginning of time
	before         []int64 // number of items that began before it
	live           []*row  // rows with an unfinished run
	ran            int64   // number of scopes that ran when the latest began
}

// State of a row while a thin index is loaded.
const (
	rowIdle    = iota // no unfinished run
	rowQuiet          // no item in this stretch
	rowTouched        // items in this stretch
)

// full reports whether the next stretch may begin.
func (s *stretches) full(items int64) bool {
	n := len(s.begins)
	return items-s.before[n-1] >= max(s.every-s.every/4, s.running*s.ran) // a batch has somewhat fewer items than records
}

// of returns the number of the stretch that contains a moment.
func (s *stretches) of(t int64) int {
	return max(sort.Search(len(s.begins), func(i int) bool { return s.begins[i] > t })-1, 0)
}

// inside returns the number of items that began in the stretches within [from, to].
func (s *stretches) inside(from, to int64) int64 {
	first := sort.Search(len(s.begins), func(i int) bool { return s.begins[i] >= from })
	last := s.of(to)
	if last <= first {
		return 0
	}
	return s.before[last] - s.before[first]
}

// items returns the number of items that begin in the stretches from first to last, without
// the last one of all.
func (s *stretches) items(first, last int) int64 {
	return s.before[min(last+1, len(s.before)-1)] - s.before[first]
}

// stretch begins a stretch, and keeps the items that run then.
func (x *Index) stretch(at int64) {
	th := x.thin
	th.begins, th.before = append(th.begins, at), append(th.before, x.items)
	th.ran = 0
	live := th.live[:0]
	for _, r := range th.live {
		runs := x.keepRunning(r, at)
		th.ran += runs
		if runs == 0 && r.live == rowQuiet {
			x.endRunsOf(r, true)
			continue
		}
		r.live = rowQuiet
		live = append(live, r)
	}
	clear(th.live[len(live):])
	th.live = live
}

// keepRunning keeps the items that run on a row at a moment, and returns their number.
func (x *Index) keepRunning(r *row, at int64) (n int64) {
	for d := range r.lanes {
		l := &r.lanes[d]
		t := l.thin()
		if t == nil || t.now == nil || len(l.rare.open) > 0 || l.until < at {
			continue
		}
		n++
		g := t.now
		if g.kept {
			continue
		}
		g.kept = true
		if t.long == nil {
			t.long = &lane{}
		}
		s := g.last
		s.args = x.texts.add(g.text)
		t.long.put(&s)
	}
	return n
}
