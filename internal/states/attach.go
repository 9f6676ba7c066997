package states

import (
	"errors"
	"fmt"
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
// CPUs had work: threads' switches don't tell of that.
//
// The Go trace is read when Events is called first; its memory is 16 bytes for each
// stretch in which a goroutine was on a CPU without a break, and as much for each in which
// it may have been. A trace without one stays as it is.
func Attach(t *trace.Trace) error {
	if len(t.GoTraces()) == 0 {
		return nil
	}
	t.UseCPU(func() (trace.CPUAt, error) {
		x := newIndex(stealOf(t))
		f, err := Read(t, x.add)
		if errors.Is(err, gotrace.ErrNone) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("finding the CPU times of scopes: %w", err)
		}
		x.spans = f.Spans
		return x.at, nil
	})
	return nil
}

// index finds out how long a goroutine was on a CPU between two times.
type index struct {
	spans []gotrace.Span
	byID  map[uint64]*usage
	steal steal
}

// usage is what a goroutine had of CPUs.
type usage struct {
	sure  stretches
	maybe stretches // its thread's whereabouts are not known
}

func newIndex(s steal) *index { return &index{byID: map[uint64]*usage{}, steal: s} }

// add takes in an interval.
func (x *index) add(v *Interval) {
	if !v.On && v.State != Running && v.State != Syscall && (v.State != GC || v.Thread == 0) {
		return
	}
	u := x.byID[v.Goid]
	if u == nil {
		u = &usage{}
		x.byID[v.Goid] = u
	}
	if v.On {
		u.sure.add(v.From, v.To)
		return
	}
	u.maybe.add(v.From, v.To)
}

// at is trace.CPUAt.
func (x *index) at(goid uint64, from, to int64) (int64, format.Quality) {
	i := sort.Search(len(x.spans), func(k int) bool { return x.spans[k].To >= to })
	u := x.byID[goid]
	if i == len(x.spans) || x.spans[i].From > from || u == nil {
		return 0, format.Unknown
	}
	ns := u.sure.until(to) - u.sure.until(from)
	if more := u.maybe.until(to) - u.maybe.until(from); more > 0 {
		return ns + more, format.AtMost
	}
	if ns > 0 && x.steal.much(from, to) {
		return ns, format.Likely
	}
	return ns, format.Exact
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
