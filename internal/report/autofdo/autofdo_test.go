package autofdo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/report"
)

const profile = `main:300:1
 1: 10
 2: 90 work:60 rest:30
 4: 100 work:40
 5: inner:100
  1: 60
  2: deeper:40
   1: 40
work:100:100
 1: 100
`

// TestShow: functions are sorted by their totals and have the first of their hottest lines, all
// calls of their lines added up, and the callees inlined at any depth.
func TestShow(t *testing.T) {
	p, _, err := autofdo.Read(strings.NewReader(profile), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	r := Show(p)
	got := document(t, r)
	want := `{"schema":"scopeview.x/1","total":400,"saturated":false,"function_count":2,"functions":[` +
		`{"name":"main","total":300,"head":1,"share":0.75,"line_count":5,"inlined_count":2,"hottest":{"inlined":"","offset":4,"discriminator":0,"samples":100},` +
		`"calls":[{"name":"work","count":100},{"name":"rest","count":30}]},` +
		`{"name":"work","total":100,"head":100,"share":0.25,"line_count":1,"inlined_count":0,"hottest":{"inlined":"","offset":1,"discriminator":0,"samples":100},"calls":[]}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var b report.Text
	r.Text(&b)
	for _, words := range []string{"400 samples in 2 functions", "+4: 100", "work 100"} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("no %q in\n%s", words, b.String())
		}
	}
}

// TestShowInlined: an inlined line counts for the function, and may be its hottest.
func TestShowInlined(t *testing.T) {
	p, _, err := autofdo.Read(strings.NewReader("main:100:1\n 5: inner:100\n  1: 60 deep:7\n  2: 40\n"), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	got := document(t, Show(p))
	want := `{"name":"main","total":100,"head":1,"share":1,"line_count":2,"inlined_count":1,"hottest":{"inlined":"inner","offset":1,"discriminator":0,"samples":60},"calls":[{"name":"deep","count":7}]}`
	if !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var b report.Text
	Show(p).Text(&b)
	if !strings.Contains(b.String(), "inner +1: 60") {
		t.Errorf("the hottest line is not there:\n%s", b.String())
	}
}

// TestShowOverflow: a total that overflows saturates and is reported as a bound, and shares stay
// right.
func TestShowOverflow(t *testing.T) {
	p, _, err := autofdo.Read(strings.NewReader("f:18446744073709551615:1\n 1: 18446744073709551615\ng:18446744073709551615:1\n 1: 18446744073709551615\n"), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := document(t, Show(p)); !strings.Contains(got, `"total":18446744073709551615,"saturated":true`) || strings.Count(got, `"share":0.5`) != 2 {
		t.Errorf("got %s", got)
	}
	var b report.Text
	Show(p).Text(&b)
	if !strings.Contains(b.String(), "at least 18,446,744,073,709,551,615 samples in 2 functions") {
		t.Errorf("the total is wrong:\n%s", b.String())
	}
}

// document returns a report's compact JSON.
func document(t *testing.T, r *report.Report) string {
	t.Helper()
	var text, compact bytes.Buffer
	if err := report.WriteJSON(&text, "x", r.Document, 0); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, text.Bytes()); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}
