package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// stretch is a part of a run: the records from one time to another. It reads the chunks that were
// handed out in that time. Chunks with later records pass on to the next stretch, and so on.
type stretch struct {
	from, to      int64 // ticks: its records are in [from, to)
	first         bool
	last          bool
	own           []int32         // indexes of the chunks that it reads
	reconstructed []reconstructed // of the first: records of a ring whose chunks are gone

	prevSlices, nextSlices chan []slice   // slices that continue, from the previous stretch and to the next one
	prevState, nextState   chan *runState // the state at its beginning, and at its end

	held     []*cursor // the cursors that it needs
	ownCount int       // how many of them it has read
	slices   []slice
	merge    merge
	// crossed means that slices of the stretch overlap in time in a way that matters.
	overlapping bool
	loaded      []loaded
	failed      error // why there are no records from failAt on
	failAt      int64

	rows    localRows
	byKey   map[uint64]int32 // indexes of rows
	marks   []carryOver
	pending []*waiting // those that happen in it, in order

	problems problems // problems of its events
	joined   int64    // ends apart that were read
	lost     int64    // see cursor

	due           chan struct{} // closed: all before it were taken; nil: that was so from the beginning
	ready         chan struct{}
	value         any   // its result
	panicked      any   // why it has none
	stop          int64 // the record at which the run ended
	tracksDropped bool  // see trackTable.dropped
}

// loaded holds the problems found when a chunk was read for a stretch.
type loaded struct {
	since    int64
	problems problems
}

// carryOver is a fact for later stretches: a scope that continues behind the end, or a row's name.
type carryOver struct {
	key            int64
	loc            format.Loc
	row            int32 // index of rows
	stop           int64 // of a scope; 0: it is a name
	head           uint64
	goroutineEnded bool // the scope was not ended: its goroutine ended at stop
}

// fail notes an error that hides the records from at on.
func (st *stretch) fail(err error, at int64) {
	if st.failed == nil || at < st.failAt {
		st.failed, st.failAt = err, at
	}
}

// join cuts the stretch's part out of its own chunks and of those that began before it, and passes
// on later places.
func (st *stretch) join(own []*cursor, before []slice) {
	to := st.to
	if st.failed != nil {
		to = min(to, st.failAt)
	}
	st.ownCount = len(own)
	all := make([]slice, 0, len(own)+len(before))
	for _, c := range own {
		c.users.Add(1)
		st.held = append(st.held, c)
		all = append(all, slice{c: c, end: len(c.places)})
	}
	for _, x := range before {
		st.held = append(st.held, x.c)
		all = append(all, x)
	}
	var later []slice
	for _, x := range all {
		n := x.before(to)
		if n < x.end {
			x.c.users.Add(1)
			later = append(later, slice{c: x.c, next: n, end: x.end})
		}
		if n > x.next {
			st.slices = append(st.slices, slice{c: x.c, next: x.next, end: n})
		}
	}
	st.nextSlices <- later
	slices.SortFunc(st.slices, func(a, b slice) int { return cmp.Compare(a.start(), b.start()) })
}

// noteRow notes that a row has records in a slice.
func (st *stretch) noteRow(row, n int32) {
	r := st.rows.at(row)
	if before := r.slice - 1; before >= 0 && before != n {
		x := &st.slices[before]
		st.overlapping = st.overlapping || x.end > x.next && x.c.places[x.end-1].key >= st.slices[n].start()
	}
	r.slice = n + 1
}

// row returns the index of a row of the stretch.
func (st *stretch) row(key uint64) int32 {
	i, ok := st.byKey[key]
	if !ok {
		i = st.rows.add(key)
		st.byKey[key] = i
	}
	return i
}
