package main

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modules are programs that know nothing of scopeview, and that do the same work each time:
// benchmarks of modules as they are. What badger's does costs the kernel more in one run than
// in another, by more than the sampling error: twice is for the others.
var modules = []struct {
	name, pkg, bench, times string
	twice                   bool
}{
	{"zstd", "github.com/klauspost/compress/zstd", "^(BenchmarkEncoder_EncodeAll(XML|HTML|Twain)|BenchmarkDecoder_DecodeAll)$", "300x", true},
	{"badger", "github.com/dgraph-io/badger/v4/table", "^BenchmarkReadAndBuild$", "2x", false},
}

// TestFromOutside: what scopeview record samples of a program from outside, a thousand times in
// a second of CPU time, is what the program's own CPU profile has, of the same run and of
// another one: functions, callers and lines, within the sampling error.
func TestFromOutside(t *testing.T) {
	if os.Getenv("SCOPEVIEW_DOCTOR") != "full" {
		t.Skip("make doctor-check runs it")
	}
	tool := filepath.Join(t.TempDir(), "scopeview")
	run(t, "../../..", "go", "build", "-o", tool, "./cmd/scopeview")
	for _, m := range modules {
		t.Run(m.name, func(t *testing.T) {
			tmp := t.TempDir()
			program, profile, trace := filepath.Join(tmp, "program"), filepath.Join(tmp, "cpu.pprof"), filepath.Join(tmp, "x.scope")
			run(t, ".", "go", "test", "-c", "-o", program, m.pkg)
			dir := strings.TrimSpace(run(t, ".", "go", "list", "-f", "{{.Dir}}", m.pkg)) // its test data is there
			work := []string{program, "-test.run=NONE", "-test.bench=" + m.bench, "-test.benchtime=" + m.times}
			work = append(work, "-test.cpuprofile="+profile)
			run(t, dir, append([]string{tool, "record", "-o", trace, "--counter", "task-clock:1ms", "--"}, work...)...)
			ours, theirs := &source{t: t, tool: tool, path: trace}, &source{t: t, tool: tool, path: profile}
			compareAll(t, "the same run: ", ours, theirs)
			if m.twice {
				run(t, dir, work...)
				compareAll(t, "another run: ", ours, theirs)
			}
		})
	}
}

func compareAll(t *testing.T, which string, ours, theirs *source) {
	t.Helper()
	compare(t, which+"exclusive", ours.functions("exclusive_cpu"), theirs.functions("exclusive_cpu"))
	compare(t, which+"inclusive", ours.functions("inclusive_cpu"), theirs.functions("inclusive_cpu"))
	compare(t, which+"lines", ours.lines(), theirs.lines())
	hot := hottest(theirs.functions("inclusive_cpu"), 25)
	compare(t, which+"callers and callees", ours.calls(hot), theirs.calls(hot))
}

// run runs a command and returns what it printed.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, errors.String())
	}
	return string(out)
}

// source is a trace or profile whose samples scopeview shows.
type source struct {
	t          *testing.T
	tool, path string
}

// measured is the CPU time of things, and how many samples there are of all.
type measured struct {
	ns      map[string]float64
	total   float64
	samples float64
}

// apart are functions that only one side knows: the kernel's part belongs to its caller;
// and where the signal that takes a sample meets the one that stops a goroutine, Go sees
// asyncPreempt, whose time is its caller's. What starts goroutines is no caller from outside. From
// outside the caller of code without frame pointers, such as assembly, may be unknown: of unknownMost of
// all samples at most.
var apart = []string{"[kernel]", "runtime.asyncPreempt", "runtime.main", "runtime.goexit", unknownCaller, "<Total>"}

const (
	unknownCaller = "<unknown caller>"
	unknownMost   = 0.05
)

