package timeline

import "sort"

// stretches are the parts of a large trace that are read again when they are looked at
// closely. One begins where nothing that began at the same moment lies in the one before.
type stretches struct {
	every, running int64   // see Size
	begins         []int64 // when each begins; the first at the beginning of time
	before         []int64 // items that began before it
	live           []*row  // on which something is being made
	ran            int64   // scopes that ran when the latest began
}

// What is known of a row while a thin index is loaded.
const (
	rowIdle    = iota // nothing is being made
	rowQuiet          // nothing came in this stretch
	rowTouched        // something did
)

// full reports whether the next stretch may begin.
func (s *stretches) full(items int64) bool {
	n := len(s.begins)
	return items-s.before[n-1] >= max(s.every-s.every/4, s.running*s.ran) // a batch has somewhat fewer than records
}

// of returns in which stretch a moment is.
func (s *stretches) of(t int64) int {
	return max(sort.Search(len(s.begins), func(i int) bool { return s.begins[i] > t })-1, 0)
}

// inside returns how many items began in the stretches that lie in [from, to].
func (s *stretches) inside(from, to int64) int64 {
	first := sort.Search(len(s.begins), func(i int) bool { return s.begins[i] >= from })
	last := s.of(to)
	if last <= first {
		return 0
	}
	return s.before[last] - s.before[first]
}

// items returns how many items begin in the stretches from first to last, but for the last
// of all.
func (s *stretches) items(first, last int) int64 {
	return s.before[min(last+1, len(s.before)-1)] - s.before[first]
}

// stretch begins one, and keeps the items that run then.
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

// keepRunning keeps what runs on a row at a moment, and tells how many items that are.
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
