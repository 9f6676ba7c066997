package trace

import "github.com/scopeview/scopeview/internal/format"

// runState is the state of a run at its present time: what a stretch needs of those before it. It
// passes from stretch to stretch; each takes what concerns it, and adds data for those that follow.
type runState struct {
	rows    rows
	running runningRows
	pending []*waiting // events that have begun and not happened: a min-heap by (stop, loc)
}

// localRow is a row of a stretch: its state at the beginning of the stretch, and later at its last
// record.
type localRow struct {
	key        uint64
	depth      *depthRow   // nil: depths are not needed
	running    *runningRow // the scopes that run when the stretch begins; nil: none, or not needed
	slice      int32       // index of the last one with a record of it, from 1
	track      uint16      // its name
	trackAtEnd uint16      // its name at the end of the stretch
}

// depthRow holds the scopes that run on a row of a stretch.
type depthRow struct {
	row
	global *row // of all stretches; nil: nothing runs from stretch to stretch
}

func (x *localRow) reset(key uint64) {
	*x = localRow{key: key, depth: x.depth}
	if x.depth != nil {
		*x.depth = depthRow{row: x.depth.emptied()}
	}
}

// localRows are the rows of a stretch. They lie in pages: growing a slice would hold them twice for
// a moment, and they may be most of a stretch's memory.
type localRows struct {
	pages []*[rowsInPage]localRow
	n     int
	deep  bool // depths are needed
}

const rowsInPage = 64

func (l *localRows) at(i int32) *localRow { return &l.pages[i/rowsInPage][i%rowsInPage] }

// add returns the index of a new row, which reuses the memory of an earlier one if there is one.
func (l *localRows) add(key uint64) int32 {
	i := int32(l.n)
	if l.n++; l.n > len(l.pages)*rowsInPage {
		page := new([rowsInPage]localRow)
		if l.deep {
			depths := new([rowsInPage]depthRow)
			for k := range depths {
				page[k].depth = &depths[k]
			}
		}
		l.pages = append(l.pages, page)
	}
	l.at(i).reset(key)
	return i
}

func (l *localRows) all(yield func(*localRow) bool) {
	for i := range int32(l.n) {
		if !yield(l.at(i)) {
			return
		}
	}
}

// waiting is a pending event whose time has not come: Events is ordered by instants, and a pending
// event's instant is its stop. Its arguments are read again then; keeping them would take memory
// for every pending event that runs. It is passed by pointer, as many may wait.
type waiting struct {
	rec    format.Record
	stop   int64 // ticks
	start  int64 // from which it is shown
	at     recordLoc
	endLoc format.Loc // its end apart; 0: it ended in place
	// made is its extension, if that is not in the file or may not be for long; else nil. Most are
	// in the file, and many may wait.
	ext *[]byte
}

// before orders by (time, location), as Events does.
func (w *waiting) before(stop int64, loc format.Loc) bool {
	return w.stop < stop || w.stop == stop && w.at.loc < loc
}

// row returns the key of its row.
func (w *waiting) row() uint64 { return rowKeyOf(w.rec.Goid(), w.at.thread, w.at.owner) }

func (s *runState) push(w *waiting) {
	h := append(s.pending, w)
	i := len(h) - 1
	for ; i > 0 && w.before(h[(i-1)/2].stop, h[(i-1)/2].at.loc); i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = w
	s.pending = h
}

func (s *runState) pop() *waiting {
	h := s.pending
	top := h[0]
	n := len(h) - 1
	w := h[n]
	h[n] = nil
	h = h[:n]
	s.pending = h
	if n == 0 {
		return top
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h[k+1].before(h[k].stop, h[k].at.loc) {
			k++
		}
		if !h[k].before(w.stop, w.at.loc) {
			break
		}
		h[i] = h[k]
		i = k
	}
	h[i] = w
	return top
}

// runningRows holds the scopes that continue from one stretch to another, and are still to be
// reported.
//
// A row is reported in the stretches that have a record of it. Its running scopes were reported up
// to the end of the last of those.
type runningRows struct {
	m     map[uint64]*runningRow
	limit int // drop finished rows when m has grown to this
}

func newRunningRows() runningRows { return runningRows{map[uint64]*runningRow{}, sweepAt} }

type runningRow struct {
	since int64        // ticks: reported up to then
	runs  []continuing // by begin
}

// continuing is a scope that continues.
type continuing struct {
	key, stop      int64
	loc            format.Loc
	head           uint64
	track          uint16
	goroutineEnded bool // it was not ended: its goroutine ended at stop
}

func (r *continuing) kind() format.Kind { return format.Kind(r.head >> 40 & 0x7f) }
