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

// TestShow: functions are there by their totals, with the first of their hottest lines, all calls of
// their lines added up, and callees at any depth that are inlined.
func TestShow(t *testing.T) {
	p, _, err := autofdo.Read(strings.NewReader(profile), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	r := Show(p)
	got := document(t, r)
	want := `{"schema":"scopeview.x/1","total":400,"function_count":2,"functions":[` +
		`{"name":"main","total":300,"head":1,"share":0.75,"line_count":3,"inlined_count":2,"hottest":{"offset":4,"discriminator":0,"samples":100},` +
		`"calls":[{"name":"work","count":100},{"name":"rest","count":30}]},` +
		`{"name":"work","total":100,"head":100,"share":0.25,"line_count":1,"inlined_count":0,"hottest":{"offset":1,"discriminator":0,"samples":100},"calls":[]}]}`
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

// document is a report's JSON without blanks.
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
