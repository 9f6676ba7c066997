package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// SlowName is a name with long times in a trace.
type SlowName struct {
	Name  string `json:"name" says:"one of the three with the largest 99th percentile, or total"`
	Count int64  `json:"count" unit:"scopes" says:"that ended"`
	Total int64  `json:"total_ns" unit:"ns"`
	P99   int64  `json:"p99_ns" unit:"ns" says:"the 99th percentile of their durations"`
}

// slowNames are the slow names of a trace.
type slowNames struct {
	names []SlowName // immutable
	size  int64      // of the file when it was read
	mtime time.Time
	read  time.Time // zero: not read
	part  bool      // only the beginning was read
	err   bool      // reading failed
}

// state returns the list's description of how complete the slow names are.
func (x *slowNames) state() string {
	switch {
	case x.read.IsZero():
		return "pending"
	case x.err:
		return "failed"
	case x.part:
		return "begin"
	}
	return "whole"
}

// Limits of reading traces for their slow names. One goroutine reads one trace at a time,
// and then rests as long as that took: so it uses at most half a processor, and only while
// the list is in use.
const (
	slowEach   = 3         // names by total time, and the same number by 99th percentile
	slowScopes = 2_000_000 // per trace; the list marks an incomplete result
	slowTime   = 2 * time.Second
	slowAgain  = time.Minute // minimum time before a changed trace is read again
	slowLooked = 30 * time.Second
)

// slowQueue has the traces still to be read. listing.mu guards it.
type slowQueue struct {
	todo    []string // names, in order
	looked  time.Time
	running bool
}

// order sorts the traces to read: first those never read, the newest first, and then changed
// ones.
func (q *slowQueue) order(list *List, seen map[string]*seen) {
	q.todo = q.todo[:0]
	var changed []string
	for _, t := range list.Traces {
		switch x := seen[t.Name]; {
		case t.Why != "":
		case x.slow.read.IsZero():
			q.todo = append(q.todo, t.Name)
		case (x.slow.size != x.size || !x.slow.mtime.Equal(x.mtime)) && time.Since(x.slow.read) > slowAgain:
			changed = append(changed, t.Name)
		}
	}
	q.todo = append(q.todo, changed...)
}

// readSlow starts reading slow names, unless that is running.
func (s *Server) readSlow() {
	l := &s.shelf.listing
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow.looked = time.Now()
	if l.slow.running || len(l.slow.todo) == 0 {
		return
	}
	l.slow.running = true
	s.background(func() {
		for s.shelf.readNextSlow(s.ctx, s.afterTiles) {
		}
	})
}

// readNextSlow reads the slow names of one trace, and rests. It returns false if there are
// no more, or the list is not in use.
func (s *shelf) readNextSlow(ctx context.Context, wait func()) bool {
	l := &s.listing
	l.mu.Lock()
	q := &l.slow
	if len(q.todo) == 0 || time.Since(q.looked) > slowLooked || ctx.Err() != nil {
		q.running = false
		l.mu.Unlock()
		return false
	}
	name := q.todo[0]
	q.todo = q.todo[1:]
	x := l.seen[name]
	found := slowNames{size: x.size, mtime: x.mtime}
	l.mu.Unlock()
	wait()
	begun := time.Now()
	s.findSlow(ctx, name, &found)
	found.read = time.Now()
	l.mu.Lock()
	if x := l.seen[name]; x != nil && ctx.Err() == nil {
		x.slow = found
	}
	l.mu.Unlock()
	pause(ctx, time.Since(begun))
	return true
}

// findSlow reads a trace for the names that took longest.
func (s *shelf) findSlow(ctx context.Context, name string, found *slowNames) {
	found.err = true
	f, err := (&book{shelf: s, name: name}).open()
	if err != nil {
		return
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return
	}
	t, err := trace.Open(&trace.Reading{File: f, Until: ctx}, size)
	if err != nil {
		return
	}
	if t.KeepProcesses(s.of.Processes) != nil {
		return
	}
	sum := analysis.NewSummary(analysis.SummaryOptions{Breaks: t.Breaks()})
	left, until := slowScopes, time.Now().Add(slowTime)
	err = t.Events(trace.Options{Detail: trace.Rowless, Alone: true}, func(e *trace.Event) bool {
		sum.Add(e)
		left--
		found.part = left <= 0 || left%4096 == 0 && time.Now().After(until)
		return !found.part
	})
	sum.Finish()
	found.err = err != nil
	found.names = slowest(sum.Stats, t.Name)
}

// slowest returns the names with the largest total, and those with the largest 99th
// percentile.
func slowest(all []*analysis.Stats, name func(uint16) string) (list []SlowName) {
	all = slices.DeleteFunc(slices.Clone(all), func(s *analysis.Stats) bool { return s.Count == 0 })
	p99 := func(s *analysis.Stats) int64 { return s.Times.Quantile(0.99) }
	pick := func(of func(*analysis.Stats) int64) {
		slices.SortStableFunc(all, func(a, b *analysis.Stats) int { return cmp.Compare(of(b), of(a)) })
		for _, s := range all[:min(len(all), slowEach)] {
			x := SlowName{cutText(text(name(s.Name)), factMax), s.Count, s.Total, p99(s)}
			if !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	pick(p99)
	pick(func(s *analysis.Stats) int64 { return s.Total })
	return list
}
