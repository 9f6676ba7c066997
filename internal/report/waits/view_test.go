package waits

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// lockTrace has two locks of one name with counts by the recorder, one without counts, and one
// whose waits and holds were all recorded. A tick is a nanosecond.
const lockTrace = `header rate=1000000000 path=go start=1000 mono=1000
state closed=1 tick=900000
chunk blocks sealed
name 2 "shard.mu"
name 3 "db.mu"
name 4 "files.mu"
info "lock_threshold" "calibrated"
info "lock_threshold_ns" "120"
lock mutex #2 ticks=500000 addr=0x1000 acquired=40 contended=3 short=2 short_ns=100
lock mutex #2 ticks=500000 addr=0x2000 acquired=10 contended=1 short=0 short_ns=0
calib ticks=1000 mono=1000 wall=1700000000000000000
stop ticks=900000
chunk records owner=0 sealed
wait "shard.mu" g=8 start=10000 stop=110000 | addr:0x1000 goid:7 uint:0x100
wait "shard.mu" g=9 start=20000 stop=70000 | addr:0x2000 goid:7 uint:0x100
wait "db.mu" g=9 start=310000 stop=320000 | addr:0x3000 goid:8 uint:0x100
hold "files.mu" g=9 start=500000 stop=540000 | addr:0x4000 goid:0 uint:0x102
wait "files.mu" g=8 start=510000 stop=540000 | addr:0x4000 goid:0 uint:0x102
hold "files.mu" g=8 start=540000 stop=545000 | addr:0x4000 goid:0 uint:0x102
`

func lineOf(r report.Row) string {
	line := r.Name + " " + r.Kind + ":"
	for i, c := range View.Columns {
		line += fmt.Sprintf(" %s=%v", c.Name, r.Values[i])
	}
	return strings.ReplaceAll(line, "NaN", "?")
}

// TestView: locks of one name are one row, because their addresses differ between runs. Values that
// were not counted are unknown.
func TestView(t *testing.T) {
	f, err := View.Rows(context.Background(), tracetest.OpenText(t, lockTrace), &analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.Rows {
		got = append(got, lineOf(r))
	}
	want := []string{
		"shard.mu lock: wait=150100 had=50 contended=4 mean=37525 max=100000 hold=? holdmax=?",
		"files.mu lock: wait=30000 had=2 contended=1 mean=30000 max=30000 hold=45000 holdmax=40000",
		"db.mu lock: wait=10000 had=? contended=? mean=? max=10000 hold=? holdmax=?",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "no Go execution trace") {
		t.Errorf("%q", f.Notes)
	}
}

func TestViewOfSite(t *testing.T) {
	b := &blocked{state: states.Channel, site: symbols.Frame{Func: "main.worker", File: "/src/x.go", Line: 12}, count: 4, total: 100, max: 70}
	var f report.Figures
	report.AddRows(&f, &siteTable, []site{new(found).site(b)}, View.Columns, func(p site) (string, string) { return frameText(p.At, ""), p.State })
	if got, want := lineOf(f.Rows[0]), "main.worker x.go:12 channel: wait=100 had=? contended=4 mean=25 max=70 hold=? holdmax=?"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
