package doctor

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// text writes the report for people: first what is wrong.
func (r found) text(b *report.Text) {
	nothing := "nothing is wrong that can be told from this trace\n\n"
	if r.End != nil {
		fmt.Fprintf(b, "%s %s\n\n", b.Red("ended:"), r.End.Text)
		nothing = "nothing else can be told from this trace\n\n"
	}
	if r.Starved != nil {
		fmt.Fprintf(b, "%s %s\n\n", b.Yellow("starved:"), r.Starved.Text)
		nothing = "nothing else can be told from this trace\n\n"
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
	for _, u := range r.Unexamined {
		var names []string
		for _, v := range u.Verdicts {
			names = append(names, string(v))
		}
		fmt.Fprintf(b, "%s %s\n  because %s\n  %s\n", b.Yellow("not looked for:"), strings.Join(names, ", "), u.Why, u.How)
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
		gain = "gain about " + show.Percent(float64(f.Gain))
	}
	fmt.Fprintf(b, "    share %s, %s, %s; from %s to %s: %s\n\n", show.Percent(f.Share), gain, sure(f.Confidence), show.Duration(f.FromNS), show.Duration(f.ToNS), b.Dim(link(f, r.path)))
}

// advise writes the best of the advice that lies beside the trace.
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

// sure writes a confidence in words.
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
	return fmt.Sprintf("%s (%.2f)", word, c)
}

// link returns how to look at a finding on the page.
func link(f *doctor.Finding, path string) string {
	fragment := url.Values{"tab": {"doctor"}, "finding": {string(f.Verdict) + ":" + f.Object}}
	return "scopeview serve " + show.Name(path) + ", #" + fragment.Encode()
}

// barWidth is how long a bar of the whole is.
const barWidth = 30

func bar(share float64) string { return strings.Repeat("#", int(share*barWidth+0.5)) }

// speedup writes where the cores' time went.
func (r found) speedup(b *report.Text) {
	if len(r.Speedup) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", b.Bold(fmt.Sprintf("where the time of %.4g cores went, on average (%s):", r.Cores.Count, r.Cores.Why)))
	var large []doctor.Slice
	for i, s := range r.Speedup {
		if i == 0 || s.Cores/r.Cores.Count >= 0.005 {
			large = append(large, s)
		}
	}
	report.Grid(b, "", []string{"<  ", "cores", "", "<"}, large, func(s doctor.Slice) []string {
		share := s.Cores / r.Cores.Count
		return []string{"  " + s.Name, fmt.Sprintf("%.2f", s.Cores), show.Percent(share), bar(share)}
	})
	b.WriteByte('\n')
}

// parallelism writes how many goroutines ran at once.
func (r found) parallelism(b *report.Text) {
	if len(r.Parallelism) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", b.Bold("goroutines that ran at once, of the time:"))
	var counts []int
	for n, share := range r.Parallelism {
		if share >= 0.0005 {
			counts = append(counts, n)
		}
	}
	report.Grid(b, "", []string{"running", "time", "<"}, counts, func(n int) []string {
		return []string{fmt.Sprint(n), show.Percent(r.Parallelism[n]), bar(r.Parallelism[n])}
	})
	b.WriteByte('\n')
}

// pathParts is how many parts of a critical path are shown; --json has more.
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
		b.WriteString("  nothing is known of what the goroutines did\n\n")
		return
	}
	report.Grid(b, "", []string{"<  scope", "<state", "time", "share"}, p.Parts[:min(len(p.Parts), pathParts)], func(x doctor.Part) []string {
		name := "(no scope)"
		if x.Name != "" {
			name = report.Name(x.Name)
		}
		return []string{"  " + name, x.State, show.Duration(x.Time), show.Percent(x.Share)}
	})
	for _, x := range p.WhatIf {
		fmt.Fprintf(b, "  if %s were free: −%s\n", show.Name(x.Name), show.Percent(x.Gain))
	}
	b.WriteByte('\n')
}
