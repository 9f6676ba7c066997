package main

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
)

// kindCount is how many records there are of a kind, as the CSV calls it.
type kindCount struct {
	name        string
	count, open int64
}

// kinds lists the kinds that occur, in the order of the format.
func (r *report) kinds() []kindCount {
	var list []kindCount
	at := map[string]int{}
	for _, s := range format.Specs {
		n, open := r.census.Kinds[s.Kind], r.census.Open[s.Kind]
		if n == 0 {
			continue
		}
		name := s.CSV
		if name == "" {
			name = s.Name
		}
		if i, ok := at[name]; ok {
			list[i].count += n
			list[i].open += open
			continue
		}
		at[name] = len(list)
		list = append(list, kindCount{name, n, open})
	}
	return list
}

// misuses are the heartbeat's counters of calls that should not be, and of what
// the recorder had to give up. The texts follow the number.
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
}

// oddities tell what looks wrong and what the operator changed.
func (r *report) oddities(l *lines) {
	label := "misuse, limits"
	for _, m := range misuses {
		if n, ok := r.beat(m.field); ok && n > 0 {
			l.add(label, thousands(n)+" "+m.text)
			label = ""
		}
	}
	for _, n := range r.t.Notes() {
		l.add("note", fmt.Sprintf("at %s: %s", humane(n.Time), harmless(n.Text)))
	}
	for _, b := range r.t.Breaks() {
		l.add("clock step", l.yellow(fmt.Sprintf("at %s the clock stepped to %s: durations across are unknown", humane(b.From), humane(b.To))))
	}
	for _, p := range r.t.Problems() {
		text := problemText(&p)
		if p.Damage() {
			l.add("damage", l.red(text))
		} else {
			l.add("incomplete", text)
		}
	}
	for _, f := range r.census.Forgotten() {
		l.add("hint", l.yellow(hint(r.t.Name(f.Name), f)))
	}
}

// hint asks about a name that was begun often and never ended.
func hint(name string, f analysis.Forgotten) string {
	call := map[format.Kind]string{
		format.KindTask: "Task(%s)", format.KindTaskf: "Taskf(%s, …)", format.KindProcess: "Process(%s)",
		format.KindPending: "Pending(%s)", format.KindHold: "Lock(&mu, %s)",
	}[f.Kind]
	return fmt.Sprintf("%s began %s times and never ended: is the second () missing in `defer scope.%s()`?",
		show(name), thousands(f.Begun), fmt.Sprintf(call, strconv.QuoteToGraphic(name)))
}
