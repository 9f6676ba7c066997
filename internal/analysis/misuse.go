package analysis

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// misuses are the heartbeat's counters of wrong calls, and of data that the recorder
// dropped. The texts follow the number.
var misuses = []struct {
	field format.Field
	text  string
}{
	{format.FieldDoubleEnds, "ends of scopes that had ended"},
	{format.FieldStaleEnds, "ends after Stop, or of an earlier recording"},
	{format.FieldForeignEnds, "ends on another goroutine than the begin's (legal; their CPU time is unknown)"},
	{format.FieldOtherNames, "records under (other names): too many different names"},
	{format.FieldArgsCut, "records whose arguments or strings were cut"},
	{format.FieldClamped, "CPU times clamped to the wall time"},
	{format.FieldHotFaults, "page faults that the program took in the trace's pages"},
	{format.FieldPrepared, "chunks that the program prepared itself, in some 10 to 120 µs each: it recorded faster than the recorder could prepare them"},
}

// oddities reports what looks wrong, and what the operator changed.
func (r *Report) oddities(l *facts) {
	label := "misuse, limits"
	for _, m := range misuses {
		if n, ok := r.beat(m.field); ok && n > 0 {
			l.add(label, show.Count(n)+" "+m.text)
			label = ""
		}
	}
	for _, n := range r.Trace.Notes {
		l.add("note", fmt.Sprintf("at %s: %s", show.Duration(n.Time), show.Text(n.Text)))
	}
	for _, b := range r.Trace.Breaks() {
		l.loud("clock step", fmt.Sprintf("at %s the clock stepped to %s: durations across are unknown", show.Duration(b.From), show.Duration(b.To)), Odd)
	}
	for _, p := range r.Trace.Problems() {
		text := ProblemText(&p)
		if p.Damage() {
			l.loud("damage", text, Loud)
		} else {
			l.add("incomplete", text)
		}
	}
	for _, f := range r.Census.Forgotten() {
		l.loud("hint", Hint(r.Trace.Name(f.Name), f), Odd)
	}
}

// Hint asks about a name that was begun often and never ended. A record does not show
// whether Task or Begin made it; it has a link if Context did.
func Hint(name string, f forgotten) string {
	q := strconv.QuoteToGraphic(name)
	second := "is the second () missing in `defer scope."
	var why string
	switch {
	case f.Kind == format.KindTask && f.Linked:
		why = "is `defer span.End()` missing after `scope.Context(ctx, " + q + ")`?"
	case f.Kind == format.KindTask:
		why = second + "Task(" + q + ")()`, or the End of `scope.Begin(" + q + ")`?"
	case f.Kind == format.KindTaskf:
		why = second + "Taskf(" + q + ", …)()`?"
	case f.Kind == format.KindProcess:
		why = second + "Process(" + q + ")()`?"
	case f.Kind == format.KindPending:
		why = second + "Pending(" + q + ")()`?"
	default:
		why = second + "Lock(&mu, " + q + ")()`?"
	}
	return fmt.Sprintf("%s began %s times and never ended: %s", show.Name(name), show.Count(f.Begun), why)
}
