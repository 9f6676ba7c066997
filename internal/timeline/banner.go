package timeline

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
)

func stateOf(writer string) analysis.State {
	switch writer {
	case WriterClosed:
		return analysis.StateClosed
	case WriterRunning:
		return analysis.StateWriting
	case WriterGone:
		return analysis.StateAbandoned
	}
	return analysis.StateUnknown
}

// banner returns what a reader must know to interpret the page: losses first.
func banner(r *analysis.Report, o MetaOptions) []Said {
	b := []Said{}
	say := func(level, text string) {
		if text != "" {
			b = append(b, Said{level, text})
		}
	}
	if line := analysis.LossLine(r.Trace); line != "" {
		say("loss", line+gapsText(r))
	}
	if line := analysis.ExcerptLine(r.Trace); line != "" {
		say("note", capital(line)+".")
	}
	if line := analysis.OverwrittenLine(r.Trace); line != "" {
		say("note", "A ring: "+line+".")
	}
	say("loss", damageText(r))
	if o.Writer == WriterGone {
		say("warn", goneText(r))
	}
	if line := analysis.CoolLine(r.Trace); line != "" {
		say("warn", capital(line)+".")
	}
	say("note", o.Part)
	say("warn", reducedText(r, o))
	say("note", openText(r, o))
	for _, f := range r.Census.Forgotten() {
		say("warn", analysis.Hint(r.Trace.Name(f.Name), f))
	}
	for _, s := range r.Trace.Breaks() {
		say("warn", fmt.Sprintf("At %s the clock stepped to %s: durations across are unknown.", show.Duration(s.From), show.Duration(s.To)))
	}
	if o.States != nil {
		for _, p := range o.States.Problems {
			say("warn", p)
		}
	}
	if o.StateRes > 0 {
		say("note", fmt.Sprintf("Of goroutines' states, neighbours shorter than %s are merged into one, which has the state that took most of it.", show.Duration(o.StateRes)))
	}
	say("note", strings.TrimSpace(unknownText(r)+" "+costText(r)))
	if o.Writer == WriterUnknown {
		say("note", fmt.Sprintf("The trace was not closed; it is not known here whether process %d still writes it.", r.Trace.Header().PID))
	}
	return b
}

// damageText describes the damage of the trace.
func damageText(r *analysis.Report) string {
	damage := analysis.Damage(r.Trace.Problems())
	if len(damage) == 0 {
		return ""
	}
	text := "The trace is damaged: the readable part is shown. " + capital(analysis.ProblemText(&damage[0]))
	if more := len(damage) - 1; more > 0 {
		text += fmt.Sprintf("; and %s of other kinds", show.Plural(int64(more), "defect"))
	}
	return text + "."
}

// goneText describes the end of a program that did not call Stop.
func goneText(r *analysis.Report) string {
	here := "its records up to then are here"
	if r.Trace.LacksHotPart() {
		here = "its records up to then are here, except for the end"
	}
	return fmt.Sprintf("The program (process %d) ended, or was killed, without Stop: %s.", r.Trace.Header().PID, here)
}

// openText describes scopes without an end.
func openText(r *analysis.Report, o MetaOptions) string {
	n, left := r.Census.OpenScopes(), int64(0)
	for _, k := range r.Census.Left {
		left += k
	}
	text := ""
	switch n -= left; {
	case n == 0 || o.Writer == WriterRunning:
	case o.Writer == WriterUnknown:
		text = show.Plural(n, "scope") + " had not ended: running, or cut off. "
	default:
		text = show.Plural(n, "scope") + " had not ended when the recording did; each is drawn to the end, with a torn edge. "
	}
	if left > 0 {
		text += show.Plural(left, "scope") + " never ended; each is drawn to the end of its goroutine, with a torn edge."
	}
	return strings.TrimSpace(text)
}

// gapsText describes the time with the most losses.
func gapsText(r *analysis.Report) string {
	gaps := r.Trace.Gaps()
	if len(gaps) == 0 {
		return "."
	}
	most := gaps[0]
	for _, g := range gaps {
		if g.Count > most.Count {
			most = g
		}
	}
	when := fmt.Sprintf("from %s to %s", show.Duration(most.From), show.Duration(most.To))
	if len(gaps) == 1 {
		return "; " + when + "."
	}
	return fmt.Sprintf("; in %s stretches, most (%s) %s.", show.Count(int64(len(gaps))), show.Count(most.Count), when)
}

// costText describes the cost of recording.
func costText(r *analysis.Report) string {
	if _, ok := r.Cost.Share(0); !ok {
		return ""
	}
	return "Recording cost " + analysis.CostText(r.Trace, r.Cost) + "."
}

// unknownText describes tasks of unknown CPU time.
func unknownText(r *analysis.Report) string {
	var all int64
	for _, n := range r.Census.CPU {
		all += n
	}
	unknown := r.Census.CPU[format.Unknown]
	if unknown == 0 {
		return ""
	}
	why := "their goroutines yielded more than once"
	if r.Trace.Lookup(gotrace.FactMade) != "" {
		why = "another goroutine ended them, or they ran outside the time that the Go execution trace covers"
	} else if need := uint32(format.WitnessYield | format.WitnessSwitch); r.Trace.Header().Witness&need != need {
		why = "the recorder could not see when they yielded (About has the reason)"
	}
	return fmt.Sprintf("The CPU time of %s of the scopes is unknown: %s.", show.Percent(float64(unknown)/float64(all)), why)
}

// reducedText reports that the page does not have every scope, and how to see more.
func reducedText(r *analysis.Report, o MetaOptions) string {
	if o.Tile == nil || o.Tile.Res == 0 {
		return ""
	}
	text := fmt.Sprintf("Of %s, neighbours shorter than %s are merged into one; longer ones are all here.",
		show.Plural(r.Census.Total(), "record"), show.Duration(o.Tile.Res))
	if o.More != "" {
		text += " " + o.More
	}
	return text
}

func capital(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}
