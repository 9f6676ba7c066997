package doctor

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// brief writes the report as a page: the problems, their places, and what to try.
func (r found) brief(b *report.Brief) {
	b.More(
		report.Does(b.Command("doctor"), "all numbers, and the critical path"),
		report.Does(b.Command("top", "--brief"), "where the time went, by name"),
		report.Does(b.Command("waits"), "waits, with the holders"),
	)
	b.Line("# scopeview doctor: " + r.title())
	b.Run(r.t)
	if r.End != nil {
		b.Heading("## The program's end")
		b.Line(report.Prose(r.End.Text))
	}
	if r.Starved != nil {
		b.Heading("## Starved")
		b.Line(report.Prose(r.Starved.Text))
	}
	for i := range r.Findings {
		r.briefly(b, i)
	}
	switch {
	case len(r.Findings) > 0:
	case r.End != nil || r.Starved != nil:
		b.Heading("## No other finding")
		b.Line("This trace shows no problem of the program itself.")
	default:
		b.Heading("## No problem found")
		b.Line("This trace shows no problem.")
	}
	b.Heading("## Where the cores' time went")
	b.Item("of "+show.Number(r.Cores.Count)+" cores", r.mostSpent())
	if len(r.CriticalPath) > 0 {
		b.Item("critical path of the run", critical(&r.CriticalPath[0]))
	}
	for i := range r.Slow {
		b.Item("the slowest 1% of "+report.CodeName(r.Slow[i].Of), slowestBriefly(&r.Slow[i]))
	}
	b.Heading("## What is not known, and how to record it")
	for _, u := range r.Unexamined {
		b.Line("- not looked for: " + verdicts(u.Verdicts) + ", because " + report.Prose(u.Why) + ". To know: " + report.Prose(u.How) + ".")
	}
	for _, n := range r.Noted(report.Code, report.Prose) {
		b.Line("- " + n)
	}
	if r.advice != nil {
		b.Heading("## Advice")
		if r.advice.Error != "" {
			b.Line("- " + report.Prose(r.advice.Error) + ".")
		}
		for _, x := range r.advice.Best {
			b.Line("- " + report.Code(x.Place) + ": " + report.Code(x.Advice) + "; saves " + report.Prose(x.Saves))
		}
	}
}

// title names the findings.
func (r found) title() string {
	var list []string
	switch {
	case r.End != nil:
		list = append(list, map[string]string{"exit": "the program failed", "signal": "the program was killed", "deadlock": "deadlock", "unclosed": "the trace ends without Stop"}[r.End.How])
	case r.Starved != nil && len(r.Findings) == 0:
		return "the program lacked CPUs, and no other finding"
	case len(r.Findings) == 0:
		return "no problem found"
	}
	for _, f := range r.Findings[:min(len(r.Findings), 3)] {
		list = append(list, string(f.Verdict))
	}
	text := strings.Join(list, ", ")
	if more := len(r.Findings) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shownEvidence is the number of lines of evidence that are shown of a finding.
const shownEvidence = 5

// briefly writes the finding of that number, its verdict first, because the end is cut where there
// is no room.
func (r found) briefly(b *report.Brief, i int) {
	f := &r.Findings[i]
	w := f.Words(report.Code, report.Prose)
	object := "none named in the trace"
	if f.Object != "" {
		object = report.CodeName(f.Object)
		if f.Placed() {
			object = report.Code(f.Object)
		}
	}
	gain := "unknown"
	if f.Gain >= 0 {
		gain = "about " + show.Percent(f.Gain) + " of the run"
	}
	lines := []string{
		fmt.Sprintf("- verdict: `%s`, %s: %s", f.Verdict, sure(f.Confidence), f.Verdict.Meaning()),
		"- what: " + w.Text,
		"- object: " + object,
	}
	if f.OfLock() {
		holder := w.Holder
		if holder == "" {
			holder = "unknown, or in no scope"
		}
		lines = append(lines, "- holder: "+holder)
	}
	lines = append(lines, "- gain: "+gain+"; share "+show.Percent(f.Share)+"; clearest from "+show.Duration(f.FromNS)+" to "+show.Duration(f.ToNS))
	lines = append(lines, places(f)...)
	lines = append(lines, "- try: "+w.Try)
	for _, e := range w.Evidence[:min(len(w.Evidence), shownEvidence)] {
		lines = append(lines, "- evidence: "+e)
	}
	for _, c := range r.commands(b, f) {
		if c != "" {
			lines = append(lines, "- see: "+c)
		}
	}
	b.Heading(fmt.Sprintf("## Problem %d: %s", i+1, f.Verdict))
	if b.Lines(lines...) || i > 0 {
		return
	}
	for _, l := range lines { // of the first finding, as many lines as fit
		b.Line(l)
	}
}

// places writes the source positions of a finding.
func places(f *doctor.Finding) (lines []string) {
	if len(f.Places()) == 0 {
		return []string{"- source: unknown: the trace has no place for it"}
	}
	for _, p := range f.Places() {
		lines = append(lines, "- source: "+report.SourceLine(p.File, p.Line)+" in "+report.CodeName(p.Function)+": "+doctor.ReplaceMarks(p.What, report.Code, report.Prose)+" here")
	}
	return lines
}

// commands returns the commands that show more of a finding.
func (r found) commands(b *report.Brief, f *doctor.Finding) (list []string) {
	if pattern, ok := report.Glob(f.Object); ok && f.OfLock() {
		list = append(list, b.Command("waits", "--name", pattern, "--stacks"))
	}
	if len(f.Scopes) == 0 {
		return list
	}
	if pattern, ok := report.Glob(f.Scopes[0]); ok {
		if !f.OfLock() && len(r.t.GoTraces()) > 0 {
			list = append(list, b.Command("states", "--name", pattern))
		}
		if samples.Has(r.t) {
			list = append(list, b.Command("profile", "--scope", pattern))
		}
	}
	return list
}

// mostSpent writes where the cores' time went, largest first.
func (r found) mostSpent() string {
	list := r.spent()
	report.SortBy(&spending, list, func(s spent) spent { return s }, "cores", func(a, b spent) int { return 0 })
	var parts []string
	for _, s := range list {
		if s.Share.N >= 0.01 {
			parts = append(parts, s.Name+" "+show.Ratio(s.Cores))
		}
	}
	return strings.Join(parts, ", ")
}

// critical writes the longest parts of a critical path.
func critical(p *doctor.Path) string {
	var parts []string
	for _, x := range p.Parts[:min(len(p.Parts), 3)] {
		name := "no scope"
		if x.Name != "" {
			name = report.CodeName(x.Name)
		}
		parts = append(parts, name+" "+x.State+" "+show.Percent(x.Share))
	}
	return strings.Join(parts, ", ")
}

// slowestBriefly writes what the slowest executions of a scope have more.
func slowestBriefly(s *doctor.Slow) string {
	var list []string
	for i := range s.Roots[:min(len(s.Roots), 2)] {
		list = append(list, show.Percent(s.Roots[i].Share)+" of it: "+s.Roots[i].Words(report.Code, report.Prose))
	}
	return fmt.Sprintf("%s of %s, %s longer than the middle half; %s", show.Count(s.Count), show.Count(s.All), show.Duration(s.Longer), strings.Join(list, "; "))
}

func verdicts(list []doctor.Verdict) string {
	var names []string
	for _, v := range list {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}
