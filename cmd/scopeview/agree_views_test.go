package main

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/samples"
)

// agreeViews are the views of the command line. The page's is pageFacts.
var agreeViews = []view{
	{"top --json", topDocument},
	{"top", topText},
	{"top --brief", topBrief},
	{"waits --json", waitsDocument},
	{"waits", waitsText},
	{"info --json", infoDocument},
	{"csv", csvRows},
	{"csv --states", csvStates},
	{"chrome", chromeEvents},
	{"states --json", statesDocument},
	{"states", statesText},
	{"states --by goroutine", statesByGoroutine},
	{"functions --json", rowsDocument("functions")},
	{"functions --format csv", rowsCSV("functions")},
	{"lines --json", rowsDocument("lines")},
	{"objects --json", rowsDocument("objects")},
	{"goroutines --json", rowsDocument("goroutines")},
	{"threads --json", rowsDocument("threads")},
	{"functions", functionsText},
	{"header --json", headerDocument},
	{"pprof", pprofSums},
	{"doctor --json", doctorEvidence},
}

// Heads of columns, and what they are in documents.
var (
	scopeColumns = map[string]string{
		"count": "count", "total": "total_ns", "self": "self_ns", "mean": "mean_ns", "min": "min_ns", "p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns",
		"max": "max_ns", "cpu": "cpu_ns", "known": "cpu_coverage", "cpu/wall": "cpu_per_wall", "cpu max": "cpu_max_ns",
	}
	lockColumns = map[string]string{
		"waits": "waits", "wait total": "wait_ns", "wait max": "wait_max_ns", "holds": "holds", "hold total": "hold_ns", "hold max": "hold_max_ns",
	}
)

// document runs a command with --json; nil where it has none to give.
func document(path string, args ...string) (d map[string]any) {
	r := call(append(args, path, "--json")...)
	if json.Unmarshal([]byte(r.out), &d) != nil {
		return nil
	}
	return d
}

// list returns the objects of a list of a document.
func list(d map[string]any, key string) (objects []map[string]any) {
	all, _ := d[key].([]any)
	for _, x := range all {
		objects = append(objects, x.(map[string]any))
	}
	return objects
}

// name is a name as people are shown it.
func shown(x map[string]any) string {
	name, _ := x["name"].(string)
	return analysis.Show(name)
}

// keys takes numbers of an object as they are. Of no waits or holds there is no longest one.
func (f facts) keys(of string, x map[string]any, columns map[string]string) {
	for _, key := range columns {
		if most, is := strings.CutSuffix(key, "_max_ns"); is && x[most+"s"] == 0.0 {
			f.set(of+": "+key, number{unknown: true})
			continue
		}
		switch v := x[key].(type) {
		case float64:
			f.set(of+": "+key, number{low: v, high: v})
		case nil:
			if _, is := x[key]; is {
				f.set(of+": "+key, number{unknown: true})
			}
		}
	}
}

// cells takes the cells of a row of a table for people. An empty one says nothing, and where
// none has ended tables have no times.
func (f facts) cells(of string, row, columns map[string]string) {
	for head, key := range columns {
		if ended, is := row["count"]; is && ended == "0" && head != "count" {
			continue
		}
		if n, ok := cell(row[head]); ok && row[head] != "" {
			f.set(of+": "+key, n)
		}
	}
}

// lost takes what of the trace is not there, which each document says.
func (f facts) lost(d map[string]any) facts {
	if lost, ok := d["lost"].(map[string]any); ok {
		for reason, n := range lost {
			if v, ok := n.(float64); ok {
				f.set("lost: "+reason, number{low: v, high: v})
			}
		}
	}
	return f
}

func scopeOf(x map[string]any) string {
	if x["process"] == true {
		return "scope " + shown(x) + " (process)"
	}
	return "scope " + shown(x)
}

