package analysis

import "github.com/scopeview/scopeview/internal/trace"

const (
	notRecorded = 4    // ns, about: the cost of a call that is only counted
	hotPart     = 0.25 // part of the budget for calls that are not recorded
)

// TooHot returns the functions that are called too often to be recorded within share of the
// program's CPU time: left out when it is built, they cost nothing. Of the functions whose
// calls were not all recorded it returns the most called ones, as many as necessary to count
// the others within a quarter of the share. It returns none if the CPU time is not known.
func TooHot(t *trace.Trace, share float64) []trace.CallCount {
	used := RecordingCost(t.Beats()).Process
	if used <= 0 {
		return nil
	}
	calls := t.Calls() // most called first
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
