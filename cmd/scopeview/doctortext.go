package main

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/scopeview/scopeview/internal/doctor"
)

// doctorText writes a report for people: first what is wrong.
func doctorText(w io.Writer, r *doctor.Report, path string, st styles) error {
	var b bytes.Buffer
	nothing := "nothing is wrong that can be told from this trace\n\n"
	if r.Starved != nil {
		fmt.Fprintf(&b, "%s %s\n\n", st.yellow("starved:"), r.Starved.Text)
		nothing = "nothing else can be told from this trace\n\n"
	}
	for i := range r.Findings {
		doctorFinding(&b, &r.Findings[i], path, st)
	}
	if len(r.Findings) == 0 {
		b.WriteString(nothing)
	}
	if err := speedup(&b, r, st); err != nil {
		return err
	}
	for i := range r.CriticalPath {
		if err := criticalPath(&b, &r.CriticalPath[i], st); err != nil {
			return err
		}
	}
	for _, u := range r.Unexamined {
		var names []string
		for _, v := range u.Verdicts {
			names = append(names, string(v))
		}
		fmt.Fprintf(&b, "%s %s\n  because %s\n  %s\n", st.yellow("not looked for:"), strings.Join(names, ", "), u.Why, u.How)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%s %s\n", st.yellow("note:"), harmless(n))
	}
	_, err := b.WriteTo(w)
	return err
}

func doctorFinding(b *bytes.Buffer, f *doctor.Finding, path string, st styles) {
	fmt.Fprintf(b, "%s %s\n", st.red(string(f.Verdict)+":"), f.Text)
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "    %s\n", e)
	}
	gain := "gain unknown"
	if f.Gain.Known() {
		gain = "gain about " + percent(float64(f.Gain))
	}
	fmt.Fprintf(b, "    share %s, %s, %s; from %s to %s: %s\n\n", percent(f.Share), gain, sure(f.Confidence), humane(f.FromNS), humane(f.ToNS), st.dim(link(f, path)))
}

// sure is a confidence in words.
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

// link is how to look at a finding on the page.
func link(f *doctor.Finding, path string) string {
	fragment := url.Values{"tab": {"doctor"}, "finding": {string(f.Verdict) + ":" + f.Object}}
	return "scopeview serve " + show(path) + ", #" + fragment.Encode()
}

// barWidth is how long a bar of the whole is.
const barWidth = 30

func bar(share float64) string { return strings.Repeat("#", int(share*barWidth+0.5)) }

// speedup writes where the cores' time went, and how many goroutines ran at once.
func speedup(b *bytes.Buffer, r *doctor.Report, st styles) error {
	if len(r.Speedup) > 0 {
		fmt.Fprintf(b, "%s\n", st.bold(fmt.Sprintf("where the time of %.4g cores went, on average (%s):", r.Cores.Count, r.Cores.Why)))
		t := newTable("<  ", "cores", "", "<")
		for i, s := range r.Speedup {
			share := s.Cores / r.Cores.Count
			if i > 0 && share < 0.005 {
				continue
			}
			t.add("  "+s.Name, fmt.Sprintf("%.2f", s.Cores), percent(share), bar(share))
		}
		if err := t.write(b, st); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	if len(r.Parallelism) > 0 {
		fmt.Fprintf(b, "%s\n", st.bold("goroutines that ran at once, of the time:"))
		t := newTable("running", "time", "<")
		for n, share := range r.Parallelism {
			if share >= 0.0005 {
				t.add(fmt.Sprint(n), percent(share), bar(share))
			}
		}
		if err := t.write(b, st); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return nil
}

// pathParts is how many parts of a critical path are shown; --json has more.
const pathParts = 6

func criticalPath(b *bytes.Buffer, p *doctor.Path, st styles) error {
	head := "critical path of the run, " + humane(p.Time)
	if p.Of != "" {
		of := plural(p.All, "scope")
		if p.Count < p.All {
			of = thousands(p.Count) + " of " + of
		}
		head = fmt.Sprintf("critical path of %s (%s), %s", show(p.Of), of, humane(p.Time))
	}
	fmt.Fprintf(b, "%s\n", st.bold(head+":"))
	if len(p.Parts) == 0 {
		b.WriteString("  nothing is known of what the goroutines did\n\n")
		return nil
	}
	t := newTable("<  scope", "<state", "time", "share")
	for _, x := range p.Parts[:min(len(p.Parts), pathParts)] {
		name := "(no scope)"
		if x.Name != "" {
			name = shorten(show(x.Name), nameWidth)
		}
		t.add("  "+name, x.State, humane(x.Time), percent(x.Share))
	}
	if err := t.write(b, st); err != nil {
		return err
	}
	for _, x := range p.WhatIf {
		fmt.Fprintf(b, "  if %s were free: −%s\n", show(x.Name), percent(x.Gain))
	}
	b.WriteByte('\n')
	return nil
}
