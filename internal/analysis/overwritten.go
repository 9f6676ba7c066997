package analysis

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// OverwrittenLine tells in a line what a ring let go of, which is what it is for
// and no loss; it is empty where there is nothing to tell.
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

// ring tells of what a ring has and has not.
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
