package states

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// Attach gives the scopes of t, which Events tells of, the CPU times that the Go
// execution trace and the switches know: the sum of what their goroutine was on a CPU
// between their begin and their end. It is exact where switches tell of all of its
// running and all of its system calls, and at most that where the Go trace alone does. It
// is likely where the machine's host took more than a hundredth of the time in which its
// CPUs had work, because threads' switches don't tell of that, and where the switches of
// its threads themselves may make it wrong by more than a hundredth; see aSwitch.
//
// The Go trace is read when Events is called first; its memory is 16 bytes for each
// stretch in which a goroutine was on a CPU without a break, as much for each in which
// it may have been, and 8 for each time that the system took its thread off one. A trace
// without one, or without scopes, stays as it is. Who reads the Go trace anyway before Events can have the
// times found in the same reading: see CPUTimes.
func Attach(t *trace.Trace) error {
	if len(t.GoTraces()) == 0 || t.Lookup(gotrace.FactScopes) == "none" {
		return nil
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
		return x.at, nil
	})
	return nil
}

// CPUTimes takes part in a reading of t by EachOf, and finds what Attach promised to
// Events. Where nothing was promised, or it is known already, it takes nothing.
func CPUTimes(t *trace.Trace) Handler {
	if !t.WantsCPU() {
		return Handler{}
	}
	x := newIndex(stealOf(t))
	h := x.handler()
	done := h.Done
	h.Done = func(f *Facts) {
		done(f)
		t.UseCPU(func() (trace.CPUAt, error) { return x.at, nil })
	}
	return h
}

// index finds out how long a goroutine was on a CPU between two times.
type index struct {
	stretches []gotrace.Stretch
	byID      map[uint64]*usage
	steal     steal
}

// usage is what a goroutine had of CPUs.
type usage struct {
	sure  stretches
	maybe stretches // its thread's whereabouts are not known
	back  []int64   // when the system had its thread run again
}

// aSwitch is by how many ns a CPU time may be too large for each time that the thread was
// switched off its CPU and on again. The kernel's records of a switch lie a little apart
// from where its CPU clock changes hands: 5 µs as a rule, 7 to 14 beside a full load.
const aSwitch = 10_000

func newIndex(s steal) *index { return &index{byID: map[uint64]*usage{}, steal: s} }

// handler fills the index.
func (x *index) handler() Handler {
	return Handler{
		Interval: func(_ *Facts, v *Interval) { x.add(v) },
		Done:     func(f *Facts) { x.stretches = f.Stretches },
	}
}

// add takes in an interval.
func (x *index) add(v *Interval) {
	off := v.State >= Preempted && v.State <= Stalled || v.State == Blocked
	if !v.On && !off && v.State != Running && v.State != Syscall && (v.State != GC || v.Thread == 0) {
		return
	}
	u := x.byID[v.Goid]
	if u == nil {
		u = &usage{}
		x.byID[v.Goid] = u
	}
	if off {
		u.back = append(u.back, v.To)
		return
	}
	if v.On {
		u.sure.add(v.From, v.To)
		return
	}
	u.maybe.add(v.From, v.To)
}

// at is trace.CPUAt.
func (x *index) at(goid uint64, from, to int64) (int64, format.Quality) {
	i := sort.Search(len(x.stretches), func(k int) bool { return x.stretches[k].To >= to })
	u := x.byID[goid]
	if i == len(x.stretches) || x.stretches[i].From > from || u == nil {
		return 0, format.Unknown
	}
	ns := u.sure.until(to) - u.sure.until(from)
	if more := u.maybe.until(to) - u.maybe.until(from); more > 0 {
		return ns + more, format.AtMost
	}
	if ns > 0 && (x.steal.much(from, to) || u.switches(from, to)*aSwitch*100 > ns) {
		return ns, format.Likely
	}
	return ns, format.Exact
}

// switches is how often the thread came back to a CPU between two times.
func (u *usage) switches(from, to int64) int64 {
	first, _ := slices.BinarySearch(u.back, from)
	after, _ := slices.BinarySearch(u.back, to)
	return int64(after - first)
}

// stretches are stretches of time, none of which touch, by time.
type stretches struct {
	list []stretch
	sum  int64 // of all
	end  int64 // of the last
}

// stretch begins at from, and sum is what those before it have together; so its length
// is what the next one's sum has more.
type stretch struct{ from, sum int64 }

func (s *stretches) add(from, to int64) {
	if len(s.list) == 0 || from > s.end {
		s.list = append(s.list, stretch{from, s.sum})
	} else {
		from = s.end
	}
	if to > from {
		s.sum += to - from
		s.end = to
	}
}

// until is how much of them is before t.
func (s *stretches) until(t int64) int64 {
	i := sort.Search(len(s.list), func(k int) bool { return s.list[k].from >= t })
	if i == 0 {
		return 0
	}
	next := s.sum
	if i < len(s.list) {
		next = s.list[i].sum
	}
	x := s.list[i-1]
	return min(x.sum+t-x.from, next)
}
