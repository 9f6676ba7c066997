package analysis

import (
	"sort"

	"github.com/scopeview/scopeview/internal/trace"
)

// Breaks are a trace's clock steps, by time; none overlap. The duration of anything that
// lies across one is unknown.
type Breaks []trace.Break

// Across reports whether the clock stepped while e lasted.
func (bs Breaks) Across(e *trace.Event) bool {
	end := e.Start + e.Dur
	n := sort.Search(len(bs), func(i int) bool { return bs[i].From >= end })
	return n > 0 && e.Start < bs[n-1].To
}
