package analysis

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Budget is the reason why not all calls of a function are recorded.
const Budget = "took more than its share of the budget"

// Skipped returns, by name, the functions whose calls were not all recorded. It returns nil
// if only a part of the trace is selected, as the numbers are for the whole.
func (s *Selection) Skipped(t *trace.Trace) map[uint16]trace.CallCount {
	if s.From > 0 || s.To > 0 || !s.Tracks.All() || s.Where != nil {
		return nil
	}
	skipped := map[uint16]trace.CallCount{}
	for _, c := range t.Calls() {
		if c.Skipped() > 0 && s.Names.Match(t.Name(c.Name)) {
			skipped[c.Name] = c
		}
	}
	return skipped
}

// CallCount formats a number of calls, of which unseen are an estimate.
func CallCount(n, unseen int64) string {
	if unseen == 0 {
		return show.Count(n)
	}
	unit := int64(1)
	for n/unit >= 1000 {
		unit *= 10
	}
	return "≈" + show.Count((n+unit/2)/unit*unit)
}

// callsText is like CallCount, with the noun.
func callsText(n, unseen int64) string {
	if n == 1 {
		return "1 call"
	}
	return CallCount(n, unseen) + " calls"
}

// budget reports the functions that were recorded only in part, and those for which even
// that took too much.
func (r *Report) budget(l *facts) {
	if share := r.info("budget"); share != "" {
		l.add("budget", share+" of the CPU time, for functions that are recorded")
	}
	if over := r.info("budget_exceeded"); over != "" {
		l.loud("", over, Loud)
	}
	for i, out := range FunctionsLeftOut(r.Trace) {
		label := ""
		if i == 0 {
			label = "left out"
		}
		l.add(label, out.String())
	}
	all := r.Trace.Calls()
	l.loud("functions", switchedOff(r.Trace), Odd)
	for i, c := range all {
		if i == 5 {
			l.add("", fmt.Sprintf("… and %d more", len(all)-i))
			break
		}
		text := fmt.Sprintf("%s: %s, %s recorded", show.Name(r.Trace.Name(c.Name)), callsText(c.All(), c.Unseen), show.Count(c.Recorded))
		if c.Off {
			text += ", none since " + show.Duration(c.Since)
		}
		l.add("", text)
	}
	for _, out := range []struct{ key, label, what string }{
		{"goroutines_unnamed", "goroutines", "have no name"},
		{"waits_thinned", "waits", "are counted, and have no event"},
		{"releases_unseen", "releases", "of locks were not examined, so their holders then are not known"},
	} {
		if n, err := strconv.ParseInt(r.info(out.key), 10, 64); err == nil && n > 0 {
			l.loud(out.label, show.Count(n)+" "+out.what+", because that would have exceeded its share of the time", Odd)
		}
	}
}

const (
	notRecorded = 4    // ns, about: the cost of a call that is only counted
	hotPart     = 0.25 // part of the budget for calls that are not recorded
)

// TooHot returns the functions that are called too often to be recorded within share of the
// program's CPU time: left out when it is built, they cost nothing. It returns the most
// called of the functions whose calls were not all recorded, as many as necessary to count
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
