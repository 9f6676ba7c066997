package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/top"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// recorded returns the run of a trace of length ns with these scopes, each given by its name and
// duration.
func recorded(t *testing.T, length int64, scopes ...any) Run {
	t.Helper()
	names, records := "", ""
	for i := 0; i < len(scopes); i += 2 {
		name, start := scopes[i].(string), 2000+10_000*i
		if !strings.Contains(names, fmt.Sprintf("%q", name)) {
			names += fmt.Sprintf("name %d %q\n", i+2, name)
		}
		records += fmt.Sprintf("task %q g=%d start=%d stop=%d\n", name, i+1, start, start+scopes[i+1].(int))
	}
	tr := tracetest.OpenText(t, fmt.Sprintf("header rate=1000000000 start=1000 mono=1000\nstate closed=1 tick=%[1]d\nchunk blocks sealed\n%[2]scalib ticks=1000 mono=1000 wall=1700000000000000000\nstop ticks=%[1]d\nchunk records owner=0 sealed\n%[3]s", length+1000, names, records))
	r, err := Read(context.Background(), &top.View, tr, "x.scope", &analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func of(a, b []Run, order string) *Result { return Of(a, b, "top", &top.View, order) }

// textOf returns the comparison's text, with single blanks between cells.
func textOf(r *Result, limit int) string {
	b := report.Text{Limit: limit}
	r.Report().Text(&b)
	var lines []string
	for l := range strings.Lines(b.String()) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(lines, "\n")
}

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains("\n"+text+"\n", p) {
			t.Errorf("there is no %q in\n%s", p, text)
		}
	}
}

func TestEqual(t *testing.T) {
	a := recorded(t, 1e6, "f1", 100, "f1", 200, "f2", 50)
	r := of([]Run{a}, []Run{a}, "total")
	want(t, textOf(r, 0), "no differences in 2 names of both", "there is no interval")
	for _, x := range r.rows {
		for k := range x.cells {
			if c := &x.cells[k]; c.differs() || c.both() && c.difference() != 0 {
				t.Errorf("%s %s: %+v", x.name, r.columns[k].Name, c)
			}
		}
	}
	if text := textOf(r, 0); strings.Contains(text, "only in") || strings.Contains(text, "lengths") {
		t.Errorf("%s", text)
	}
}

// TestSlower: one scope takes twice as long, one is in A only and one in B only, and the scope that
// changed most comes first.
func TestSlower(t *testing.T) {
	a := recorded(t, 1e6, "f0", 500, "f1", 1000, "f1", 1000, "f2", 50, "old", 7, "main.go:3", 10)
	b := recorded(t, 1e6, "f0", 500, "f1", 2000, "f1", 2000, "f2", 40, "new", 9, "main.go:4", 10)
	text := textOf(of([]Run{a}, []Run{b}, "total"), 0)
	want(t, text,
		"name kind total A total B difference ratio total% count self mean p50 p90 p99 max\n"+
			"f1 scope 2.00µs 4.00µs +2.00µs 2.00 78% → 88% = +100% +100% +100% +100% +100% +100%\n"+
			"f2 scope 50ns 40ns -10ns 0.80 1.9% → 0.9% = -20% -20% -20% -20% -20% -20%\n"+
			"2 more names without any difference\n",
		"\nA old scope 7ns 0.3% 1 7ns 7ns 7ns 7ns 7ns 7ns\nB new scope 9ns ")
	want(t, textOf(of([]Run{a}, []Run{b}, "p99"), 1), "f1 scope 1.00µs 2.00µs +1.00µs 2.00 +100% =", "… and 1 more name (-n 0 shows all)")
	want(t, textOf(of([]Run{a}, []Run{recorded(t, 1e6, "f0", 500, "main.go:4", 30)}, "total"), 0), "main.go:3 → main.go:4 scope 10ns 30ns +20ns 3.00")
}

// TestLengths: columns that grow with the recording are compared per second too.
func TestLengths(t *testing.T) {
	a := recorded(t, 1e6, "f", 100, "f", 100)
	b := recorded(t, 2e6, "f", 100, "f", 100, "f", 100, "f", 100)
	want(t, textOf(of([]Run{a}, []Run{b}, "total"), 0),
		"the lengths of A and B differ, and total, count, self grow with them: ",
		"name kind total A total B difference ratio total/s total% count count/s self self/s self% mean ",
		"f scope 200ns 400ns +200ns 2.00 = = lengths = lengths = = = = = = =\n")
	want(t, textOf(of([]Run{a}, []Run{b}, "count/s"), 0), "f scope 2,000 2,000 0 1.00 lengths = = lengths lengths = = = ")
}

