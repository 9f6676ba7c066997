package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// records counts the records, by kind and by what is known of their CPU time.
func (r *Report) records(l *facts) {
	c := &r.Census
	var kinds []string
	for _, k := range r.Kinds() {
		kinds = append(kinds, Thousands(k.Count)+" "+k.Name)
	}
	text := Thousands(c.Total())
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	l.add("records", text+"; and "+Plural(int64(len(r.Trace.Beats())), "heartbeat"))
	var open []string
	for _, k := range r.Kinds() {
		if k.Open > 0 {
			open = append(open, Thousands(k.Open)+" "+k.Name)
		}
	}
	if len(open) > 0 {
		what := map[State]string{StateWriting: "running", StateUnknown: "running, or cut off"}[r.State]
		if what == "" {
			what = "cut off by the end of the recording"
		}
		l.add("open", strings.Join(open, ", ")+" ("+what+")")
	}
	var sum int64
	for _, n := range c.CPU {
		sum += n
	}
	if sum > 0 {
		share := func(q format.Quality) string { return Percent(float64(c.CPU[q]) / float64(sum)) }
		l.add("CPU time", fmt.Sprintf("exact for %s of the ended tasks, likely for %s, an upper bound for %s, unknown for %s",
			share(format.Exact), share(format.Likely), share(format.AtMost), share(format.Unknown)))
	}
	if !made(r.Trace) {
		l.add("recording cost", CostText(r.Trace, r.Cost))
	}
}

// CostText is the cost of recording t in a line.
func CostText(t *trace.Trace, c cost) string {
	measured, okM := c.Share(c.Measured)
	estimated, okE := c.Share(c.Estimated)
	part := func(p float64, ok bool, what string) string {
		if !ok {
			return what + " part unknown"
		}
		return tenths(p) + " " + what
	}
	if !okM && !okE {
		return "unknown: it takes two heartbeats that know the CPU time"
	}
	text := part(measured, okM, "measured") + ", " + part(estimated, okE, "estimated")
	if c.Unmeasured > 0 {
		text += ", and " + Humane(c.Unmeasured) + " of its rounds could not be measured"
	}
	return fmt.Sprintf("at least %s %% of the CPU used (%s; not measured: %s)", tenths(measured+estimated), text, strings.Join(NotMeasured(t), ", "))
}

// tenths is a percentage with one digit; what is not 0 does not look like it.
func tenths(p float64) string {
	if p > 0 && p < 0.05 {
		return "<0.1"
	}
	return fmt.Sprintf("%.1f", p)
}

// kindCount is how many records there are of a kind, as the CSV calls it.
type kindCount struct {
	Name        string
	Count, Open int64
}

// Kinds lists the kinds that occur, in the order of the format.
func (r *Report) Kinds() []kindCount {
	var list []kindCount
	at := map[string]int{}
	for _, s := range format.Specs {
		n, open := r.Census.Kinds[s.Kind], r.Census.Open[s.Kind]
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
			continue
		}
		at[name] = len(list)
		list = append(list, kindCount{name, n, open})
	}
	return list
}
