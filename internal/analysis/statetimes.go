package analysis

import (
	"sort"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
)

// StateTimes are ns by state.
type StateTimes [states.Count]int64

// Sum returns the sum over all states.
func (t *StateTimes) Sum() (ns int64) {
	for _, d := range t {
		ns += d
	}
	return ns
}

// stateIndex computes how long a goroutine was in each state between two times. It takes
// some nine bytes for each interval, and a query at most a microsecond, however many
// intervals lie between.
type stateIndex struct {
	byGoid map[uint64]*stateLine
}

// stateLine has a goroutine's intervals: each begins where the one before ends.
type stateLine struct {
	steps []uint64 // begin of an interval, shifted, and its state in the lowest bits
	end   int64    // of the last interval
	sums  []StateTimes
}

const (
	stateBits = 5   // 32 states at most
	sumEvery  = 256 // number of intervals between two sums of all intervals before
)

// newStateIndex returns an empty one.
func newStateIndex() *stateIndex { return &stateIndex{byGoid: map[uint64]*stateLine{}} }

// add adds an interval; those of a goroutine come by time.
func (x *stateIndex) add(v *states.Interval) {
	l := x.byGoid[v.Goid]
	if l == nil {
		l = &stateLine{end: v.From}
		x.byGoid[v.Goid] = l
	}
	if v.From > l.end {
		l.step(l.end, states.Unknown)
		l.end = v.From
	}
	if v.To <= l.end {
		return
	}
	l.step(l.end, v.State)
	l.end = v.To
}

func (l *stateLine) step(from int64, s states.State) {
	n := len(l.steps)
	if n > 0 && l.state(n-1) == s {
		return
	}
	if n%sumEvery == 0 && n > 0 {
		var sum StateTimes
		if k := len(l.sums); k > 0 {
			sum = l.sums[k-1]
		}
		for i := n - sumEvery; i < n; i++ {
			to := from
			if i+1 < n {
				to = l.from(i + 1)
			}
			sum[l.state(i)] += to - l.from(i)
		}
		l.sums = append(l.sums, sum)
	}
	l.steps = append(l.steps, uint64(from)<<stateBits|uint64(s))
}

func (l *stateLine) from(i int) int64         { return int64(l.steps[i]) >> stateBits }
func (l *stateLine) state(i int) states.State { return states.State(l.steps[i] & (1<<stateBits - 1)) }

// between adds to t the goroutine's states between two times; time without an interval
// counts as Unknown.
func (x *stateIndex) between(t *StateTimes, goid uint64, from, to int64) {
	if to <= from {
		return
	}
	l := x.byGoid[goid]
	if l == nil || len(l.steps) == 0 || from >= l.end || to <= l.from(0) {
		t[states.Unknown] += to - from
		return
	}
	if first := l.from(0); from < first {
		t[states.Unknown] += first - from
		from = first
	}
	if to > l.end {
		t[states.Unknown] += to - l.end
		to = l.end
	}
	i := l.at(from)
	j := l.at(to - 1)
	if j-i > 2*sumEvery {
		l.until(t, to, 1)
		l.until(t, from, -1)
		return
	}
	for ; i <= j; i++ {
		end := to
		if i < j {
			end = l.from(i + 1)
		}
		t[l.state(i)] += end - from
		from = end
	}
}

// at returns the index of the interval that contains t.
func (l *stateLine) at(t int64) int {
	return sort.Search(len(l.steps), func(i int) bool { return l.from(i) > t }) - 1
}

// until adds n times the states up to t.
func (l *stateLine) until(sum *StateTimes, t, n int64) {
	last := l.at(t)
	i := 0
	if k := last / sumEvery; k > 0 {
		for s, d := range l.sums[k-1] {
			sum[s] += n * d
		}
		i = k * sumEvery
	}
	for ; i <= last; i++ {
		end := t
		if i < last {
			end = l.from(i + 1)
		}
		sum[l.state(i)] += n * (end - l.from(i))
	}
}

// StateArgs makes the arguments of a stretch of a goroutine's time, the same in every
// export: "reason", Go's word for a wait, "at", the place of the goroutine, "by" and
// "by_at", the goroutine that woke it at the end and its place.
type StateArgs struct {
	places map[uint32]string // by stack
	list   []args.Arg
}

// List returns the arguments; they are valid until the next call.
func (a *StateArgs) List(f *states.Facts, v *states.Interval) []args.Arg {
	a.list = a.list[:0]
	a.text("reason", v.ReasonName)
	a.text("at", a.place(f, v.Stack))
	if v.By != 0 {
		a.list = append(a.list, args.Arg{Key: "by", Value: format.Slot{Type: format.SlotUint, Value: v.By}})
	}
	a.text("by_at", a.place(f, v.ByStack))
	return a.list
}

func (a *StateArgs) text(key, s string) {
	if s != "" {
		a.list = append(a.list, args.Arg{Key: key, Value: format.Slot{Type: format.SlotString, Str: []byte(s), Full: len(s)}})
	}
}

// place returns the program's first frame of a stack.
func (a *StateArgs) place(f *states.Facts, stack uint32) string {
	if a.places == nil {
		a.places = map[uint32]string{}
	}
	s, ok := a.places[stack]
	if !ok {
		s = firstFrame(f.Stack(stack))
		a.places[stack] = s
	}
	return s
}
