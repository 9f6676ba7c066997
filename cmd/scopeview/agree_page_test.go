package main

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// sums is an SQL query for the numbers of a trace: each row has a name, a key and a number.
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

// sqlSums writes Parquet tables of a trace, and queries them with DuckDB. make fleet builds the
// companion for it.
func sqlSums(t *testing.T, path string) facts {
	t.Helper()
	f, dir := facts{}, t.TempDir()
	tool, err := filepath.Abs("../../bin/scopeview")
	if err != nil {
		t.Fatal(err)
	}
	question := filepath.Join(dir, "sums.sql")
	filetest.Write(t, question, []byte(sums))
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

// renamed adds the numbers of an object of the page, by their keys in documents. If nothing ended,
// the page has 0 where a document has null.
func (f facts) renamed(of string, x map[string]any, columns map[string]string) {
	for key, what := range columns {
		v, ok := x[key].(float64)
		if x["count"] == 0.0 && what != "count" && !strings.HasPrefix(what, "open") || key == "waitMax" && x["waits"] == 0.0 || key == "holdMax" && x["holds"] == 0.0 {
			continue
		}
		f.set(of+": "+what, number{low: math.Floor(v), high: math.Ceil(v), unknown: !ok})
	}
}

// pageScript sums up the data of pages, as their Summary tab does.
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
    const { scopes, locks } = summarize(model, ...(model.meta.excerpt ?? [0, Infinity]), true);
    sums[path] = { scopes: scopes.map(named), locks: locks.map(named) };
  } catch (e) {
    sums[path] = { error: e.message };
  }
}
console.log(JSON.stringify(sums));
`

// pageFacts returns the numbers on the page of each trace; none without node.
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
		r := scopeview("html", path)
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
