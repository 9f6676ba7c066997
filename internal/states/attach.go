package states

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/deltas"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// Attach ends open scopes of t when their goroutines end, according to the Go execution
// trace, and gives scopes the CPU times from that trace and the switches: the time that
// their goroutine was on a CPU between begin and end. The quality is exact if switches cover
// all of its running and system calls, and at most if only the Go trace does. It is likely
// if the machine's host took more than a hundredth of the time in which its CPUs had work,
// which threads' switches do not show, or if the switches themselves may cause an error of
// more than a hundredth; see aSwitch.
//
// The Go trace is read when Events is called first; its memory is some 6 bytes for each
// stretch in which a goroutine was on a CPU without a break, as much for each in which
// it may have been, and 8 for each time that the system took its thread off one. A trace
// without one stays as it is. A caller that reads the Go trace anyway before
// Events can find the times in the same reading: see CPUTimes.
func Attach(t *trace.Trace) {
	if len(t.GoTraces()) == 0 || t.Lookup(gotrace.FactScopes) == "none" || len(t.Processes()) > 0 { // a merged trace's scopes have what is known
		return
	}
	t.UseCPU(func() (trace.CPUAt, error) {
		x := newIndex(stealOf(t))
		_, err := EachOf(t, x.handler())
		if errors.Is(err, gotrace.ErrNone) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("finding the CPU times of scopes: %w", err)
		}
		x.give(t)
		return x.at, nil
	})
}

// give ends scopes of t with their goroutines. For a trace made from a Go execution trace,
// goscopes has done that: a task of runtime/trace belongs to no goroutine.
func (x *index) give(t *trace.Trace) {
	if t.Lookup(gotrace.FactMade) == "" {
		t.UseEnds(x.endOf)
	}
}

// CPUTimes returns a Handler that, as part of a reading of t by EachOf, computes the CPU
// times promised by Attach. If nothing was promised, or the times are known already, it does
// nothing.
func CPUTimes(t *trace.Trace) Handler {
	if !t.WantsCPU() {
		return Handler{}
	}
	x := newIndex(stealOf(t))
	h := x.handler()
	done := h.Done
	h.Done = func(f *Facts) {
		done(f)
		x.give(t)
		t.UseCPU(func() (trace.CPUAt, error) { return x.at, nil })
	}
	return h
}

// index computes how long a goroutine was on a CPU between two times.
type index struct {
	stretches []gotrace.Stretch
	byID      map[uint64]*usage
	lately    gotrace.Lately[usage] // caches byID
	coded     deltas.Bytes          // encodes the stretches
	steal     steal
	ended     []ended // by goroutine
}

// ended is the end of a goroutine.
type ended struct {
	goid uint64
	at   int64
}

// usage holds a goroutine's times on CPUs.
type usage struct {
	sure  stretches
	maybe stretches // its thread's whereabouts are unknown
	back  []int64   // times when the system resumed its thread
}

// aSwitch is the maximum error of a CPU time, in ns, for each time that the thread was
// switched off its CPU and on again. The kernel's records of a switch are a little apart
// from the moment when its CPU clock changes: usually 5 µs, 7 to 14 under full load.
const aSwitch = 10_000

func newIndex(s steal) *index { return &index{byID: map[uint64]*usage{}, steal: s} }

// handler returns the handler that fills the index.
func (x *index) handler() Handler {
	return Handler{
		Interval: func(_ *Facts, v *Interval) { x.add(v) },
		Done:     x.done,
	}
}

func (x *index) done(f *Facts) {
	x.stretches = f.Stretches
	for id, g := range f.Goroutines {
		if g.Ended {
			x.ended = append(x.ended, ended{id, g.To})
		}
	}
	slices.SortFunc(x.ended, func(a, b ended) int { return cmp.Compare(a.goid, b.goid) })
	for _, u := range x.byID {
		u.sure.done(&x.coded)
		u.maybe.done(&x.coded)
	}
}

