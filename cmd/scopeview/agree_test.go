package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// A number is a number in a view: a value between low and high, which its rounding allows, or
// unknown.
type number struct {
	low, high float64
	unknown   bool
	twice     bool // the view has several rows of that name, which can't be distinguished
}

// facts holds the numbers of a view, by their names: "scope f: total".
type facts map[string]number

func (f facts) set(what string, n number) {
	_, n.twice = f[what]
	f[what] = n
}

// add adds to an exact sum.
func (f facts) add(what string, v float64) {
	f[what] = number{low: f[what].low + v, high: f[what].high + v}
}

// most keeps the larger value.
func (f facts) most(what string, v float64) {
	if had, ok := f[what]; !ok || v > had.low {
		f[what] = number{low: v, high: v}
	}
}

// A view shows some of the numbers of a trace in its own form. Numbers for which it has no room are
// not among its facts.
type view struct {
	name string
	of   func(t *testing.T, path string) facts
}

// TestViewsAgree compares each number of a trace that several views show: for all goldens, old
// formats, and random traces, valid and invalid.
func TestViewsAgree(t *testing.T) { viewsAgree(t, agreeTraces(t), agreeViews, 10_000) }

// TestTruthViewsAgree does the same for recordings of the examples, and also queries SQL.
func TestTruthViewsAgree(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("records examples for a minute: make truth runs it")
	}
	viewsAgree(t, exampleTraces(t), append(slices.Clone(agreeViews), view{"sql", sqlSums}), 1_000)
}

// viewsAgree fails if two views contradict each other, or if they share fewer than least numbers.
func viewsAgree(t *testing.T, paths []string, views []view, least int) {
	t.Helper()
	pages := pageFacts(t, paths)
	shared := 0
	for _, path := range paths {
		said := map[string]facts{}
		for _, v := range views {
			said[v.name] = v.of(t, path)
		}
		if f, ok := pages[path]; ok {
			said["page"] = f
		}
		shared += compareFacts(t, filepath.Base(path), said)
	}
	if shared < least {
		t.Errorf("%d numbers of %d traces are in several views: the views are not read right", shared, len(paths))
	}
	t.Logf("%d numbers of %d traces are the same in all views", shared, len(paths))
}

// exampleTraces records the examples, one of them also from outside.
func exampleTraces(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	run("go", "-C", root, "build", "-o", dir+"/", "./examples/doctor", "./examples/gostats")
	trace := func(name string) string {
		paths = append(paths, filepath.Join(dir, name+extension))
		return paths[len(paths)-1]
	}
	for _, name := range []string{
		"lock-contention", "fat-critical-section", "serialization", "load-imbalance", "too-fine", "oversubscription", "not-enough-parallelism",
		"gc", "channel", "convoy", "spinning", "page-faults", "blocking-under-lock", "healthy-map", "healthy-pipeline", "healthy-server", "healthy-batch",
	} {
		run("./doctor", "-trace", trace(name), name)
	}
	run("./gostats", "-workers", "8", "-limit-files", "1000", "-trace", trace("gostats"))
	if outside := filepath.Join(dir, "outside"+extension); scopeview("record", "-o", outside, "--", filepath.Join(dir, "doctor"), "lock-contention").code == 0 {
		paths = append(paths, outside)
	}
	merged := trace("merged")
	if r := scopeview(append([]string{"merge", "-o", merged}, paths[:3]...)...); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	return paths
}

// compareFacts returns the number of facts that more than one view has.
func compareFacts(t *testing.T, of string, said map[string]facts) (shared int) {
	t.Helper()
	names := slices.Sorted(maps.Keys(said))
	for k, one := range names {
		for _, other := range names[k+1:] {
			for _, what := range slices.Sorted(maps.Keys(said[one])) {
				a := said[one][what]
				b, ok := said[other][what]
				if !ok || a.twice || b.twice {
					continue
				}
				shared++
				if a.unknown != b.unknown || !a.unknown && (a.low > b.high || b.low > a.high) {
					t.Errorf("%s: %s is %v by %s and %v by %s", of, what, a, one, b, other)
				}
			}
		}
	}
	return shared
}

func (n number) String() string {
	switch {
	case n.unknown:
		return "unknown"
	case n.low == n.high:
		return strconv.FormatFloat(n.low, 'g', -1, 64)
	}
	return fmt.Sprintf("%g to %g", n.low, n.high)
}