// TestLengthsAlone: a program that did the same work and then was idle has not become slower or
// faster per second; one that worked at the same rate for longer has not become slower in all; and
// other changes are shown as changes.
func TestLengthsAlone(t *testing.T) {
	a := recorded(t, 1e6, "f", 1000, "g", 500)
	idle := recorded(t, 1.75e6, "f", 1010, "g", 900)
	text := textOf(of([]Run{a}, []Run{idle}, "total/s"), 0)
	want(t, text, "f scope 1.00ms 577µs -423µs 0.58 +1.0% ", "g scope 500µs 514µs +14.3µs 1.03 +80% ", " lengths ")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "f ") && strings.Contains(line, "-4") && !strings.Contains(line, "-423µs") {
			t.Errorf("the lengths read as a change: %s", line)
		}
	}
	r := of([]Run{a}, []Run{idle}, "total/s")
	for _, x := range r.rows {
		for k := range x.cells {
			c, name := &x.cells[k], r.columns[k].Name
			if alone := name == "total/s" || name == "self/s" || name == "count/s"; x.name == "f" && (c.lengths != alone || alone && c.differs()) {
				t.Errorf("%s of %s: by lengths alone %v, differs %v", name, x.name, c.lengths, c.differs())
			}
			if (name == "total/s" || name == "total") && x.name == "g" && c.lengths {
				t.Error("g takes 80% more, and that is reported for lengths")
			}
		}
	}
}

// TestRuns: medians, intervals, and differences that the runs can't show.
func TestRuns(t *testing.T) {
	side := func(other int, durations ...int) (runs []Run) {
		for i, d := range durations {
			runs = append(runs, recorded(t, 1e6, "f", d, "g", other+i%2*10, fmt.Sprint("only", i/2), other/10+i))
		}
		return runs
	}
	a, b := side(1000, 100, 110, 120, 130), side(1001, 203, 201, 204, 202)
	r := of(a, b, "total")
	want(t, textOf(r, 0), "values are medians of 4 and 4 runs; interval: of the difference, with 97% confidence; ~",
		"f scope 115ns 203ns +88ns 1.76 +71ns … +104ns 9.4% → 15% = ", "g scope 1.00µs 1.01µs ~ 1.00 -9ns … +11ns 82% → 77% = ~ ~",
		"only0 (2 of 4 of A) (2 of 4 of B) scope 101ns 101ns ~ 1.00 -1ns … +1ns")
	if f := r.rows[0]; f.name != "f" {
		t.Errorf("%s comes before what differs", f.name)
	}
	want(t, textOf(of(a[:3], b[:3], "total"), 0), "with 90% confidence, the most that so few runs give (4 a side give 95%)")
	want(t, textOf(of(a[:1], b, "total"), 0), "there is no interval", "values of several runs are medians", "f scope 100ns 203ns +103ns 2.02 8.3% → 15% = ")
	want(t, textOf(of(a, a, "total"), 0), "f scope 115ns 115ns ~ 1.00 -30ns … +30ns ~ = ~")
}

// TestRunsWithout: a name in one run of a side has no interval there, so no difference is shown.
// For samples, a run without the name counts as 0.
func TestRunsWithout(t *testing.T) {
	v := &report.View{Columns: []report.Column{{Name: "cpu", Unit: report.Nanoseconds, Worse: true}}}
	side := func(values ...float64) (runs []Run) {
		for _, x := range values {
			r := recorded(t, 1e6)
			if r.Rows = nil; x > 0 {
				r.Rows = []report.Row{{Name: "f", Values: []float64{x}}}
			}
			runs = append(runs, r)
		}
		return runs
	}
	a, b := side(0, 0, 0, 10), side(20, 30, 20, 30)
	want(t, textOf(Of(a, b, "test", v, "cpu"), 0), "f (1 of 4 of A) 10ns 25ns ~ 2.50\n")
	v.Sampled = true
	for i := range a[:3] {
		a[i].Rows = []report.Row{{Name: "g", Values: []float64{3}}}
	}
	want(t, textOf(Of(a, b, "test", v, "cpu"), 0), "f (1 of 4 of A) 0ns 25ns +25ns +10ns … +30ns\n")
	a[0].Rows, a[1].Rows = nil, []report.Row{{Name: "g", Values: []float64{3}}} // only the second was sampled at all
	want(t, textOf(Of(a[:2:2], b, "test", v, "cpu"), 0), "A g (1 of 2 of A) 3ns")
	a[2].Rows = nil
	a[3].Rows = append(a[3].Rows, report.Row{Name: "g", Values: []float64{3}})
	want(t, textOf(Of(a, b, "test", v, "cpu"), 0), "f (1 of 4 of A) 5ns 25ns +20ns 5.00 +10ns … +30ns\n")
	want(t, textOf(Of(side(0, 0), b, "test", v, "cpu"), 0), "only in name cpu\nB f 25ns\n")
}