// add adds an interval.
func (x *index) add(v *Interval) {
	off := v.State >= Preempted && v.State <= Stalled || v.State == Blocked
	if !v.On && !off && v.State != Running && v.State != Syscall && (v.State != GC || v.Thread == 0) {
		return
	}
	u := x.lately.Of(x.byID, v.Goid)
	if u == nil {
		u = &usage{}
		x.byID[v.Goid] = u
	}
	if off {
		u.back = append(u.back, v.To)
		return
	}
	if v.On {
		u.sure.add(v.From, v.To, &x.coded)
		return
	}
	u.maybe.add(v.From, v.To, &x.coded)
}

// endOf implements trace.EndOf.
func (x *index) endOf(goid uint64) (int64, bool) {
	i, ok := slices.BinarySearchFunc(x.ended, goid, func(e ended, id uint64) int { return cmp.Compare(e.goid, id) })
	if !ok {
		return 0, false
	}
	return x.ended[i].at, true
}

// at implements trace.CPUAt.
func (x *index) at(goid uint64, from, to int64) (int64, format.Quality) {
	i := sort.Search(len(x.stretches), func(k int) bool { return x.stretches[k].To >= to })
	u := x.byID[goid]
	if i == len(x.stretches) || x.stretches[i].From > from || u == nil {
		return 0, format.Unknown
	}
	ns := u.sure.until(to, &x.coded) - u.sure.until(from, &x.coded)
	if more := u.maybe.until(to, &x.coded) - u.maybe.until(from, &x.coded); more > 0 {
		return ns + more, format.AtMost
	}
	if ns > 0 && (x.steal.much(from, to) || u.switches(from, to)*aSwitch*100 > ns) {
		return ns, format.Likely
	}
	return ns, format.Exact
}

// switches returns how often the thread came back to a CPU between two times.
func (u *usage) switches(from, to int64) int64 {
	first, _ := slices.BinarySearch(u.back, from)
	after, _ := slices.BinarySearch(u.back, to)
	return int64(after - first)
}

// stretches are disjoint stretches of time, in order. An element of the list holds the
// distance of a stretch from the previous one, and its length. A block begins with the total
// length of those before it.
type stretches struct {
	list deltas.List
	last stretch // not in the list before done
	end  int64   // of the last one in the list
	sum  int64   // total length of those
}

type stretch struct{ from, to int64 }

func (s *stretches) add(from, to int64, coded *deltas.Bytes) {
	if x := &s.last; x.to > x.from && from <= x.to {
		x.to = max(x.to, to)
		return
	}
	if to > from {
		s.put(coded)
		s.last = stretch{from, to}
	}
}

// put appends the last stretch to the list.
func (s *stretches) put(coded *deltas.Bytes) {
	x := &s.last
	if x.to <= x.from {
		return
	}
	if s.list.Begin(x.from, coded) {
		s.end = x.from
		s.list.Put(uint64(s.sum))
	}
	s.list.Put(uint64(x.from - s.end))
	s.list.Put(uint64(x.to - x.from))
	s.end = x.to
	s.sum += x.to - x.from
}

// done must be called before until.
func (s *stretches) done(coded *deltas.Bytes) {
	s.put(coded)
	s.last = stretch{}
	s.list.End(coded)
}

// until returns their total length before t.
func (s *stretches) until(t int64, coded *deltas.Bytes) int64 {
	n := s.list.Len()
	if n == 0 || s.list.Start() >= t {
		return 0
	}
	i := s.list.Find(t)
	r, at := s.list.Block(i, coded)
	sum := int64(r.Next())
	for n = min(n, i+deltas.Block); i < n; i++ {
		at += int64(r.Next())
		if at >= t {
			break
		}
		d := int64(r.Next())
		at += d
		if at >= t {
			return sum + d - (at - t)
		}
		sum += d
	}
	return sum
}
