package compare

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
)

var testView = &report.View{Columns: []report.Column{
	{Name: "total", Unit: report.Nanoseconds, Grows: true, Worse: true}, {Name: "p99", Unit: report.Nanoseconds, Worse: true}, {Name: "count", Unit: report.Count},
}}

// run returns a recording of one second with these rows, whose columns are total, p99 and count.
func run(rows ...report.Row) Run {
	return Run{Figures: &report.Figures{Rows: rows}, length: 1e9}
}

func line(name string, p99 float64) report.Row {
	return report.Row{Name: name, Kind: "scope", Values: []float64{10 * p99, p99, 10}}
}

// TestConditions evaluates conditions on f1.p99, which was 10 ms, and on its neighbours.
func TestConditions(t *testing.T) {
	const ms = 1e6
	a := []Run{run(line("f1", 10*ms), line("store.get", 10*ms), line("a-b", 10*ms), line("gone", 1), line("main.go:7", 10*ms), report.Row{Name: "zero", Values: []float64{0, 0, 0}})}
	b := []Run{run(line("f1", 12*ms), line("store.get", 8*ms), line("a-b", 10*ms), line("new", 1), line("main.go:9", 20*ms), report.Row{Name: "zero", Values: []float64{5, report.NaN, 5}})}
	r := Of(a, b, "test", testView, "p99")
	for _, c := range []struct{ text, want string }{ // want lists the names that meet it
		{"f1.p99+10%", "f1"}, {"f1.p99+19.9%", "f1"}, {"f1.p99+20%", ""}, {"f1.p99+20.5%", ""},
		{"f1.p99+1.5ms", "f1"}, {"f1.p99+2ms", ""}, {"f1.p99-1%", ""}, {"f1.p99+0%", "f1"}, {"f1.count+0", ""},
		{"store.get.p99-10%", "store.get"}, {"store.get.p99-20%", ""}, {"store.get.p99-1500us", "store.get"}, {"store.get.p99+1%", ""},
		{"a-b.p99+1%", ""}, {"*.p99+15%", "main.go:7 f1"}, {"?1.p99+15%", "f1"}, {"*.p99-15%", "store.get"}, {"f1.total/s+10ms", "f1"}, {"f1.total/s+20ms", ""},
		{"main.go:9.p99+50%", "main.go:7"}, {"main.go:7.p99+50%", "main.go:7"}, {"zero.count+4", "zero"}, {"zero.count+900%", "zero"}, {"f1,a-b.p99+0%", "f1"},
	} {
		x, err := ParseCondition(c.text, testView)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		met, err := r.Met(x)
		var names []string
		for _, text := range met {
			if _, text, _ = strings.Cut(text, ": "); text != "" {
				names = append(names, text[:min(strings.LastIndex(text, "."+x.column+" is "), strings.Index(text+" ", " "))])
			}
		}
		if got := strings.Join(names, " "); err != nil || strings.ReplaceAll(got, ".p99", "") != c.want {
			t.Errorf("%s: %q, %v, want %q", c.text, met, err, c.want)
		}
	}
	if met, _ := r.Met(mustParse(t, "f1.p99+10%")); len(met) != 1 || met[0] != "f1.p99+10%: f1.p99 is 12.0ms, was 10.0ms (+20%)" {
		t.Errorf("%q", met)
	}
	for text, want := range map[string]string{
		"g.p99+10%":     `there is no such name; there is `,
		"gone.p99+10%":  "gone.p99 is only in A",
		"new.p99+10%":   "new.p99 is only in B",
		"zero.p99+10%":  "zero.p99 is not known in B",
		"F1.p99+10%":    "f1, ",
		"store.p99+10%": "store.get",
	} {
		if _, err := r.Met(mustParse(t, text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func mustParse(t *testing.T, text string) Condition {
	t.Helper()
	c, err := ParseCondition(text, testView)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConditionErrors: each error cites the condition, and says what to write.
func TestConditionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "NAME.COLUMN+LIMIT",
		"f1":              "NAME.COLUMN+LIMIT",
		"f1.p99":          "NAME.COLUMN+LIMIT",
		"p99+10%":         "NAME.COLUMN+LIMIT",
		".p99+10%":        "NAME.COLUMN+LIMIT",
		"f1.p99+":         "NAME.COLUMN+LIMIT",
		"f1.p98+10%":      "there is no column p98; there is total, total/s, p99, count",
		"f1.p99+10":       "a limit of p99 is 10%, or a time as 5ms",
		"f1.p99+x%":       "a limit of p99 is",
		"f1.p99++5%":      "a limit of p99 is",
		"f1.p99+-5%":      "a limit of p99 is",
		"f1.p99+NaN%":     "a limit of p99 is",
		"f1.p99+Inf%":     "a limit of p99 is",
		"f1.count+5ms":    "a limit of count is 10%, or a number as 100",
		"f1,,f2.p99+10%":  "a pattern is empty",
		"f1.total/m+10%":  "there is no column total/m",
		"f1.p99+1ms+10%":  "a limit of p99 is",
		"f1.p99+10%.p99+": "a limit of p99 is",
	} {
		if c, err := ParseCondition(text, testView); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", text, c, err, want)
		}
	}
}

// TestConditionsOfSeveralRuns: they hold for the whole interval, or not at all.
func TestConditionsOfSeveralRuns(t *testing.T) {
	runs := func(p99 ...float64) (list []Run) {
		for _, v := range p99 {
			rows := []report.Row{line("f1", v)}
			if len(list) == 0 {
				rows = append(rows, line("first", v))
			}
			list = append(list, run(rows...))
		}
		return list
	}
	a, b := runs(1000, 1010, 1020, 1030), runs(1200, 1210, 1220, 1190)
	for _, c := range []struct {
		text string
		a, b []Run
		want bool
	}{
		{"f1.p99+15%", a, b, true},  // 1190 is more than 1.15 × 1030 = 1184.5
		{"f1.p99+16%", a, b, false}, // and less than 1194.8; the medians are 18.7 % apart
		{"f1.p99+159ns", a, b, true}, {"f1.p99+160ns", a, b, false}, {"f1.p99+180ns", a, b, false},
		{"f1.p99-13%", b, a, true},  // 1030 is less than 0.87 × 1190 = 1035.3
		{"f1.p99-14%", b, a, false}, // and more than 1023.4
		{"f1.p99+0%", a, a, false},
		{"f1.p99+15%", a[:2], b[:2], true},
		{"f1.p99+20%", a[:1], b, true}, // without an interval the median counts, which is 1205
		{"f1.p99+20.5%", a[:1], b, false},
	} {
		met, err := Of(c.a, c.b, "test", testView, "p99").Met(mustParse(t, c.text))
		if got := len(met) == 1; got != c.want || err != nil {
			t.Errorf("%s of %d and %d runs: %q, %v", c.text, len(c.a), len(c.b), met, err)
		}
	}
	met, _ := Of(a, b, "test", testView, "p99").Met(mustParse(t, "f1.p99+15%"))
	if want := "f1.p99+15%: f1.p99 is 1.21µs, was 1.01µs (+19%); difference +160ns … +220ns with 97% confidence"; len(met) != 1 || met[0] != want {
		t.Errorf("%q, want %q", met, want)
	}
	if _, err := Of(a, b, "test", testView, "p99").Met(mustParse(t, "first.p99+15%")); err == nil || !strings.Contains(err.Error(), "no interval") {
		t.Errorf("of a name in one run a side: %v", err)
	}
}
