package analysis

import "github.com/scopeview/scopeview/internal/trace"

// Breaks are a trace's clock steps. How long took what lies across one of them
// is unknown.
type Breaks []trace.Break

// Across tells whether the clock stepped while e lasted.
func (bs Breaks) Across(e *trace.Event) bool {
	for i := range bs {
		if e.Start < bs[i].To && e.Start+e.Dur > bs[i].From {
			return true
		}
	}
	return false
}
