package states

import (
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// steal holds the heartbeats' values of the machine: how long all CPUs had worked, and
// how long a host had run others on them while they had work. Switches do not show that:
// to them a thread is on its CPU all the time.
type steal []struct{ at, busy, steal int64 }

// mostStolen is the share of the machine's work, in percent, up to which a CPU time from
// switches counts as exact.
const mostStolen = 1

// stealOf reads the heartbeats. Old traces and other systems do not have the values: then
// no time counts as stolen.
func stealOf(t *trace.Trace) (s steal) {
	for _, b := range t.Beats() {
		busy, ok1 := b.Value(format.FieldMachineBusy)
		steal, ok2 := b.Value(format.FieldSteal)
		if ok1 && ok2 {
			s = append(s, struct{ at, busy, steal int64 }{b.Time, busy, steal})
		}
	}
	return s
}

// between returns the values for the time between two moments: from the last heartbeat
// before the first to the first one after the last. Outside of the heartbeats it uses the
// nearest pair.
func (s steal) between(from, to int64) (busy, steal int64) {
	if len(s) < 2 {
		return 0, 0
	}
	i := sort.Search(len(s), func(k int) bool { return s[k].at > from }) - 1
	k := sort.Search(len(s), func(k int) bool { return s[k].at >= to })
	i = min(max(i, 0), len(s)-2)
	k = min(max(k, i+1), len(s)-1)
	return max(s[k].busy-s[i].busy, 0), max(s[k].steal-s[i].steal, 0)
}

// much reports whether a CPU time between two moments may be too large by more than
// mostStolen, assuming that the host takes time from all threads alike.
func (s steal) much(from, to int64) bool {
	busy, steal := s.between(from, to)
	return float64(steal)*100 > mostStolen*(float64(busy)+float64(steal))
}
