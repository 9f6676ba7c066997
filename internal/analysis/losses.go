package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// lossReasons explain the reasons of losses; each follows the number.
var lossReasons = []string{
	format.LossWindow: "because no room was prepared for them in time",
	format.LossLimit:  "after the trace had reached its limit",
	format.LossSpace:  "while the file system was nearly full, or a quota or a limit of file sizes or of memory nearly reached",
	format.LossIO:     "because the file could not be written, or not in time, or its memory not be mapped",
	format.LossBusy:   "because their goroutine was moved to another processor at each attempt",
	format.LossStop:   "begun while the recording stopped",
	format.LossEnd:    "were ends without room in the trace: their scopes show as open",
	format.LossStack:  "were stacks that came faster than they could be counted",
	format.LossOpen:   "were open when the ring overwrote where they begin, more than it keeps: they are missing, or their ends have no name",
	format.LossBuffer: "because the trace's buffer was full",
}

// loss is the number of records that were lost for one reason; 0: unknown.
type loss struct {
	Reason format.Loss
	Count  int64
	in     recording
}

// Losses returns the losses by reason, the largest first.
func Losses(t *trace.Trace) (list []loss, total int64) {
	in := recordingOf(t)
	for reason, n := range t.Lost() {
		list = append(list, loss{reason, n, in})
		total += min(n, math.MaxInt64-total)
	}
	// The header's count may be ahead of the heartbeats and gaps that have the reasons.
	if more := t.State().Lost - total; more > 0 {
		list = append(list, loss{Count: more})
		total += more
	}
	slices.SortFunc(list, func(a, b loss) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return list, total
}

func (l loss) String() string {
	why := "for a reason that is not recorded"
	switch {
	case l.Reason > 0 && int(l.Reason) < len(lossReasons):
		why = lossReasons[l.Reason]
	case l.Reason != 0:
		why = "for the reason " + l.Reason.String()
	}
	if size := l.in.bufferSize(); l.Reason == format.LossBuffer && size != "" {
		why = "because the trace's buffer (" + size + ") was full"
	}
	return show.Count(l.Count) + " " + why
}

// LossLine describes in one line the losses, and from when on they are unknown; it is empty
// if there are none.
func LossLine(t *trace.Trace) string {
	lines := []string{LossText(Losses(t)), gotrace.Lost(t), UnknownLosses(t)}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "; ")
}

// UnknownLosses describes from when on losses are unknown; it is empty if all are known.
func UnknownLosses(t *trace.Trace) string {
	if unread := t.Lookup(gotrace.FactUnread); unread != "" {
		return show.Name(unread)
	}
	until, all := t.LossesUntil()
	if all {
		return ""
	}
	if t.Miscounted() {
		return "losses are not known: the trace's counters have impossible values, so another program has written to the file"
	}
	return "what was lost after " + show.Duration(until) + " is not known: it was counted in memory only"
}

// LossText describes losses and their remedies; it is empty without any.
func LossText(list []loss, total int64) string {
	if total == 0 {
		return ""
	}
	var whys []string
	for _, l := range list {
		why := l.String()
		if remedy := l.in.remedy(l.Reason); remedy != "" {
			why += " (" + remedy + ")"
		}
		whys = append(whys, why)
	}
	verb := "records were"
	if total == 1 {
		verb = "record was"
	}
	return fmt.Sprintf("%s %s lost: %s", show.Count(total), verb, strings.Join(whys, "; "))
}

// Damage returns the problems that no correct writer leaves.
func Damage(problems []trace.Problem) []trace.Problem {
	return slices.DeleteFunc(problems, func(p trace.Problem) bool { return !p.Damage() })
}

// ProblemText describes a problem with its offset.
func ProblemText(p *trace.Problem) string {
	text := fmt.Sprintf("at offset %d: %s", p.Offset, show.Text(p.Text))
	if p.Count > 1 {
		text += fmt.Sprintf(" (%s times, here first)", show.Count(p.Count))
	}
	return text
}

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

// ExcerptLine describes in one line which time of a recording t has, if it is an excerpt, and what the
// trace that it was made of lacked; otherwise it is empty.
func ExcerptLine(t *trace.Trace) string {
	from, to, ok := t.Excerpt()
	if !ok {
		return ""
	}
	line := fmt.Sprintf("an excerpt: from %s to %s of a recording of %s", show.Duration(from), show.Duration(to), show.Duration(t.End()))
	if lacks := t.Lookup(trace.FactExcerptLacks); lacks != "" {
		line += "; in that: " + show.Name(lacks)
	}
	return line
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
