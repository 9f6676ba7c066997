package analysis

import "github.com/scopeview/scopeview/internal/trace"

const (
	notRecorded = 4    // ns, about: what a call costs that is counted only
	hotPart     = 0.25 // of the budget is for calls that are not recorded
)

// TooHot are the functions that are called too often for a program that is to be recorded within
// share of its CPU time: left out when it is built, they cost nothing. Of those whose calls were
// not all recorded they are the most called ones, as many as it takes for the others to be counted
// within a quarter of the share. There are none where the CPU time is not known.
func TooHot(t *trace.Trace, share float64) []trace.Called {
	used := RecordingCost(t.Beats()).Process
	if used <= 0 {
		return nil
	}
	calls := t.Calls() // the most called first
	rest := int64(0)
	for _, c := range calls {
		rest += min(c.All(), 1<<62-rest)
	}
	room := int64(float64(used) * share * hotPart / notRecorded)
	for i, c := range calls {
		if rest <= room {
			return calls[:i]
		}
		rest -= c.All()
	}
	return calls
}
