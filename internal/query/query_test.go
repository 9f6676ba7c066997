package query

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/csv"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// ask returns the rows of an answer as texts, with NULL as "".
func ask(t testing.TB, tr *trace.Trace, sel analysis.Selection, text string) [][]string {
	t.Helper()
	rows, err := answerOf(t.Context(), tr, sel, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

func answerOf(ctx context.Context, tr *trace.Trace, sel analysis.Selection, text string) (rows [][]string, err error) {
	q, err := New(ctx, tr, &sel, text)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	err = q.Each(func(row []any) bool {
		cells := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = fmt.Sprint(v)
			}
			if f, ok := v.(float64); ok {
				cells[i] = strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
		rows = append(rows, cells)
		return true
	})
	return rows, errors.Join(err, q.Problem())
}

const known = `
header start=1000
state closed=1 tick=9000
chunk blocks sealed
name 2 "f1"
name 3 "f2"
name 4 "worker"
name 5 "mu"
name 6 "bytes"
name 7 "queue"
beat ticks=5000 goroutines=7 rss_bytes=4096
stop ticks=9000
chunk records owner=0 since=1000 flags=final sealed
  track "worker" g=7 start=1500
  task "f1" g=7 start=2000 stop=5000 cpu=1000/exact | int:7 key:"bytes" int:512
  task "f2" g=7 start=3000 stop=4000 cpu=900/most
  task "f1" g=8 start=3500 stop=6500 cpu=0/unknown
  event "f2" g=8 start=4100 | string:"it's"
  counter "queue" g=8 start=4200 value=int:3
  wait "mu" g=8 start=4300 stop=4800 cpu=0/unknown | addr:0x10 goid:7 uint:256
  hold "mu" g=7 start=4900 stop=5000 cpu=0/unknown | addr:0x10 goid:0 uint:257
  task "f1" g=7 start=7000 open tid=1
`

func TestKnownTruth(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	for _, test := range []struct{ text, want string }{
		{"SELECT kind, count(*) FROM records GROUP BY kind ORDER BY 1", "counter 1;event 1;hold 1;task 4;wait 1"},
		{"SELECT name, count(*), sum(dur_ns) FROM scopes WHERE NOT open GROUP BY name", "f1 2 6000;f2 1 1000"},
		{"SELECT name, track, goroutine, depth, start_ns, dur_ns, cpu_ns, cpu_max_ns, open FROM scopes", "f1 worker 7 0 1000 3000 1000 - 0;f2 worker 7 1 2000 1000 - 900 0;f1 - 8 0 2500 3000 - - 0;f1 worker 7 0 6000 2000 - - 1"},
		{"SELECT args ->> '0', args ->> 'bytes', args ->> 'bytes' + 1 FROM scopes WHERE args IS NOT NULL", "7 512 513"},
		{"SELECT args ->> '0' FROM events", "it's"},
		{"SELECT name, value, value + 0.5 FROM counters", "queue 3 3.5"},
		{"SELECT name, goroutine, dur_ns, lock, mode, holder FROM waits", "mu 8 500 mutex - 7"},
		{"SELECT name, lock, mode FROM holds", "mu mutex shared"},
		{"SELECT time_ns, goroutines, rss_bytes, threads FROM heartbeats", "4000 7 4096 -"},
		{"SELECT value FROM trace WHERE key = 'end_ns'", "8000"},
		{"SELECT name, type, says FROM columns WHERE in_table = 'counters' AND name LIKE 'v%'", "value - the counter's value"},
		{"SELECT count(*) FROM states", "0"},
		{"SELECT count(*) FROM samples", "0"},
		{"WITH w AS (SELECT * FROM waits) SELECT s.name, w.name FROM scopes s, w WHERE w.goroutine = s.goroutine AND w.start_ns BETWEEN s.start_ns AND s.start_ns + s.dur_ns", "f1 mu"},
		{"SELECT row_number() OVER (PARTITION BY name ORDER BY start_ns), name FROM scopes ORDER BY start_ns DESC LIMIT 1", "3 f1"},
		{"VALUES (1, 'a'), (NULL, x'00ff')", "1 a;- [0 255]"},
		{"SELECT name FROM scopes WHERE name = 'F2' COLLATE NOCASE", "f2"},
		{"SELECT name FROM scopes WHERE name = 'f2  ' COLLATE RTRIM", "f2"},
		{"SELECT name FROM scopes WHERE name IN ('f2', 'f3') OR 1 = 2", "f2"},
		{"SELECT count(*) FROM scopes a, scopes b, scopes c", "64"},
	} {
		rows := ask(t, tr, analysis.Selection{}, test.text)
		var lines []string
		for _, r := range rows {
			for i := range r {
				if r[i] == "" {
					r[i] = "-"
				}
			}
			lines = append(lines, strings.Join(r, " "))
		}
		if got := strings.Join(lines, ";"); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// traces returns the goldens and random traces.
func traces(t *testing.T) map[string]*trace.Trace {
	t.Helper()
	data := map[string][]byte{"many chunks": tracetest.Bulk(40, true), "hostile": tracetest.Hostile(t)}
	for seed := range uint64(4) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
	}
	for _, g := range tracetest.Goldens(t, "../trace") {
		data[g.Name] = g.Bytes(t)
	}
	all := map[string]*trace.Trace{}
	for name, b := range data {
		if tr, err := open.Reader(bytes.NewReader(b), int64(len(b)), open.Options{}); err == nil { // else a golden that is no trace
			all[name] = tr
		}
	}
	return all
}

// TestRecordsAreThoseOfCSV: the tables have the rows of the CSV export, value by value.
func TestRecordsAreThoseOfCSV(t *testing.T) {
	for name, tr := range traces(t) {
		for _, sel := range []analysis.Selection{{}, {From: tr.End() / 3, To: tr.End() / 2}} {
			var out bytes.Buffer
			if err := csv.Write(t.Context(), &out, tr, csv.Options{Selection: sel, Raw: true, States: true}); err != nil {
				t.Fatal(name, err)
			}
			all, err := stdcsv.NewReader(&out).ReadAll()
			if err != nil {
				t.Fatal(name, err)
			}
			var records, states [][]string
			beats := 0
			for _, r := range all[1:] {
				switch r[0] {
				case "heartbeat":
					beats++
				case "state":
					states = append(states, []string{r[3], r[2], r[1], r[6], r[7], r[8], r[9], r[4]})
				default:
					r[10] = map[string]string{"false": "0", "true": "1"}[r[10]]
					records = append(records, r)
				}
			}
			got := ask(t, tr, sel, "SELECT * FROM records")
			for _, r := range got {
				for i := range r {
					r[i] = strings.ReplaceAll(r[i], "\r\n", "\n") // as csv.Reader does
				}
			}
			if d := difference(got, records); d != "" {
				t.Fatalf("%s %+v: %s", name, sel, d)
			}
			if got := ask(t, tr, sel, "SELECT goroutine, track, state, start_ns, dur_ns, cpu_ns, cpu_max_ns, thread FROM states"); !equalRows(got, states) {
				t.Fatalf("%s %+v: states\n%q\nwant\n%q", name, sel, got, states)
			}
			if got := ask(t, tr, sel, "SELECT count(*) FROM heartbeats"); got[0][0] != strconv.Itoa(beats) {
				t.Fatalf("%s %+v: %s heartbeats, want %d", name, sel, got[0][0], beats)
			}
		}
	}
}

func equalRows(a, b [][]string) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// difference returns the first rows that differ.
func difference(a, b [][]string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !slices.Equal(a[i], b[i]) {
			return fmt.Sprintf("%d and %d rows, from row %d:\n%q\n%q", len(a), len(b), i, a[min(i, len(a)):min(i+2, len(a))], b[min(i, len(b)):min(i+2, len(b))])
		}
	}
	return ""
}

// TestConditions: a scan that tests conditions returns the same rows as SQLite's own tests, of
// which a + before the column keeps scans ignorant.
func TestConditions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	asked := 0
	for name, tr := range traces(t) {
		end := max(tr.End(), 10)
		moment := func() string {
			v := rnd.Int64N(end+end/5) - end/10
			if rnd.IntN(4) == 0 {
				return fmt.Sprintf("%d.5", v)
			}
			return strconv.FormatInt(v, 10)
		}
		operator := func() string { return []string{"<", "<=", ">", ">=", "=", "<>"}[rnd.IntN(6)] }
		names := []string{"f1", "F1", "f2", "worker", "mu", "", "5"}
		condition := func(column string) string {
			switch column {
			case "name", "track":
				return fmt.Sprintf("%%s%s %s '%s' %s", column, []string{"=", "<>", "IS"}[rnd.IntN(3)], names[rnd.IntN(len(names))], []string{"", "COLLATE NOCASE"}[rnd.IntN(2)])
			case "kind":
				return "%skind = '" + []string{"task", "wait", "counter", "x"}[rnd.IntN(4)] + "'"
			case "goroutine", "thread", "depth", "open":
				return fmt.Sprintf("%%s%s %s %d", column, operator(), rnd.IntN(10))
			}
			return "%s" + column + " " + operator() + " " + moment()
		}
		for _, table := range []string{"records", "scopes", "waits", "states"} {
			columns := []string{"name", "track", "goroutine", "thread", "start_ns", "dur_ns", "cpu_ns", "open"}
			switch table {
			case "records":
				columns = append(columns, "kind", "depth")
			case "states":
				columns = []string{"track", "goroutine", "thread", "start_ns", "dur_ns", "cpu_ns"}
			}
			for range 6 {
				var with, without []string
				for range 1 + rnd.IntN(3) {
					c := condition(columns[rnd.IntN(len(columns))])
					with, without = append(with, fmt.Sprintf(c, "")), append(without, fmt.Sprintf(c, "+"))
				}
				shown := []string{"count(*)", "*", "goroutine, start_ns", "dur_ns"}[rnd.IntN(4)]
				text := "SELECT " + shown + " FROM " + table + " WHERE "
				asked++
				got, want := ask(t, tr, analysis.Selection{}, text+strings.Join(with, " AND ")), ask(t, tr, analysis.Selection{}, text+strings.Join(without, " AND "))
				if !equalRows(got, want) {
					t.Fatalf("%s: %s%s\n%q\nwant\n%q", name, text, strings.Join(with, " AND "), got, want)
				}
			}
		}
	}
	if asked < 500 {
		t.Errorf("%d questions were asked", asked)
	}
}

// TestAgain: a table that is scanned for each row of another one has the same rows, whether it is
// kept or read.
func TestAgain(t *testing.T) {
	for name, tr := range traces(t) {
		if tr.Size() > 1<<20 {
			continue
		}
		for _, on := range []string{"b.start_ns > a.start_ns AND b.start_ns <= a.start_ns + 1000", "b.name = a.name", "b.goroutine = a.goroutine AND b.dur_ns >= a.dur_ns", "b.track IS a.track"} {
			text := "SELECT a.start_ns, b.start_ns, b.name FROM (SELECT * FROM records LIMIT 40) AS a CROSS JOIN records AS b ON " + on + " ORDER BY 1, 2, 3"
			plus := strings.NewReplacer("b.start_ns >", "+b.start_ns >", "b.start_ns <", "+b.start_ns <", "b.name =", "+b.name =", "b.goroutine =", "+b.goroutine =", "b.dur_ns >", "+b.dur_ns >").Replace(text)
			got, want := ask(t, tr, analysis.Selection{}, text), ask(t, tr, analysis.Selection{}, plus)
			if !equalRows(got, want) {
				t.Fatalf("%s: %s\n%q\nwant\n%q", name, text, got, want)
			}
		}
	}
}

// TestTooLargeToKeep: a table that is scanned again, and is too large to keep, is read again.
func TestTooLargeToKeep(t *testing.T) {
	data, err := bulk.Trace{Shape: bulk.Irregular, Scopes: keptMost/recordBytes + 100_000, Seed: 1}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	tr := tracetest.Open(t, data)
	got := ask(t, tr, analysis.Selection{}, "SELECT a.column1, count(*) FROM (VALUES ('parse'), ('auth'), ('none')) AS a CROSS JOIN scopes AS b ON b.name = a.column1 GROUP BY a.column1")
	want := ask(t, tr, analysis.Selection{}, "SELECT name, sum(1) FROM scopes WHERE +name IN ('parse', 'auth', 'none') GROUP BY name")
	if len(got) != 2 || !equalRows(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzQuestion: no text makes a question change anything, or fail in another way than with a sentence.
func FuzzQuestion(f *testing.F) {
	for _, s := range []string{"SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a;", "EXPLAIN SELECT * FROM scopes", "VALUES (1)--", "SELECT [;], '', \"\" /* */", "SELECT 1; SELECT 2", "/*", "PRAGMA x", "SELECT args ->> '0' FROM scopes WHERE name GLOB 'f*'"} {
		f.Add(s)
	}
	tr := tracetest.OpenText(f, known)
	f.Fuzz(func(t *testing.T, text string) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		rows := 0
		q, err := New(ctx, tr, &analysis.Selection{}, text)
		if err == nil {
			err = q.Each(func([]any) bool { rows++; return rows < 1000 })
			q.Close()
		}
		var of *Error
		if err != nil && !errors.As(err, &of) && ctx.Err() == nil {
			t.Errorf("%q: %T %v", text, err, err)
		}
		if got := ask(t, tr, analysis.Selection{}, "SELECT count(*) FROM sqlite_schema"); got[0][0] != strconv.Itoa(len(tables)+1) {
			t.Errorf("%q: %q tables", text, got)
		}
	})
}

// TestSelection: the flags of a command choose rows of all tables.
func TestSelection(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	if got := ask(t, tr, analysis.Selection{From: 5000}, "SELECT name, start_ns FROM scopes"); !reflect.DeepEqual(got, [][]string{{"f1", "2500"}, {"f1", "6000"}}) {
		t.Errorf("%q", got)
	}
	if got := ask(t, tr, analysis.Selection{From: 5000}, "SELECT count(*) FROM heartbeats"); got[0][0] != "0" {
		t.Errorf("%q", got)
	}
}

// TestRefused: a question only reads, and only the tables.
func TestRefused(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	for text, want := range map[string]string{
		"":                              "there is no question",
		" ; -- nothing":                 "there is no question",
		"INSERT INTO scopes VALUES (1)": "begins with SELECT",
		"PRAGMA table_info(scopes)":     "begins with SELECT",
		"ATTACH 'x.db' AS x":            "begins with SELECT",
		"SELECT 1; SELECT 2":            "more than one statement",
		"SELECT 1; DROP TABLE scopes":   "more than one statement",
		"SELECT ';' /* ; */ -- ;\n; ATTACH 'x' AS x":                            "more than one statement",
		"WITH x AS (SELECT 1) INSERT INTO scopes SELECT * FROM x":               "only reads",
		"WITH x AS (SELECT 1) DELETE FROM scopes":                               "only reads",
		"WITH x AS (SELECT 1) UPDATE sqlite_schema SET sql = ''":                "may not be modified",
		"SELECT load_extension('x')":                                            "only reads",
		"SELECT * FROM pragma_table_info('scopes')":                             "only reads",
		"SELECT * FROM scopeview_answer":                                        "no such table",
		"EXPLAIN ATTACH 'x.db' AS x":                                            "only reads",
		"EXPLAIN DELETE FROM scopes":                                            "only reads",
		"SELECT 1 FROM scope":                                                   "no such table: scope; the tables are records, scopes, ",
		"SELECT duration FROM scopes":                                           "no such column: duration; there is scopes(name, track, ",
		"SELECT 1) UNION SELECT (2":                                             "syntax error",
		"SELECT ?":                                                              "no parameters",
		"SELECT zeroblob(100000000)":                                            "too large",
		"SELECT printf('%100000000d', 1)":                                       "too large",
		"SELECT " + strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000): "",
		"SELECT '" + strings.Repeat("a", textMost) + "'":                        "may have 65536",
		"SELECT 1\x00":                                                          "zero byte",
	} {
		rows, err := answerOf(t.Context(), tr, analysis.Selection{}, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %q, %v; want an error with %q", text, rows, err, want)
		}
	}
	for _, text := range []string{"SELECT 1;", "select ';' -- x;\n;", "/* a */ SELECT [a;b] FROM (SELECT 1 AS [a;b]) ; -- end", "EXPLAIN QUERY PLAN SELECT * FROM scopes", "SELECT name FROM sqlite_schema"} {
		if rows := ask(t, tr, analysis.Selection{}, text); len(rows) == 0 {
			t.Errorf("%s: no rows", text)
		}
	}
}

// TestCancel: an endless question ends with its context, before and after its first row.
func TestCancel(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	for _, text := range []string{
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i = 1",
		"SELECT count(*) FROM records a, records b, records c, records d, records e, records f, records g, records h, records i, records j, records k",
	} {
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		_, err := answerOf(ctx, tr, analysis.Selection{}, text)
		stop()
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
			t.Errorf("%s: %v after %v", text, err, took)
		}
	}
}