func topDocument(t *testing.T, path string) facts {
	d, f := document(path, "top"), facts{}
	for _, x := range list(d, "scopes") {
		f.keys(scopeOf(x), x, scopeColumns)
		f.keys(scopeOf(x), x, map[string]string{"": "open", " ": "open_ns"})
	}
	for _, x := range list(d, "locks") {
		f.keys("lock "+shown(x), x, lockColumns)
		for _, h := range list(x, "held_by") {
			f.keys("lock "+shown(x)+" held by "+shown(h), h, map[string]string{"": "share"})
		}
	}
	for _, x := range list(d, "events") {
		f.keys("event "+shown(x), x, map[string]string{"": "count"})
	}
	for _, x := range list(d, "counters") {
		f.keys("counter "+shown(x), x, map[string]string{"": "count", " ": "min", "  ": "max", "   ": "last"})
	}
	return f.lost(d)
}

// whole reports whether a table has a name whole.
func whole(name string) bool { return !strings.HasSuffix(name, "…") }

func topText(t *testing.T, path string) facts {
	r, f := call("top", path, "-n", "0"), facts{}
	for _, row := range tables(r.out, "name") {
		if of := "scope " + row["name"]; whole(of) {
			f.cells(of, row, scopeColumns)
		}
	}
	for _, row := range tables(r.out, "lock") {
		if of := "lock " + row["lock"]; whole(of) {
			f.cells(of, row, lockColumns)
			f.shares(of+" held by ", row["held by"])
		}
	}
	for _, row := range tables(r.out, "event") {
		if of := "event " + row["event"]; whole(of) {
			f.cells(of, row, map[string]string{"count": "count"})
		}
	}
	for _, row := range tables(r.out, "counter") {
		if of := "counter " + row["counter"]; whole(of) {
			f.cells(of, row, map[string]string{"count": "count"})
		}
	}
	return f
}

// shares takes a list such as "get 73%, put 27%".
func (f facts) shares(of, list string) {
	for x := range strings.SplitSeq(list, ", ") {
		at := strings.LastIndexByte(x, ' ')
		if n, ok := cell(x[at+1:]); ok && at > 0 && x[:at] != "(no scope)" && !strings.HasPrefix(x, "waiting for ") {
			f.set(of+x[:at]+": share", n)
		}
	}
}

func topBrief(t *testing.T, path string) facts {
	f, kind := facts{}, ""
	var heads []string
	for line := range strings.Lines(call("top", path, "--brief").out) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") {
			heads = nil
			continue
		}
		if strings.Contains(line, "\\|") {
			continue // a name with a bar
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if heads == nil {
			heads, kind = cells, map[string]string{"name": "scope ", "lock": "lock "}[cells[0]]
			continue
		}
		row := map[string]string{}
		for i, c := range cells {
			if i < len(heads) {
				row[heads[i]] = c
			}
		}
		name := row[heads[0]]
		if strings.Contains(name, "``") || strings.Contains(row["count"], " and ") {
			continue
		}
		f.cells(kind+strings.ReplaceAll(name, "`", ""), row, map[string]map[string]string{"scope ": scopeColumns, "lock ": lockColumns}[kind])
	}
	return f
}

func waitsDocument(t *testing.T, path string) facts {
	d, f := document(path, "waits"), facts{}
	for _, x := range list(d, "locks") {
		all := x["wait_ns"].(float64)
		f.set("lock "+shown(x)+": waited", number{low: all, high: all})
		f.keys("lock "+shown(x), x, map[string]string{"": "hold_all_ns"})
		x["wait_ns"] = all - x["waiting_ns"].(float64) - x["brief_ns"].(float64) // of those that ended, as elsewhere
		f.keys("lock "+shown(x), x, lockColumns)
		for _, h := range list(x, "held_by") {
			f.keys("lock "+shown(x)+" held by "+shown(h), h, map[string]string{"": "share"})
		}
	}
	return f.lost(d)
}