// agreeTraces writes the traces to compare: those that the tool opens.
func agreeTraces(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	keep := func(name string, data []byte) {
		path := filepath.Join(dir, strings.NewReplacer("/", "_").Replace(name)+extension)
		filetest.Write(t, path, data)
		if r := scopeview("info", path, "--json"); strings.HasPrefix(r.out, "{") {
			paths = append(paths, path)
		}
	}
	for _, g := range tracetest.Goldens(t, "../../internal/trace") {
		keep("golden-"+g.Name, g.Bytes(t))
	}
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		_, parts := readScript(t, script)
		for _, p := range parts {
			if filepath.Ext(p.head) != extension {
				continue
			}
			if data, err := text.Assemble(strings.NewReader(p.text)); err == nil {
				keep(strings.TrimSuffix(filepath.Base(script), ".txtar")+"-"+p.head, data)
			}
		}
	}
	old, err := filepath.Glob("../../internal/trace/testdata/v*/*.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		packed := filetest.Read(t, path)
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		keep(filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path), data)
	}
	merged := filepath.Join(dir, "merged"+extension)
	if r := scopeview(append([]string{"merge", "-o", merged}, paths[len(paths)-len(old):]...)...); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if !strings.Contains(scopeview("states", merged, "--json").out, `"all_ns"`) {
		t.Error("no state of a goroutine is in the merged trace")
	}
	paths = append(paths, merged)
	for seed := range uint64(30) {
		keep(fmt.Sprintf("random-%d", seed), tracetest.Random(t, seed, seed%3 == 0))
	}
	return paths
}

// cell parses a number as in a table for people; ok is false for anything else, such as words.
func cell(s string) (n number, ok bool) {
	s = strings.TrimLeft(strings.TrimSpace(s), "≤≥≈ ")
	if s == "-" {
		return number{unknown: true}, true
	}
	if rest, is := strings.CutPrefix(s, "<"); is {
		n, ok = cell(rest)
		return number{high: n.high}, ok
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.,-", r) })
	if end < 0 {
		end = len(s)
	}
	digits, unit := strings.ReplaceAll(s[:end], ",", ""), strings.TrimSpace(s[end:])
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return n, false
	}
	half := 0.0 // an integer without a unit is exact
	if _, decimals, is := strings.Cut(digits, "."); is {
		half = 0.5 * math.Pow10(-len(decimals))
	} else if unit != "" && unit != "ns" {
		half = 0.5
	}
	scale := map[string]float64{"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01}[unit]
	if minutes, is := clockTime(s); is {
		v, half, scale = minutes, 0.5, 1e9
		if strings.Contains(s, "h") {
			half = 30
		}
	}
	// A truncated and a rounded quotient count as equal: Mean, and half a nanosecond.
	half = half*scale*1.01 + 1e-9
	n = number{low: v*scale - half, high: v*scale + half}
	if s == "99.9%" {
		n.high = 1 // a part less than all is not shown as 100%
	}
	return n, scale != 0
}

// clockTime reads 12m34s and 3h25m, as seconds.
func clockTime(s string) (float64, bool) {
	var a, b float64
	if n, _ := fmt.Sscanf(s, "%fm%fs", &a, &b); n == 2 {
		return 60*a + b, true
	}
	if n, _ := fmt.Sscanf(s, "%fh%fm", &a, &b); n == 2 {
		return 3600*a + 60*b, true
	}
	return 0, false
}

// tables parses the tables of a report for people whose head begins with a word, and returns their
// rows by column. A column ends where all lines of the table have two spaces.
func tables(report, first string) (rows []map[string]string) {
	for block := range strings.SplitSeq(report, "\n\n") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		for len(lines) > 0 && !strings.HasPrefix(lines[0], first+" ") {
			lines = lines[1:]
		}
		for len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "… and ") {
			lines = lines[:len(lines)-1]
		}
		rows = append(rows, table(lines)...)
	}
	return rows
}

func table(lines []string) (rows []map[string]string) {
	if len(lines) < 2 {
		return nil
	}
	width := 0
	wide := make([][]rune, len(lines))
	for i, line := range lines {
		wide[i] = []rune(line)
		width = max(width, len(wide[i]))
	}
	blank := func(at int) bool {
		return !slices.ContainsFunc(wide, func(line []rune) bool { return at < len(line) && line[at] != ' ' })
	}
	var columns [][2]int
	for at := 0; at < width; {
		end := at
		for end < width && !(blank(end) && (end+1 >= width || blank(end+1))) {
			end++
		}
		columns = append(columns, [2]int{at, end})
		for at = end; at < width && blank(at); at++ {
		}
	}
	part := func(line []rune, c [2]int) string {
		return strings.TrimSpace(string(line[min(c[0], len(line)):min(c[1], len(line))]))
	}
	for _, line := range wide[1:] {
		row := map[string]string{}
		for _, c := range columns {
			row[part(wide[0], c)] = part(line, c)
		}
		rows = append(rows, row)
	}
	return rows
}
