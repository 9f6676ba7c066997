package gotrace

import (
	"fmt"
	"sort"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Limits of the identity check of a stream.
const (
	checkPoints = 2000   // maximum number of begins and ends of scopes compared
	checkLeast  = 20     // with fewer than this, none may disagree
	checkSlack  = 50_000 // ns, tolerance of the clocks: before the first heartbeat the clock rate of a trace is accurate to 10 ppm
)

// The number of events of a stream that a check reads: at its start, and in each further
// attempt.
var (
	checkEvents int64 = 300_000
	checkAgain  int64 = 3_000_000 // if the first part has too few scopes
)

// stay is a stretch of time in which a goroutine ran on a thread.
type stay struct {
	from, to int64
	thread   uint32
}

// check reports whether a stream was recorded in the process whose scopes are in the
// trace, on the same clock. It compares the first part of the stream with the scopes.
// That part is enough, because the clocks of a program do not change later in a stream;
// every generation repeats them. The streams of an excerpt were checked when it was made.
func (r *reader) check(g *input) (bool, error) {
	if r.t == nil || r.t.Lookup(FactMade) != "" {
		return true, nil
	}
	if _, _, excerpt := r.t.Excerpt(); excerpt {
		return true, nil
	}
	looked, right := int64(0), int64(0)
	after := int64(0)
	for i, n := range []int64{checkEvents, checkAgain, checkAgain} {
		stays, from, to, all := r.stays(g, n, after)
		if to <= from {
			return true, nil // reading the stream will report why
		}
		var err error
		if looked, right, err = r.compare(stays, from, to); err != nil {
			return false, err
		}
		if looked >= checkLeast || all || i > 0 && looked > 0 {
			break
		}
		if i > 0 { // the first scope begins later
			if after, err = r.nextScope(to); after < 0 || err != nil {
				break
			}
		}
	}
	r.info.Checked += looked
	r.info.Right += right
	if wrong := looked - right; wrong == 0 || looked >= checkLeast && wrong*100 <= looked {
		return true, nil
	}
	r.info.Foreign = append(r.info.Foreign, g.stream)
	r.problem(g, fmt.Sprintf("it is of another process, or the clocks do not align: "+
		"of %d times at which a scope began or ended its goroutine was running at %d; it is left out", looked, right), true)
	return false, nil
}

// nextScope returns the begin of the first scope of a known goroutine at or after from,
// or -1 if there is none.
func (r *reader) nextScope(from int64) (at int64, err error) {
	at = -1
	err = r.t.Events(trace.Options{From: from, AsRecorded: true}, func(e *trace.Event) bool {
		if e.Start >= from && e.Goid != 0 {
			switch e.Kind {
			case format.KindTask, format.KindTaskf, format.KindEvent, format.KindCounter, format.KindProcess:
				at = max(e.Start-2*checkSlack, 0)
			}
		}
		return at < 0
	})
	return at, err
}

// stays reads up to n events of a stream from the time after on. It returns the stretches
// in which each goroutine ran, the interval that the events cover, and whether the stream
// ended before n events.
func (r *reader) stays(g *input, n, after int64) (by map[uint64][]stay, from, to int64, all bool) {
	by = map[uint64][]stay{}
	stacks := newStacks()
	stacks.off = true
	c := r.clock
	s, err := open(g.open(), stacks, &c, 1)
	defer s.close()
	if err != nil {
		return nil, 0, 0, true
	}
	running := map[uint64]stay{}
	var it item
	from = -1
	for events := int64(0); events < n; events++ {
		if err := s.next(&it); err != nil || it.time > r.end {
			all = true
			break
		}
		if it.time < after {
			from, events = -1, 0
		} else if from < 0 {
			from = it.time
		}
		to = it.time
		if it.kind != exptrace.EventStateTransition {
			continue
		}
		if was, ok := running[it.goid]; ok && it.to != Running {
			delete(running, it.goid)
			if was.to = it.time; was.to >= after {
				by[it.goid] = append(by[it.goid], was)
			}
		}
		if it.to == Running && it.from != Running {
			st := stay{from: it.time, thread: it.thread}
			if it.from == Unknown {
				st.from = from
			}
			running[it.goid] = st
		}
	}
	if from < 0 {
		from = to // the stream ends before after
	}
	for id, st := range running {
		st.to = to
		by[id] = append(by[id], st)
	}
	return by, from, to, all
}

// compare checks the begins and ends of scopes between two times. It returns the number
// checked, and the number at which the goroutine was running.
func (r *reader) compare(by map[uint64][]stay, from, to int64) (looked, right int64, err error) {
	look := func(at int64, goid uint64, thread uint32) {
		if goid == 0 || at < from+checkSlack || at > to-checkSlack {
			return
		}
		looked++
		if ran(by[goid], at, thread) {
			right++
		}
	}
	err = r.t.Events(trace.Options{From: max(from, 0), To: to, AsRecorded: true}, func(e *trace.Event) bool {
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindEvent, format.KindCounter, format.KindProcess:
			look(e.Start, e.Goid, e.Thread)
			if e.Dur == 0 || e.Open {
				break
			}
			end := e.EndGoid
			if end == 0 {
				end = e.Goid
			}
			look(e.Start+e.Dur, end, 0)
		}
		return looked < checkPoints
	})
	return looked, right, err
}

// ran reports whether a goroutine ran at a time, on the given thread unless it is 0.
func ran(stays []stay, at int64, thread uint32) bool {
	i := sort.Search(len(stays), func(k int) bool { return stays[k].to >= at-checkSlack })
	for ; i < len(stays) && stays[i].from <= at+checkSlack; i++ {
		if thread == 0 || stays[i].thread == 0 || stays[i].thread == thread {
			return true
		}
	}
	return false
}
