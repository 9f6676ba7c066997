package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const text = `header start=1000
state closed=1 tick=90000
chunk blocks
name 2 "work"
name 3 "parse"
name 4 "status"
name 5 "mu"
name 6 "queue"
name 7 "it's \"x\""
stop ticks=90000
chunk records
task "work" g=1 start=2000 stop=22000 cpu=2000/exact | key:"status" int:500
task "work" g=1 start=32000 stop=37000 cpu=4000/most | key:"status" int:200
task "parse" g=2 start=42000 stop=57000 cpu=0/unknown
task "it's \"x\"" g=2 start=58000 open
wait "mu" g=2 start=43000 stop=44000 cpu=0/unknown | addr:0xc000012340
event "parse" g=2 start=43500
counter "queue" g=2 start=45000 value=int:-3
counter "queue" g=2 start=46000 value=float:1.5
`

func open(t *testing.T, lines string, sel analysis.Selection) *DB {
	t.Helper()
	d, err := Open(tracetest.OpenText(t, lines), &sel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func ask(t *testing.T, d *DB, question string) string {
	t.Helper()
	a, err := d.Ask(context.Background(), question, 0)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	if a.Damage != nil {
		t.Errorf("%s: %v", question, a.Damage)
	}
	var lines []string
	for _, row := range a.Rows {
		lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
	}
	return strings.Join(lines, "; ")
}

func TestAsk(t *testing.T) {
	d := open(t, text, analysis.Selection{})
	for question, want := range map[string]string{
		"SELECT name, count(*), sum(dur_ns) FROM scopes WHERE NOT open GROUP BY name ORDER BY name": "parse 1 15000; work 2 25000",
		"SELECT start_ns, dur_ns, cpu_ns, cpu_max_ns FROM scopes WHERE name = 'work'":               "1000 20000 2000 <nil>; 31000 5000 <nil> 4000",
		"SELECT args->>'status' FROM scopes WHERE args->>'status' >= 500":                           "500",
		"SELECT start_ns FROM scopes WHERE start_ns BETWEEN 31000 AND 41000":                        "31000; 41000",
		"SELECT start_ns FROM scopes WHERE start_ns > 31000 AND start_ns < 57000":                   "41000",
		"SELECT start_ns FROM scopes WHERE start_ns >= 41000.5":                                     "57000",
		"SELECT start_ns FROM scopes WHERE start_ns < 0":                                            "",
		"SELECT count(*) FROM scopes WHERE start_ns <= 0":                                           "0",
		"SELECT name FROM scopes WHERE open":                                                        `it's "x"`,
		"SELECT dur_ns FROM scopes WHERE name = 'it''s \"x\"'":                                      "32000",
		"SELECT name, dur_ns FROM waits":                                                            "mu 1000",
		"SELECT value FROM counters ORDER BY start_ns":                                              "-3; 1.5",
		"SELECT kind, start_ns FROM events":                                                         "event 42500",
		"SELECT count(*) FROM records":                                                              "8",
		"SELECT a.name, b.name FROM scopes a JOIN waits b ON b.goroutine = a.goroutine AND b.start_ns BETWEEN a.start_ns AND a.start_ns + a.dur_ns": "parse mu",
		"SELECT count(*) FROM states":  "0",
		"SELECT count(*) FROM samples": "0",
		"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n": "15",
	} {
		if got := ask(t, d, question); got != want {
			t.Errorf("%s:\n got %s\nwant %s", question, got, want)
		}
	}
}

// TestSelection: the tables have the selected part of the trace.
func TestSelection(t *testing.T) {
	where, err := analysis.ParseWhere("work>10us")
	if err != nil {
		t.Fatal(err)
	}
	for want, sel := range map[string]analysis.Selection{
		"1000, 31000":         {To: 32000},
		"31000, 41000, 57000": {From: 30000},
		"1000":                {Where: where},
	} {
		if got := strings.ReplaceAll(ask(t, open(t, text, sel), "SELECT start_ns FROM scopes ORDER BY 1"), ";", ","); got != want {
			t.Errorf("%v: %s, want %s", sel, got, want)
		}
	}
}

// TestReadOnly: a question can't change anything, and reaches nothing but the tables.
func TestReadOnly(t *testing.T) {
	d := open(t, text, analysis.Selection{})
	for _, question := range []string{
		"INSERT INTO records(name) VALUES ('x')", "DELETE FROM scopes", "CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", "DROP VIEW scopes", "ATTACH '/tmp/x.db' AS x",
		"PRAGMA journal_mode = off", "PRAGMA database_list", "VACUUM INTO '/tmp/x.db'", "SELECT load_extension('x')", "SELECT 1; DROP VIEW scopes", "BEGIN",
		"CREATE VIRTUAL TABLE x USING records", "SELECT nothing FROM scopes", "SELEC 1", "SELECT * FROM nowhere",
	} {
		if a, err := d.Ask(context.Background(), question, 0); err == nil {
			t.Errorf("%s: %v", question, a)
		} else if strings.Contains(err.Error(), "SQL logic") || !strings.Contains(err.Error(), " ") {
			t.Errorf("%s: %v", question, err)
		}
	}
	if got := ask(t, d, "SELECT count(*) FROM scopes"); got != "4" {
		t.Errorf("afterwards there are %s scopes", got)
	}
}

// TestEndless: a question that never ends stops with its context, and the next one is answered.
func TestEndless(t *testing.T) {
	d := open(t, text, analysis.Selection{})
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	_, err := d.Ask(ctx, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
	if got := ask(t, d, "SELECT count(*) FROM scopes"); got != "4" {
		t.Errorf("afterwards there are %s scopes", got)
	}
}

// TestMost: the answer has a limit.
func TestMost(t *testing.T) {
	d := open(t, text, analysis.Selection{})
	a, err := d.Ask(context.Background(), "SELECT start_ns FROM records", 2)
	if err != nil || len(a.Rows) != 2 || !a.More {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := d.Ask(context.Background(), "SELECT start_ns FROM records", 8); err != nil || len(a.Rows) != 8 || a.More {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestNarrowed: what narrows the reading does not change the answer.
func TestNarrowed(t *testing.T) {
	d := open(t, text, analysis.Selection{})
	for _, where := range []string{"start_ns > %d", "start_ns >= %d", "start_ns = %d", "start_ns < %d", "start_ns <= %d"} {
		for _, at := range []int64{-1, 0, 1, 999, 1000, 1001, 31000, 42500, 57000, 60000, 1 << 62} {
			narrow := fmt.Sprintf(where, at)
			if got, want := ask(t, d, "SELECT start_ns FROM records WHERE "+narrow+" ORDER BY 1"), ask(t, d, "SELECT start_ns FROM records WHERE +"+narrow+" ORDER BY 1"); got != want {
				t.Errorf("%s: %s, want %s", narrow, got, want)
			}
		}
	}
}
