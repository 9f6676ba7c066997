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
	Names []string // empty where they are many
}

// FunctionsLeftOut reads what the trace has of functions that were left out when the program was
// built. What is not written as expected is no reason, and is passed over.
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

// String says how many are left out, and why.
func (l LeftOut) String() string {
	text := show.Count(l.Count) + " left out when it was built: " + show.Name(l.Why)
	const most = 3
	if n := len(l.Names); n > 0 && n <= most {
		text += " (" + show.Name(strings.Join(l.Names, ", ")) + ")"
	}
	return text
}

// switchedOff says how many functions were not recorded at each call, and of how many calls
// that is: "" where there is none.
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
	who := "it "
	if functions > 1 {
		who = "each "
	}
	return show.Plural(functions, "function") + " not recorded at each call (" + callsText(calls, unseen) + " missing), because " + who + Budget
}

// NotRecorded says in a line each which functions, or calls of them, are not in the trace, and why.
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