func waitsText(t *testing.T, path string) facts {
	r, f := call("waits", path, "-n", "0"), facts{}
	for _, row := range tables(r.out, "lock") {
		of := "lock " + row["lock"]
		if !whole(of) {
			continue
		}
		f.cells(of, row, map[string]string{"waited": "waited", "wait max": "wait_max_ns", "holds": "holds", "hold max": "hold_max_ns"})
		if !strings.HasPrefix(row["held"], "≥") { // null in documents
			f.cells(of, row, map[string]string{"held": "hold_all_ns"})
		}
	}
	return f
}

func infoDocument(t *testing.T, path string) facts {
	d, f := document(path, "info"), facts{}
	if records, ok := d["records"].(map[string]any); ok {
		for kind, n := range records {
			f.add("records: "+kind, n.(float64))
		}
	}
	if open, ok := d["open"].(map[string]any); ok {
		for kind, n := range open {
			f.add("open: "+kind, n.(float64))
		}
	}
	return f.lost(d)
}

// csvRows sums up the rows.
func csvRows(t *testing.T, path string) facts {
	f := facts{}
	for _, r := range csvOf(t, path, "csv", path, "--raw") {
		dur, known := number0(r["dur_ns"])
		of := "scope " + analysis.Show(r["name"])
		switch r["kind"] {
		case "process":
			of += " (process)"
			fallthrough
		case "task", "taskf":
			switch {
			case r["open"] == "true" && known: // else across a step of the clock
				f.add(of+": open", 1)
				f.add(of+": open_ns", dur)
			case known:
				f.add(of+": count", 1)
				f.add(of+": total_ns", dur)
				f.most(of+": max_ns", dur)
				if cpu, ok := number0(r["cpu_ns"]); ok && dur > 0 { // of none that took time there is no CPU time
					f.add(of+": cpu_ns", cpu)
				}
				if cpu, ok := number0(r["cpu_max_ns"]); ok {
					f.add(of+": cpu_max_ns", cpu)
				}
			}
		case "wait", "hold":
			if strings.Contains(r["args"], `"called_off":true`) {
				continue
			}
			if of = "lock " + analysis.Show(r["name"]) + ": " + r["kind"]; known && r["open"] == "false" {
				f.add(of+"s", 1)
				f.add(of+"_ns", dur)
				f.most(of+"_max_ns", dur)
			}
		case "event":
			f.add("event "+analysis.Show(r["name"])+": count", 1)
		case "counter":
			f.add("counter "+analysis.Show(r["name"])+": count", 1)
		}
		if r["open"] == "true" {
			f.add("open: "+r["kind"], 1)
		}
	}
	return f
}

// csvOf runs a command that writes CSV.
func csvOf(t *testing.T, path string, args ...string) (rows []map[string]string) {
	t.Helper()
	r := call(args...)
	all, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		t.Errorf("%s: %q is no CSV: %v", filepath.Base(path), args, err)
	}
	for i := 1; i < len(all); i++ {
		row := map[string]string{}
		for k, head := range all[0] {
			row[head] = all[i][k]
		}
		rows = append(rows, row)
	}
	return rows
}

func number0(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

func chromeEvents(t *testing.T, path string) facts {
	var d struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Args          struct {
				Open bool
				Step bool `json:"clock_step"`
			}
		}
	}
	f := facts{}
	if json.Unmarshal([]byte(call("chrome", path).out), &d) != nil {
		return f
	}
	for _, e := range d.TraceEvents {
		of := "scope " + analysis.Show(e.Name)
		switch {
		case e.Ph == "C" && e.Cat == "counter":
			f.add("counter "+analysis.Show(e.Name)+": count", 1)
		case e.Ph != "X" || e.Args.Open || e.Args.Step:
		case e.Cat == "process":
			f.add(of+" (process): count", 1)
		case e.Cat == "task":
			f.add(of+": count", 1)
		}
	}
	return f
}

// states takes times by state.
func (f facts) states(of string, x map[string]any, key string) {
	times, _ := x[key].(map[string]any)
	for state, ns := range times {
		f.add(of+": "+state, ns.(float64))
	}
}

