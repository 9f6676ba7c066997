package doctor

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// text writes the report for people, problems first.
func (r found) text(b *report.Text) {
	nothing := "no problem found in this trace\n\n"
	if r.End != nil {
		fmt.Fprintf(b, "%s %s\n\n", b.Red("ended:"), r.End.Text)
		nothing = "no other finding in this trace\n\n"
	}
	if r.Starved != nil {
		fmt.Fprintf(b, "%s %s\n\n", b.Yellow("starved:"), r.Starved.Text)
		nothing = "no other finding in this trace\n\n"
	}
	for i := range r.Findings {
		r.finding(b, &r.Findings[i])
	}
	if len(r.Findings) == 0 {
		b.WriteString(nothing)
	}
	r.speedup(b)
	r.parallelism(b)
	for i := range r.CriticalPath {
		criticalPath(b, &r.CriticalPath[i])
	}
	for i := range r.Slow {
		slowest(b, &r.Slow[i])
	}
	for _, u := range r.Unexamined {
		fmt.Fprintf(b, "%s %s\n  because %s\n  %s\n", b.Yellow("not looked for:"), verdicts(u.Verdicts), u.Why, u.How)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "%s %s\n", b.Yellow("note:"), show.Text(n))
	}
	r.advise(b)
}

func (r found) finding(b *report.Text, f *doctor.Finding) {
	fmt.Fprintf(b, "%s %s\n", b.Red(string(f.Verdict)+":"), f.Text)
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "    %s\n", e)
	}
	gain := "gain unknown"
	if f.Gain >= 0 {
		gain = "gain about " + show.Percent(f.Gain)
	}
	fmt.Fprintf(b, "    share %s, %s, %s; from %s to %s: %s\n\n", show.Percent(f.Share), gain, sure(f.Confidence), show.Duration(f.FromNS), show.Duration(f.ToNS), b.Dim(link(f, r.path)))
}

// advise writes the best of the advice that is stored beside the trace.
func (r found) advise(b *report.Text) {
	a := r.advice
	if a == nil {
		return
	}
	all := "scopeview advise " + show.Name(a.Raw) + " shows all"
	if a.Error != "" {
		fmt.Fprintf(b, "%s %s\n", b.Yellow("advice:"), show.Text(a.Error))
	}
	switch {
	case a.Error != "" && len(a.Best) == 0:
		return
	case len(a.Best) == 0:
		fmt.Fprintf(b, "%s none gains 1%% of the time; %s\n", b.Bold("advice, of the whole run:"), all)
		return
	}
	fmt.Fprintf(b, "%s\n", b.Bold("advice, of the whole run:"))
	for _, x := range a.Best {
		fmt.Fprintf(b, "  %s: %s: %s; saves %s\n", show.Text(x.Place), x.ID, show.Text(x.Advice), x.Saves)
	}
	fmt.Fprintf(b, "  %s\n", b.Dim(all))
}

// sure returns a confidence in words.
func sure(c float64) string {
	word := "a guess"
	switch {
	case c >= 0.8:
		word = "sure"
	case c >= 0.6:
		word = "quite sure"
	case c >= 0.4:
		word = "likely"
	}
	return word + " (" + show.Ratio(c) + ")"
}

// link returns the command and the fragment that show a finding on the page.
func link(f *doctor.Finding, path string) string {
	fragment := url.Values{"tab": {"doctor"}, "finding": {string(f.Verdict) + ":" + f.Object}}
	return "scopeview serve " + show.Name(path) + ", #" + fragment.Encode()
}

// speedup writes where the cores' time went.
func (r found) speedup(b *report.Text) {
	if len(r.Speedup) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", b.Bold(fmt.Sprintf("where the time of %s cores went, on average (%s):", show.Number(r.Cores.Count), r.Cores.Why)))
	all := r.spent()
	spending.Write(b, slices.Concat(all[:1], slices.DeleteFunc(all[1:], func(s spent) bool { return s.Share.N < 0.005 })))
	b.WriteByte('\n')
}

// parallelism writes how many goroutines ran at once.
func (r found) parallelism(b *report.Text) {
	if len(r.Parallelism) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", b.Bold("number of goroutines that ran at once, by share of the time:"))
	var rows []atOnce
	for n, share := range r.Parallelism {
		if share >= 0.0005 {
			rows = append(rows, atOnce{n, share, bar(share)})
		}
	}
	parallelism.Write(b, rows)
	b.WriteByte('\n')
}

// pathParts is the number of parts of a critical path that are shown; --json has more.
const pathParts = 6

func criticalPath(b *report.Text, p *doctor.Path) {
	head := "critical path of the run, " + show.Duration(p.Time)
	if p.Of != "" {
		of := show.Plural(p.All, "scope")
		if p.Count < p.All {
			of = show.Count(p.Count) + " of " + of
		}
		head = fmt.Sprintf("critical path of %s (%s), %s", show.Name(p.Of), of, show.Duration(p.Time))
	}
	fmt.Fprintf(b, "%s\n", b.Bold(head+":"))
	if len(p.Parts) == 0 {
		b.WriteString("  the goroutines' states are not known\n\n")
		return
	}
	parts.Write(b, p.Parts[:min(len(p.Parts), pathParts)])
	for _, x := range p.WhatIf {
		fmt.Fprintf(b, "  if %s were free: -%s\n", show.Name(x.Name), show.Percent(x.Gain))
	}
	b.WriteByte('\n')
}

// slowest writes why the slowest executions of a scope take longer than the others.
func slowest(b *report.Text, s *doctor.Slow) {
	head := fmt.Sprintf("the slowest %s of %s, %s and more, %s longer than the middle half on average", show.Count(s.Count), show.Plural(s.All, "scope")+" "+show.Name(s.Of), show.Duration(s.Limit), show.Duration(s.Longer))
	fmt.Fprintf(b, "%s\n", b.Bold(head+":"))
	roots.Write(b, s.Roots)
	b.WriteByte('\n')
}