// rows reads a view as a table.
func (s *source) rows(args ...string) []map[string]string {
	s.t.Helper()
	all, err := csv.NewReader(strings.NewReader(run(s.t, ".", append([]string{s.tool}, append(args, "--format", "csv")...)...))).ReadAll()
	if err != nil {
		s.t.Fatal(err)
	}
	var rows []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[all[0][i]] = cell
		}
		rows = append(rows, m)
	}
	return rows
}

func (s *source) number(row map[string]string, column string) float64 {
	s.t.Helper()
	n, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// functions returns what functions have. What they have in the functions apart is theirs.
func (s *source) functions(column string) measured {
	m := measured{ns: map[string]float64{}}
	for _, row := range s.rows("profile", s.path) {
		m.total += s.number(row, "exclusive_cpu")
		m.ns[row["name"]] = s.number(row, column)
	}
	if column == "inclusive_cpu" && m.ns[unknownCaller] > unknownMost*m.total {
		s.t.Errorf("the callers of %.2f%% of all samples are unknown", 100*m.ns[unknownCaller]/m.total)
	}
	if m.samples = m.total / 1e6; filepath.Ext(s.path) == ".pprof" {
		m.samples /= 10
	}
	for _, name := range apart {
		if _, ok := m.ns[name]; ok && column == "exclusive_cpu" {
			rows := s.rows("callers", s.path, name)
			self := rows[slices.IndexFunc(rows, func(row map[string]string) bool { return row["role"] == "function" })]
			for _, row := range rows {
				if row["role"] == "caller" {
					m.ns[row["name"]] += s.number(row, "attributed_cpu") * s.number(self, "exclusive_cpu") / s.number(self, "inclusive_cpu")
				}
			}
		}
	}
	for _, name := range apart {
		delete(m.ns, name)
	}
	return m
}

func (s *source) lines() measured {
	m := s.functions("exclusive_cpu")
	clear(m.ns)
	for _, row := range s.rows("profile", s.path, "--by", "line") {
		if !slices.Contains(apart, row["name"]) {
			m.ns[row["name"]+":"+row["line"]] = s.number(row, "inclusive_cpu")
		}
	}
	return m
}

// calls returns what callers and callees of functions have of them.
func (s *source) calls(functions []string) measured {
	m := s.functions("exclusive_cpu")
	clear(m.ns)
	for _, f := range functions {
		for _, row := range s.rows("callers", s.path, f) {
			if row["role"] != "function" && !slices.Contains(apart, row["name"]) {
				m.ns[row["role"]+" "+row["name"]+" of "+f] = s.number(row, "attributed_cpu")
			}
		}
	}
	return m
}

// hottest returns the names of what has most.
func hottest(m measured, n int) (names []string) {
	for name := range m.ns {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(m.ns[b], m.ns[a]), strings.Compare(a, b)) })
	return names[:min(n, len(names))]
}

// compare holds two measurements of shares against their sampling error: four standard
// deviations of their difference, and half a percent of the whole for what the runs did
// differently: the program's start, and the work of sampling itself.
func compare(t *testing.T, what string, a, b measured) {
	t.Helper()
	names := map[string]bool{}
	for name := range a.ns {
		names[name] = true
	}
	for name := range b.ns {
		names[name] = true
	}
	worst, which := 0.0, ""
	for name := range names {
		p1, p2 := a.ns[name]/a.total, b.ns[name]/b.total
		p := (p1*a.samples + p2*b.samples) / (a.samples + b.samples)
		bound := 4*math.Sqrt(p*(1-p)*(1/a.samples+1/b.samples)) + 0.005
		if part := math.Abs(p1-p2) / bound; part > worst {
			worst, which = part, name
		}
		if math.Abs(p1-p2) > bound {
			t.Errorf("%s: %s has %.2f%% from outside and %.2f%% by the program's own profile; they may differ by %.2f%%", what, name, 100*p1, 100*p2, 100*bound)
		}
	}
	t.Logf("%s: %d compared, of %.0f and %.0f samples; the worst differs by %.0f%% of what is allowed: %s", what, len(names), a.samples, b.samples, 100*worst, which)
}