func statesDocument(t *testing.T, path string) facts {
	d, f := document(path, "states", "--by", "name"), facts{}
	f.states("states", d, "all_ns")
	for _, g := range list(d, "groups") {
		times, _ := g["states_ns"].(map[string]any)
		for state, ns := range times {
			if total := g["total_ns"].(float64); total > 0 {
				share := ns.(float64) / total
				f.set("states of scope "+shown(g)+": share of "+state, number{low: share, high: share})
			}
		}
	}
	return f.lost(d)
}

func statesText(t *testing.T, path string) facts {
	f := facts{}
	for _, row := range tables(call("states", path, "--by", "name", "-n", "0").out, "name") {
		for state, share := range row {
			if n, ok := cell(share); ok && whole(row["name"]) && strings.HasSuffix(share, "%") {
				f.set("states of scope "+row["name"]+": share of "+state, n)
			}
		}
	}
	return f
}

func statesByGoroutine(t *testing.T, path string) facts {
	d, f := document(path, "states", "--by", "goroutine"), facts{}
	for _, g := range list(d, "groups") {
		f.states("states", g, "states_ns")
	}
	return f.lost(d)
}

func csvStates(t *testing.T, path string) facts {
	f := facts{}
	for _, r := range csvOf(t, path, "csv", path, "--states") {
		if dur, ok := number0(r["dur_ns"]); ok && r["kind"] == "state" {
			f.add("states: "+r["name"], dur)
		}
	}
	return f
}

// rowsDocument has the sum over a table's rows, and functions each.
func rowsDocument(command string) func(*testing.T, string) facts {
	return func(t *testing.T, path string) facts {
		d, f := document(path, command), facts{}
		for _, x := range list(d, "rows") {
			for _, kind := range []string{"exclusive", "inclusive"} {
				values, _ := x[kind].(map[string]any)
				for metric, v := range values {
					if kind == "exclusive" {
						f.add("samples: "+metric, v.(float64))
					}
					if command == "functions" {
						f.add("function "+shown(x)+": "+kind+" "+metric, v.(float64))
					}
				}
			}
		}
		return f
	}
}

func rowsCSV(command string) func(*testing.T, string) facts {
	return func(t *testing.T, path string) facts {
		f := facts{}
		for _, r := range csvOf(t, path, command, path, "--format", "csv") {
			for head, text := range r {
				kind, metric, _ := strings.Cut(head, "_")
				v, ok := number0(text)
				if !ok || kind != "exclusive" && kind != "inclusive" || v == 0 {
					continue
				}
				if kind == "exclusive" {
					f.add("samples: "+metric, v)
				}
				f.add("function "+analysis.Show(r["name"])+": "+kind+" "+metric, v)
			}
		}
		return f
	}
}

// functionsText reads times in seconds.
func functionsText(t *testing.T, path string) facts {
	f := facts{}
	r := call("functions", path, "-n", "0", "-m", "e.cpu:i.cpu:e.off:i.off")
	for _, row := range tables(r.out, "e.cpu") {
		of := "function " + row["function"] + ": "
		for _, head := range []string{"e.cpu", "i.cpu", "e.off", "i.off"} {
			kind, metric := map[byte]string{'e': "exclusive ", 'i': "inclusive "}[head[0]], head[2:]
			n, ok := cell(row[head] + "s")
			if !ok || row[head] == "" || row[head] == "0." { // what is 0 is left out elsewhere
				continue
			}
			if row["function"] != samples.TotalName {
				f.set(of+kind+metric, n)
			} else if kind == "inclusive " {
				f.set("samples: "+metric, n)
			}
		}
	}
	return f
}

// headerDocument has the totals.
func headerDocument(t *testing.T, path string) facts {
	f := facts{}
	for _, x := range list(document(path, "header"), "metrics") {
		if v, ok := x["total"].(float64); ok && v != 0 {
			f.set("samples: "+shown(x), number{low: v, high: v})
		}
	}
	return f
}

