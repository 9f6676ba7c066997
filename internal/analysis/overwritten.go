package analysis

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// OverwrittenLine describes in one line what a ring has overwritten, which is no loss; it is
// empty if there is nothing.
func OverwrittenLine(t *trace.Trace) string {
	o := t.Overwritten()
	if o.Records == 0 {
		return ringsOf(t)
	}
	verb := "older records were"
	if o.Records == 1 {
		verb = "older record was"
	}
	return fmt.Sprintf("%s %s overwritten; what began after %s is whole", show.Count(o.Records), verb, show.Duration(o.Until))
}

// ring describes the size of a ring and what it has overwritten.
func (r *Report) ring(l *facts) {
	size := r.Trace.Ring()
	if size == 0 {
		return
	}
	text := "the last " + show.Size(size) + " are kept"
	if line := OverwrittenLine(r.Trace); line != "" {
		text += "; " + line
	} else {
		text += "; nothing was overwritten yet"
	}
	l.add("ring", text)
}
