package uitest

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
)

// TestSummaryAgreesWithTop compares every number of the Summary tab with those of
// scopeview top, as far as it shows them.
func TestSummaryAgreesWithTop(t *testing.T) {
	for _, program := range []string{"store", "many"} {
		t.Run(program, func(t *testing.T) {
			trace := storeTrace(t)
			if program != "store" {
				trace = record(t, program, 50_000)
			}
			tb := showTrace(t, trace, browser.View{})
			tb.press("Digit2")
			v, top := tb.table("#panel"), topOf(t, trace)
			if len(v.Rows) != len(top.Scopes) {
				t.Errorf("the page has %d names, top has %d", len(v.Rows), len(top.Scopes))
			}
			for _, s := range top.Scopes {
				compareRow(t, v, s)
			}
		})
	}
}

func compareRow(t *testing.T, v *table, s topScope) {
	t.Helper()
	at := slices.IndexFunc(v.Rows, func(row []string) bool { return row[v.column(t, "name")] == s.Name })
	if at < 0 {
		t.Errorf("the page has no row for %s", s.Name)
		return
	}
	for title, want := range map[string]*float64{
		"total": &s.Total, "self": s.Self, "mean": s.Mean, "min": s.Min, "p50": s.P50, "p99": s.P99, "max": s.Max, "cpu": s.CPU,
	} {
		text := v.Rows[at][v.column(t, title)]
		if want == nil {
			if text != "-" {
				t.Errorf("%s of %s is %q, top knows none", title, s.Name, text)
			}
			continue
		}
		got, ok := nanoseconds(text)
		// Three digits are shown, and top's quantiles are of a histogram.
		tolerance := 0.006
		if title[0] == 'p' {
			tolerance = 0.04
		}
		if !ok || math.Abs(got-*want) > tolerance**want+0.6 {
			t.Errorf("%s of %s is %q on the page, %.0f ns by top", title, s.Name, text, *want)
		}
	}
	if got := v.Rows[at][v.column(t, "count")]; strings.ReplaceAll(got, ",", "") != strconv.Itoa(int(s.Count)) {
		t.Errorf("the count of %s is %s on the page, %v by top", s.Name, got, s.Count)
	}
}

// nanoseconds reads "1.67 ms".
func nanoseconds(s string) (float64, bool) {
	number, unit, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(number, 64)
	scale, ok := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
	return v * scale, err == nil && ok
}

// TestTablesSort presses the heads of the Summary's columns.
func TestTablesSort(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.press("Digit2")
	for _, title := range []string{"count", "max", "name"} {
		for range 2 {
			var sorted string
			tb.read(&sorted, `(() => {
				const th = Array.from(document.querySelectorAll("#panel th[scope=col]")).find((th) => th.checkVisibility() && th.textContent.startsWith(%s));
				th.querySelector("button").click();
				return th.getAttribute("aria-sort");
			})()`, quote(title))
			v := tb.table("#panel")
			values := make([]float64, len(v.Rows))
			for i, row := range v.Rows {
				cell := strings.ReplaceAll(row[v.column(t, title)], ",", "")
				if ns, ok := nanoseconds(cell); ok {
					values[i] = ns
				} else if n, err := strconv.ParseFloat(cell, 64); err == nil {
					values[i] = n
				} else if cell != "" {
					values[i] = float64(cell[0])
				}
			}
			if sorted == "descending" {
				slices.Reverse(values)
			}
			if !slices.IsSorted(values) {
				t.Errorf("by %s, %s, the order is %v", title, sorted, values)
			}
		}
	}
}

// TestExportAgreesWithCSV compares the page's CSV of the whole trace with the
// tool's: of all scopes the same rows in the same order.
func TestExportAgreesWithCSV(t *testing.T) {
	trace := storeTrace(t)
	tb := showTrace(t, trace, browser.View{})
	into := t.TempDir()
	tb.check(tb.SaveDownloads(into))
	tb.read(nil, `Array.from(document.querySelectorAll("#switches button")).find((b) => b.textContent.includes("CSV")).click()`)
	want, err := cmd.Run("export", "csv", trace)
	if err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, waitForFile(t, into))
	for i, w := range rowsOf(t, string(want)) {
		if i >= len(got) {
			t.Fatalf("the page's CSV ends behind row %d", i)
		}
		if !slices.Equal(got[i], w) {
			t.Fatalf("row %d is\n %q, scopeview export csv has\n %q", i, got[i], w)
		}
	}
}

// rowsOf reads CSV; what the page leaves to the tool is left out.
func rowsOf(t *testing.T, s string) (rows [][]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		if row[0] != "counter" && row[0] != "heartbeat" {
			rows = append(rows, row)
		}
	}
	return rows
}

// patient limits the wait of a test for what is not instant.
const patient = 10 * time.Second

// waitForFile waits for the one file to be downloaded whole.
func waitForFile(t *testing.T, into string) string {
	t.Helper()
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(into, "*.csv"))
		if err != nil || len(files) == 0 {
			continue
		}
		b, err := os.ReadFile(files[0])
		if err == nil && len(b) > 0 && b[len(b)-1] == '\n' {
			return string(b)
		}
	}
	t.Fatal("nothing was downloaded")
	return ""
}