// pprofSums sums up a profile, as the package of go tool pprof reads it.
func pprofSums(t *testing.T, path string) facts {
	f := facts{}
	r := call("pprof", path)
	if r.code != 0 || r.out == "" {
		return f
	}
	p, err := profile.ParseData([]byte(r.out))
	if err != nil {
		t.Errorf("%s: go tool pprof can't read the profile: %v", filepath.Base(path), err)
		return f
	}
	for i, metric := range p.SampleType {
		for _, s := range p.Sample {
			v := float64(s.Value[i])
			if v == 0 {
				continue
			}
			f.add("samples: "+metric.Type, v)
			in, own := map[string]bool{}, true
			for _, l := range s.Location {
				for _, line := range l.Line {
					name := analysis.Show(line.Function.Name)
					if own {
						f.add("function "+name+": exclusive "+metric.Type, v)
					}
					if own = false; !in[name] {
						f.add("function "+name+": inclusive "+metric.Type, v)
					}
					in[name] = true
				}
			}
		}
	}
	return f
}

var waitsEvidence = regexp.MustCompile(`^([\d,]+) waits? for (?:lock )?(.+?) took (\S+) together`)

// doctorEvidence has what findings say of a lock's waits.
func doctorEvidence(t *testing.T, path string) facts {
	f := facts{}
	for _, x := range list(document(path, "doctor"), "findings") {
		lines, _ := x["evidence"].([]any)
		for _, line := range lines {
			if m := waitsEvidence.FindStringSubmatch(line.(string)); m != nil {
				count, ok1 := cell(m[1])
				total, ok2 := cell(m[3])
				if ok1 && ok2 {
					f.set("lock "+m[2]+": waits", count)
					f.set("lock "+m[2]+": wait_ns", total)
				}
			}
		}
	}
	return f
}

// sums are questions for SQL: in each row what it is of, the key and the number.
const sums = `
WITH of AS (
  SELECT 'scope ' || name || CASE kind WHEN 'process' THEN ' (process)' ELSE '' END AS what, duration_ns FROM scopes WHERE NOT is_open AND duration_ns IS NOT NULL
)
SELECT what, 'count' AS key, count(*) AS n FROM of GROUP BY what
UNION ALL SELECT what, 'total_ns', sum(duration_ns) FROM of GROUP BY what
UNION ALL SELECT what, 'max_ns', max(duration_ns) FROM of GROUP BY what
UNION ALL SELECT 'lock ' || name, 'waits', count(*) FROM waits WHERE NOT is_open AND duration_ns > 0 GROUP BY name
UNION ALL SELECT 'lock ' || name, 'wait_ns', sum(duration_ns) FROM waits WHERE NOT is_open GROUP BY name
UNION ALL SELECT 'lock ' || name, 'holds', count(*) FROM holds WHERE NOT is_open GROUP BY name
UNION ALL SELECT 'lock ' || name, 'hold_ns', sum(duration_ns) FROM holds WHERE NOT is_open GROUP BY name
UNION ALL SELECT 'counter ' || name, 'count', count(*) FROM counters GROUP BY name
UNION ALL SELECT 'event ' || name, 'count', count(*) FROM events GROUP BY name
UNION ALL SELECT 'states', state, sum(duration_ns) FROM states GROUP BY state
`

// sqlSums makes Parquet tables of a trace, and asks DuckDB. make fleet builds what that takes.
func sqlSums(t *testing.T, path string) facts {
	t.Helper()
	f, dir := facts{}, t.TempDir()
	tool, err := filepath.Abs("../../bin/scopeview")
	if err != nil {
		t.Fatal(err)
	}
	question := filepath.Join(dir, "sums.sql")
	if err := os.WriteFile(question, []byte(sums), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "export", "parquet", path, "-o", filepath.Join(dir, "tables")).CombinedOutput(); err != nil {
		t.Fatalf("%s: tables: %v\n%s", filepath.Base(path), err, out)
	}
	out, err := exec.Command(tool, "sql", question, "-d", filepath.Join(dir, "tables"), "--csv").Output()
	if err != nil {
		t.Fatalf("%s: sql: %v\n%s", filepath.Base(path), err, out)
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		n, ok := number0(r[2])
		if !ok {
			t.Fatalf("%s: sql: %q is no number", filepath.Base(path), r)
		}
		f.set(r[0]+": "+r[1], number{low: n, high: n})
	}
	return f
}