// TestMemory: a question that would fill the memory fails, and the next one is answered.
func TestMemory(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	_, err := answerOf(t.Context(), tr, analysis.Selection{}, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 700) SELECT i, hex(zeroblob(500000)) || i AS x FROM n ORDER BY x")
	if err == nil || !strings.Contains(err.Error(), "more memory") {
		t.Errorf("%v", err)
	}
	if got := ask(t, tr, analysis.Selection{}, "SELECT count(*) FROM records"); got[0][0] != "8" {
		t.Errorf("%q", got)
	}
}

// TestEnough: an answer of which no more rows are wanted ends.
func TestEnough(t *testing.T) {
	tr := tracetest.OpenText(t, known)
	q, err := New(t.Context(), tr, &analysis.Selection{}, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	n := 0
	if err := q.Each(func([]any) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestHostileNames: names with any bytes reach an answer whole.
func TestHostileNames(t *testing.T) {
	b := tracetest.Hostile(t)
	tr, err := open.Reader(bytes.NewReader(b), int64(len(b)), open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := ask(t, tr, analysis.Selection{}, "SELECT DISTINCT name FROM records")
	for _, r := range got {
		if strings.Contains(r[0], "\x00") {
			continue // a question can't contain it
		}
		again := ask(t, tr, analysis.Selection{}, "SELECT count(*) FROM records WHERE name = '"+strings.ReplaceAll(r[0], "'", "''")+"'")
		if again[0][0] == "0" {
			t.Errorf("%q is not found by its name", r[0])
		}
	}
	if len(got) < len(tracetest.HostileNames())/2 {
		t.Errorf("%d names", len(got))
	}
}
