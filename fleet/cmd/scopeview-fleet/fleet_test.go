package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// call runs a command line.
func call(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	root := newRoot()
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(args)
	err = root.ExecuteContext(context.Background())
	return o.String(), e.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, err := call(t, args...)
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, errs)
	}
	return out
}

// needDuckDB has DuckDB in PATH, as make fleet builds it.
func needDuckDB(t *testing.T) {
	t.Helper()
	bin, err := filepath.Abs("../../../bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+bin)
	if _, err := exec.LookPath("duckdb"); err == nil {
		return
	}
	if _, err := exec.LookPath("scopeview-duckdb"); err != nil {
		t.Skip("DuckDB is not here; make fleet builds it")
	}
}

// answers asks a question, and returns the rows.
func answers(t *testing.T, args ...string) (rows []map[string]any) {
	t.Helper()
	out := must(t, append([]string{"sql", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return rows
}

// Of the planted fleet: eight hosts, of which four run each build.
const (
	plantedHosts = 8
	request      = "00000000000000a10000000000000042"
)

// plant writes the traces of a fleet. The new build takes twice as long for handle; host-3
// takes ten times as long for flush. Goroutine 7 holds a lock in count, and 8 waits for it 50 µs.
func plant(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range plantedHosts {
		var b strings.Builder
		fmt.Fprintf(&b, "header pid=%d wall=1700000000000000000 chunk=65536 id=%032x\nstate closed=1 tick=900000000\nchunk blocks sealed\n", 100+i, 0xabcd00+i)
		for id, name := range []string{"handle", "flush", "mu", "count", "call"} {
			fmt.Fprintf(&b, "name %d %q\n", id+2, name)
		}
		fmt.Fprintf(&b, "info \"program\" \"/bin/shop\"\ninfo \"host\" \"host-%d\"\ninfo \"build_id\" %q\n", i, []string{"old", "new"}[i/4])
		b.WriteString("stop ticks=900000000\nchunk records owner=0 since=1000 flags=final sealed\n")
		at := 2000
		task := func(name string, g, took int, slots string) {
			fmt.Fprintf(&b, "task %q g=%d start=%d stop=%d cpu=0/unknown%s\n", name, g, at, at+took, slots)
			at += took + 1000
		}
		if i < 2 {
			link := fmt.Sprintf(" | addr:0xa1 addr:0x42 addr:%d addr:%d", 16*(i+1), 16*i)
			task("call", 9, 3000, link)
		}
		for k := range 200 {
			took := 1000 * (1 + i/4) * (100 + i%4) / 100
			if k%100 == 99 {
				took *= 10
			}
			task("handle", 7, took, "")
			if i == 3 {
				took = 50_000
			} else {
				took = 5000 + 50*i
			}
			task("flush", 7, took, "")
		}
		fmt.Fprintf(&b, "task \"count\" g=7 start=%d stop=%d cpu=0/unknown\n", at, at+70_000)
		fmt.Fprintf(&b, "hold \"mu\" g=7 start=%d stop=%d cpu=0/unknown | addr:0x1000 goid:0 uint:0x100\n", at+1000, at+60_000)
		fmt.Fprintf(&b, "wait \"mu\" g=8 start=%d stop=%d cpu=0/unknown | addr:0x1000 goid:0 uint:0x100\n", at+10_000, at+60_000)
		tracetest.Write(t, filepath.Join(dir, fmt.Sprintf("%d.scope", i)), b.String())
	}
	return dir
}

func near(t *testing.T, what string, got any, want, by float64) {
	t.Helper()
	f, ok := got.(float64)
	if !ok || math.Abs(f/want-1) > by {
		t.Errorf("%s is %v, want %g", what, got, want)
	}
}

// TestQuestions: each saved question finds what was planted, in tables of a directory and of an
// object store.
func TestQuestions(t *testing.T) {
	needDuckDB(t)
	fake := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithAutoBucket(true)).Server())
	defer fake.Close()
	t.Setenv("AWS_ENDPOINT_URL", fake.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "planted")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "verysecret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	traces := plant(t)
	for _, place := range []string{t.TempDir(), "s3://traces/fleet"} {
		t.Run(place[:2], func(t *testing.T) { questions(t, traces, place) })
	}
}

func questions(t *testing.T, traces, place string) {
	if out := must(t, "parquet", traces, "-o", place); strings.Count(out, "\n") != plantedHosts {
		t.Fatal(out)
	}
	if out := must(t, "parquet", traces, "-o", place); strings.Count(out, "is there already") != plantedHosts {
		t.Error(out)
	}

	rows := answers(t, "p99-by-build", "-d", place, "--set", "name=handle", "--set", "q=0.5")
	if len(rows) != 2 || rows[0]["build"] != "new" || rows[1]["build"] != "old" || rows[0]["n"] != 800.0 {
		t.Fatalf("%v", rows)
	}
	near(t, "the median of new", rows[0]["quantile_ms"], 0.002*1.02, 0.035)
	near(t, "the median of old", rows[1]["quantile_ms"], 0.001*1.02, 0.035)

	rows = answers(t, "lock-holders", "-d", place)
	if len(rows) != 1 || rows[0]["lock"] != "mu" || rows[0]["holder_in"] != "count" || rows[0]["hosts"] != 8.0 || rows[0]["waits"] != 8.0 {
		t.Errorf("%v", rows)
	}
	near(t, "the time waited", rows[0]["waited_s"], 8*50e-6, 1e-9)

	rows = answers(t, "outlier-hosts", "-d", place)
	if len(rows) != 1 || rows[0]["host"] != "host-3" || rows[0]["name"] != "flush" {
		t.Errorf("%v", rows)
	}

	rows = answers(t, "changed", "-d", place, "--set", "before=old", "--set", "after=new", "--set", "q=0.5")
	if len(rows) != 2 || rows[0]["name"] != "handle" || rows[0]["verdict"] != "slower" || rows[1]["verdict"] != "not sure" {
		t.Fatalf("%v", rows)
	}
	near(t, "the change", rows[0]["change_percent"], 100, 0.05)
	if low, high := rows[0]["low_percent"].(float64), rows[0]["high_percent"].(float64); low > 100 || high < 100 || high-low > 20 {
		t.Errorf("from %g to %g percent", low, high)
	}

	rows = answers(t, "request", "-d", place, "--set", "id="+strings.ToUpper(request))
	if len(rows) != 2 || rows[0]["host"] != "host-0" || rows[1]["parent_id"] != rows[0]["span_id"] || rows[0]["took_ms"] != 0.003 {
		t.Errorf("%v", rows)
	}
	if rows := answers(t, "request", "-d", place, "--set", "id=' or 1=1 --"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}

// TestOwnSQL: SQL of one's own has its own parameters.
func TestOwnSQL(t *testing.T) {
	needDuckDB(t)
	place := t.TempDir()
	must(t, "parquet", plant(t), "-o", place, "--service", "it's", "--tables", "scopes")
	path := filepath.Join(t.TempDir(), "own.sql")
	text := "-- How many.\n-- param least integer 0 at least\n-- param of text ! the service\nselect count(*) as n from scopes where duration_ns >= $least and service = $of and (select count(*) from waits) = 0;\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if rows := answers(t, path, "-d", place, "--set", "of=it's", "--set", "least=60000"); len(rows) != 1 || rows[0]["n"] != 8.0 {
		t.Errorf("%v", rows)
	}
	if out := must(t, "sql", path, "-d", place, "--set", "of=it's", "--csv"); out != "n\n3210\n" {
		t.Errorf("%q", out)
	}
}

// TestMistakes: invalid requests are refused with a sentence, which never contains a secret.
func TestMistakes(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "verysecret")
	empty := t.TempDir()
	for args, want := range map[string]string{
		"sql":                                              "sql needs a QUESTION",
		"sql nonesuch -d .":                                "no saved question (changed, lock-holders, outlier-hosts, p99-by-build, request)",
		"sql request -d " + empty:                          "needs --set id=…",
		"sql request --set id":                             "it takes KEY=VALUE",
		"sql p99-by-build --set x=1":                       `no parameter "x"`,
		"sql p99-by-build --set q=1;drop":                  "it takes a number",
		"sql p99-by-build --set q=NaN":                     "it takes a number",
		"sql p99-by-build --set limit=-1":                  "without a fraction",
		"sql p99-by-build --set name=\x01":                 "no text",
		"sql p99-by-build -d " + empty:                     "there are no tables",
		"sql p99-by-build --engine trino":                  "--print",
		"sql p99-by-build --engine spark":                  "there is duckdb, trino",
		"sql p99-by-build -d s3://key:verysecret@bucket/x": "credentials are taken from",
		"sql p99-by-build -d s3://bucket/x?k=verysecret":   "credentials are taken from",
		"sql p99-by-build -d https://u:verysecret@host/":   "neither a directory nor s3",
		"sql p99-by-build -d s3://bucket/x":                "needs AWS_ACCESS_KEY_ID",
		"parquet x":                                        "needs a TRACE, and -o",
		"parquet x -o " + empty:                            "no such file",
		"parquet " + empty + " -o " + empty:                "no *.scope file",
		"parquet x -o y --tables scopes,cats":              `--tables "cats": there is scopes`,
	} {
		out, errs, err := call(t, strings.Split(args, " ")...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
		if text := fmt.Sprint(out, errs, err); strings.Contains(text, "verysecret") {
			t.Errorf("%s: %s", args, text)
		}
	}
}
