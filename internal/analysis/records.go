package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// records reports the number of records, by kind and by the quality of their CPU time.
func (r *Report) records(l *facts) {
	c := &r.Census
	var kinds []string
	for _, k := range r.Kinds() {
		kinds = append(kinds, show.Count(k.Count)+" "+k.Name)
	}
	text := show.Count(c.Total())
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	l.add("records", text+"; and "+show.Plural(int64(len(r.Trace.Beats())), "heartbeat"))
	r.open(l)
	var sum int64
	for _, n := range c.CPU {
		sum += n
	}
	if sum > 0 {
		share := func(q format.Quality) string { return show.Percent(float64(c.CPU[q]) / float64(sum)) }
		l.add("CPU time", fmt.Sprintf("exact for %s of the ended tasks, likely for %s, an upper bound for %s, unknown for %s",
			share(format.Exact), share(format.Likely), share(format.AtMost), share(format.Unknown)))
	}
	if !madeFromGoTrace(r.Trace) {
		l.add("recording cost", CostText(r.Trace, r.Cost))
	}
}

// open reports the records that have not ended, and why.
func (r *Report) open(l *facts) {
	var open, left []string
	for _, k := range r.Kinds() {
		if n := k.Open - k.Left; n > 0 {
			open = append(open, show.Count(n)+" "+k.Name)
		}
		if k.Left > 0 {
			left = append(left, show.Count(k.Left)+" "+k.Name)
		}
	}
	label := "open"
	if len(open) > 0 {
		what := map[State]string{StateWriting: "running", StateUnknown: "running, or cut off"}[r.State]
		if what == "" {
			what = "cut off by the end of the recording"
		}
		if len(r.Trace.GoTraces()) == 0 {
			what += "; without Go's execution trace it is not known whether their goroutines had ended"
		}
		l.add(label, strings.Join(open, ", ")+" ("+what+")")
		label = ""
	}
	if len(left) > 0 {
		l.loud(label, strings.Join(left, ", ")+" (never ended: their goroutines ended without it)", Odd)
	}
}

// CostText describes the cost of recording t in one line.
func CostText(t *trace.Trace, c cost) string {
	measured, okM := c.Share(c.Measured)
	estimated, okE := c.Share(c.Estimated)
	part := func(p float64, ok bool, what string) string {
		if !ok {
			return what + " part unknown"
		}
		return show.Percent(p/100) + " " + what
	}
	if !okM && !okE {
		return "unknown: fewer than two heartbeats have the CPU time"
	}
	text := part(measured, okM, "measured") + ", " + part(estimated, okE, "estimated")
	if c.Unmeasured > 0 {
		text += ", and " + show.Duration(c.Unmeasured) + " of its rounds could not be measured"
	}
	return fmt.Sprintf("at least %s of the CPU used (%s; not measured: %s)", show.Percent((measured+estimated)/100), text, strings.Join(NotMeasured(t), ", "))
}

// kindCount is the number of records of a kind, by its name in the CSV.
type kindCount struct {
	Name        string
	Count, Open int64
	Left        int64 // of Open: left by a goroutine that has ended
}

// Kinds returns the kinds that occur, in the order of the format.
func (r *Report) Kinds() []kindCount {
	var list []kindCount
	at := map[string]int{}
	for _, s := range format.Specs {
		n, open, left := r.Census.Kinds[s.Kind], r.Census.Open[s.Kind], r.Census.Left[s.Kind]
		if n == 0 {
			continue
		}
		name := s.CSV
		if name == "" {
			name = s.Name
		}
		if i, ok := at[name]; ok {
			list[i].Count += n
			list[i].Open += open
			list[i].Left += left
			continue
		}
		at[name] = len(list)
		list = append(list, kindCount{name, n, open, left})
	}
	return list
}
