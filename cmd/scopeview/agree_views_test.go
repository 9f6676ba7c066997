package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/show"
)

// agreeViews are the views of the command line. The page's is pageFacts.
var agreeViews = []view{
	{"top --json", topDocument},
	{"top", topText},
	{"top --brief", topBrief},
	{"waits --json", waitsDocument},
	{"waits", waitsText},
	{"info --json", infoDocument},
	{"export csv", csvRows},
	{"export csv --states", csvStates},
	{"sql of the trace", questionSums},
	{"export chrome", chromeEvents},
	{"states --json", statesDocument},
	{"states", statesText},
	{"states --by goroutine", statesByGoroutine},
	{"profile --json", rowsDocument("profile")},
	{"profile --format csv", rowsCSV("profile")},
	{"profile --by line --json", rowsDocument("profile --by line")},
	{"profile --by object --json", rowsDocument("profile --by object")},
	{"profile --by goroutine --json", rowsDocument("profile --by goroutine")},
	{"profile --by thread --json", rowsDocument("profile --by thread")},
	{"profile", functionsText},
	{"profile --by metric --json", headerDocument},
	{"export pprof", pprofSums},
	{"doctor --json", doctorEvidence},
}

// Heads of columns, and their keys in documents.
var (
	scopeColumns = map[string]string{
		"count": "count", "total": "total_ns", "self": "self_ns", "mean": "mean_ns", "min": "min_ns", "p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns",
		"max": "max_ns", "cpu": "cpu_ns", "known": "cpu_coverage", "cpu/wall": "cpu_per_wall", "cpu max": "cpu_max_ns",
	}
	lockColumns = map[string]string{
		"waits": "waits", "wait total": "wait_ns", "wait max": "wait_max_ns", "holds": "holds", "hold total": "hold_ns", "hold max": "hold_max_ns",
	}
)

// document runs a command with --json; it returns nil if there is no document.
func document(path string, args ...string) (d map[string]any) {
	r := scopeview(append(args, path, "--json")...)
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

// shown returns an object's name as people see it.
func shown(x map[string]any) string {
	name, _ := x["name"].(string)
	return show.Name(name)
}

// keys adds the numbers of an object. Without waits or holds, the longest one is unknown.
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

// cells adds the cells of a row of a table for people. It ignores empty cells, and the times if
// nothing ended.
func (f facts) cells(of string, row, columns map[string]string) {
	for head, key := range columns {
		if ended, is := row["count"]; is && ended == "0" && head != "count" {
			continue
		}
		text := row[head]
		if head == "self" && strings.HasPrefix(text, "≥") { // null in documents; of locks hold_at_least stands beside the number
			text = "-"
		}
		if n, ok := cell(text); ok && text != "" {
			f.set(of+": "+key, n)
		}
	}
}

// lost adds the lost records, which each document has.
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

// whole reports whether a table shows the full name.
func whole(name string) bool { return !strings.HasSuffix(name, "…") }

func topText(t *testing.T, path string) facts {
	r, f := scopeview("top", path, "-n", "0"), facts{}
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

// shares adds a list such as "get 73%, put 27%".
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
	for line := range strings.Lines(scopeview("top", path, "--brief").out) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") {
			heads = nil
			continue
		}
		if strings.Contains(line, "\\|") {
			continue // a name that contains a bar
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
		x["wait_ns"] = all - x["waiting_ns"].(float64) - x["brief_ns"].(float64) // of waits that ended, as in the other views
		f.keys("lock "+shown(x), x, lockColumns)
		for _, h := range list(x, "held_by") {
			f.keys("lock "+shown(x)+" held by "+shown(h), h, map[string]string{"": "share"})
		}
	}
	return f.lost(d)
}

func waitsText(t *testing.T, path string) facts {
	r, f := scopeview("waits", path, "-n", "0"), facts{}
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
	for _, r := range csvOf(t, path, "export", "csv", path, "--raw") {
		dur, known := number0(r["dur_ns"])
		of := "scope " + show.Name(r["name"])
		switch r["kind"] {
		case "process":
			of += " (process)"
			fallthrough
		case "task", "taskf":
			switch {
			case r["open"] == "true" && known: // otherwise across a step of the clock
				f.add(of+": open", 1)
				f.add(of+": open_ns", dur)
			case known:
				f.add(of+": count", 1)
				f.add(of+": total_ns", dur)
				f.most(of+": max_ns", dur)
				if cpu, ok := number0(r["cpu_ns"]); ok && dur > 0 { // if none took time, there is no CPU time
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
			if of = "lock " + show.Name(r["name"]) + ": " + r["kind"]; known && r["open"] == "false" {
				f.add(of+"s", 1)
				f.add(of+"_ns", dur)
				f.most(of+"_max_ns", dur)
			}
		case "event":
			f.add("event "+show.Name(r["name"])+": count", 1)
		case "counter":
			f.add("counter "+show.Name(r["name"])+": count", 1)
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
	r := scopeview(args...)
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
	if json.Unmarshal([]byte(scopeview("export", "chrome", path).out), &d) != nil {
		return f
	}
	for _, e := range d.TraceEvents {
		of := "scope " + show.Name(e.Name)
		switch {
		case e.Ph == "C" && e.Cat == "counter":
			f.add("counter "+show.Name(e.Name)+": count", 1)
		case e.Ph != "X" || e.Args.Open || e.Args.Step:
		case e.Cat == "process":
			f.add(of+" (process): count", 1)
		case e.Cat == "task":
			f.add(of+": count", 1)
		}
	}
	return f
}

// states adds times by state.
func (f facts) states(x map[string]any, key string) {
	times, _ := x[key].(map[string]any)
	for state, ns := range times {
		f.add("states: "+state, ns.(float64))
	}
}

func statesDocument(t *testing.T, path string) facts {
	d, f := document(path, "states", "--by", "name"), facts{}
	f.states(d, "all_ns")
	f.states(d, "runtime_ns") // the runtime's goroutines are in no group, and not in all
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
	for _, row := range tables(scopeview("states", path, "--by", "name", "-n", "0").out, "name") {
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
		f.states(g, "states_ns")
	}
	f.states(d, "runtime_ns") // the runtime's goroutines are in no group
	return f.lost(d)
}

func csvStates(t *testing.T, path string) facts {
	f := facts{}
	for _, r := range csvOf(t, path, "export", "csv", path, "--states") {
		if dur, ok := number0(r["dur_ns"]); ok && r["kind"] == "state" {
			f.add("states: "+r["name"], dur)
		}
	}
	return f
}

var waitsEvidence = regexp.MustCompile(`^([\d,]+) waits? for (?:lock )?(.+?) took (\S+) together`)

// doctorEvidence returns the numbers of a lock's waits in findings.
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