// TestLongNames: a function is shown without its package's path, and matched by its full name.
func TestLongNames(t *testing.T) {
	const long = "example.com/a/package/with/a/very/long/path/store.(*Store).Get"
	r := of([]Run{recorded(t, 1e6, long, 10)}, []Run{recorded(t, 1e6, long, 30)}, "total")
	want(t, textOf(r, 0), "store.(*Store).Get scope 10ns 30ns +20ns")
	c, err := ParseCondition("*/path/store.(*Store).Get.total+10%", &top.View)
	if err != nil {
		t.Fatal(err)
	}
	if met, err := r.Met(c); len(met) != 1 || err != nil {
		t.Errorf("%q, %v", met, err)
	}
	if c, err = ParseCondition("store.(*Store).Get.total+10%", &top.View); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Met(c); err == nil || !strings.Contains(err.Error(), long) {
		t.Errorf("%v", err)
	}
}

// TestNothing: the report says that there is nothing to compare.
func TestNothing(t *testing.T) {
	none := []Run{recorded(t, 1e6)}
	want(t, textOf(of(none, none, "total"), 0), "there is nothing to compare")
	want(t, textOf(of(none, []Run{recorded(t, 1e6, "f", 1)}, "total"), 0), "A and B have no name in common\n\nonly in name kind", "\nB f scope 1ns")
}

// TestUnknown: unknown is not 0, and there is no ratio to 0.
func TestUnknown(t *testing.T) {
	r := Of([]Run{run(report.Row{Name: "f", Values: []float64{report.NaN, 0, 0}})}, []Run{run(report.Row{Name: "f", Values: []float64{5, 3, 0}})}, "test", testView, "total")
	want(t, textOf(&Result{view: "test", columns: r.columns, rows: r.rows, a: []Run{recorded(t, 1e6)}, b: []Run{recorded(t, 1e6)}}, 0), "f - 5ns 0 → 3ns")
	c := r.comparison(r.rows[0]).Columns
	if total, p99, count := c["total"], c["p99"], c["count"]; total.A != nil || *total.B != 5 || total.Difference != nil || total.Ratio != nil || total.Differs ||
		*p99.Difference != 3 || p99.Ratio != nil || !p99.Differs || *count.Difference != 0 || count.Differs || p99.Low != nil {
		t.Errorf("%+v", c)
	}
	if _, err := json.Marshal(r.comparison(r.rows[0])); err != nil {
		t.Error(err)
	}
}

// TestShares: their difference is in percentage points.
func TestShares(t *testing.T) {
	v := &report.View{Columns: []report.Column{{Name: "share", Unit: report.Share}, {Name: "cores", Unit: report.Ratio}}}
	a, b := recorded(t, 1e6), recorded(t, 1e6)
	a.Rows, b.Rows = []report.Row{{Name: "gc", Values: []float64{0.5, 1.25}}}, []report.Row{{Name: "gc", Values: []float64{0.25, 1.5}}}
	want(t, textOf(Of([]Run{a}, []Run{b}, "test", v, "share"), 0), "gc 50% 25% -25pp 0.50 +20%")
	want(t, textOf(Of([]Run{b}, []Run{a}, "test", v, "cores"), 0), "gc 1.50 1.25 -0.25 0.83 +100%")
}

// TestNotes: each note is printed once, with the sides that it is about.
func TestNotes(t *testing.T) {
	a, b := recorded(t, 1e6, "f", 1), recorded(t, 1e6, "f", 1)
	a.Notes, b.Notes = []string{"of both", "of a"}, []string{"of b\x1b[31m", "of both"}
	want(t, textOf(of([]Run{a}, []Run{b}, "total"), 0), "A, B of both\nA of a\nB of b\\x1b[31m\n\nthere is no interval")
	for i := range notesShown {
		a.Notes = append(a.Notes, fmt.Sprint("number ", i))
	}
	want(t, textOf(of([]Run{a}, []Run{b}, "total"), 0), "\nA number 3\n… and 3 more notes (--json has all)\n\n")
}

// TestColour: only deteriorations are red.
func TestColour(t *testing.T) {
	a, b := []Run{recorded(t, 1e6, "f", 100)}, []Run{recorded(t, 1e6, "f", 200)}
	for _, c := range []struct {
		r     *Result
		worse bool
	}{{of(a, b, "mean"), true}, {of(b, a, "mean"), false}, {of(a, []Run{recorded(t, 1e6, "f", 50, "f", 50)}, "count"), false}} {
		text := report.Text{Color: true}
		if c.r.Report().Text(&text); strings.Contains(text.String(), "\x1b[1;31m+100ns\x1b[0m") != c.worse || strings.Count(text.String(), "\x1b[1;31m") > 1 {
			t.Errorf("worse: %v, and the text is %q", c.worse, text.String())
		}
	}
}