// renamed takes numbers of an object of the page, by key and what documents call it. Of none
// that ended the page has 0 where a document has null.
func (f facts) renamed(of string, x map[string]any, columns map[string]string) {
	for key, what := range columns {
		v, ok := x[key].(float64)
		if x["count"] == 0.0 && what != "count" && !strings.HasPrefix(what, "open") || key == "waitMax" && x["waits"] == 0.0 || key == "holdMax" && x["holds"] == 0.0 {
			continue
		}
		f.set(of+": "+what, number{low: math.Floor(v), high: math.Ceil(v), unknown: !ok})
	}
}

// pageScript sums up what pages hold, as their Summary tab does.
const pageScript = `
import { readFileSync } from "node:fs";
import { fromBase64, inflate, readContainer } from ASSETS/data/columns.js";
import { Model } from ASSETS/model/model.js";
import { summarize } from ASSETS/model/stats.js";
const sums = {};
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { path, container } = JSON.parse(line);
  try {
    const model = new Model({ home: "file" });
    model.replace(readContainer(await inflate(fromBase64(container))));
    const named = (x) => ({ ...x, name: model.name(x.name) });
    const { scopes, locks } = summarize(model, 0, Infinity, true);
    sums[path] = { scopes: scopes.map(named), locks: locks.map(named) };
  } catch (e) {
    sums[path] = { error: e.message };
  }
}
console.log(JSON.stringify(sums));
`

// pageFacts has what the page of each trace shows; none without node.
func pageFacts(t *testing.T, paths []string) map[string]facts {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("what the page shows is not compared: node is not installed")
		return nil
	}
	assets, err := filepath.Abs("../../export/html/assets")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, path := range paths {
		r := call("html", path)
		_, container, ok := strings.Cut(r.out, `id="data"`)
		if !ok {
			continue
		}
		_, container, _ = strings.Cut(container, ">")
		container, _, _ = strings.Cut(container, "<")
		if _, err := base64.StdEncoding.DecodeString(strings.TrimSpace(container)); err != nil {
			t.Fatalf("%s: the page has no container: %v", path, err)
		}
		line, err := json.Marshal(map[string]string{"path": path, "container": strings.TrimSpace(container)})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	cmd := exec.Command(node, "--input-type=module", "-e", strings.ReplaceAll(pageScript, "ASSETS", `"file://`+assets))
	cmd.Stdin = strings.NewReader(lines.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var sums map[string]struct {
		Scopes, Locks []map[string]any
		Error         string
	}
	if err := json.Unmarshal(out, &sums); err != nil {
		t.Fatal(err)
	}
	pages := map[string]facts{}
	for path, s := range sums {
		if s.Error != "" {
			t.Errorf("%s: the page can't read what it holds: %s", filepath.Base(path), s.Error)
			continue
		}
		f := facts{}
		for _, x := range s.Scopes {
			f.renamed(scopeOf(x), x, map[string]string{
				"count": "count", "total": "total_ns", "self": "self_ns", "mean": "mean_ns", "min": "min_ns", "max": "max_ns", "cpuMax": "cpu_max_ns", "open": "open", "openTime": "open_ns",
			})
		}
		for _, x := range s.Locks {
			f.renamed("lock "+shown(x), x, map[string]string{
				"waits": "waits", "wait": "wait_ns", "waitMax": "wait_max_ns", "holds": "holds", "hold": "hold_ns", "holdMax": "hold_max_ns",
			})
		}
		pages[path] = f
	}
	return pages
}
