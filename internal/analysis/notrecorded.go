package analysis

import (
	"math"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// LeftOut is a reason why functions were left out when the program was built.
type LeftOut struct {
	Count int64
	Why   string
	Names []string // empty if there are many
}

// FunctionsLeftOut returns the functions that were left out when the program was built, by
// reason. It skips malformed lines.
func FunctionsLeftOut(t *trace.Trace) []LeftOut {
	var list []LeftOut
	for line := range strings.Lines(t.Lookup("functions_left_out")) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		count, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || count <= 0 || len(f) < 2 {
			continue
		}
		l := LeftOut{Count: count, Why: f[1]}
		if len(f) == 3 {
			l.Names = strings.Fields(f[2])
		}
		list = append(list, l)
	}
	return list
}

// String returns the number of functions left out, and why.
func (l LeftOut) String() string {
	text := show.Count(l.Count) + " left out when it was built: " + show.Name(l.Why)
	const most = 3
	if n := len(l.Names); n > 0 && n <= most {
		text += " (" + show.Name(strings.Join(l.Names, ", ")) + ")"
	}
	return text
}

// switchedOff describes the functions that were not recorded at each call, and the number of
// their calls; "" if there are none.
func switchedOff(t *trace.Trace) string {
	var functions, calls, unseen int64
	for _, c := range t.Calls() {
		functions++
		calls += min(c.Skipped(), math.MaxInt64-calls)
		unseen = max(unseen, c.Unseen)
	}
	if functions == 0 {
		return ""
	}
	subject := "it "
	if functions > 1 {
		subject = "each "
	}
	return show.Plural(functions, "function") + " not recorded at each call (" + callsText(calls, unseen) + " missing), because " + subject + Budget
}

// NotRecorded returns a line for each group of functions, or of calls, that is not in the
// trace, with the reason.
func NotRecorded(t *trace.Trace) []string {
	var lines []string
	for _, l := range FunctionsLeftOut(t) {
		lines = append(lines, "functions: "+l.String())
	}
	if off := switchedOff(t); off != "" {
		lines = append(lines, off)
	}
	return lines
}
