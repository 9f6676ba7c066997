package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/membench"
)

// TestDoctorDocument: the keys that the issue of the document promised.
func TestDoctorDocument(t *testing.T) {
	b, err := json.Marshal(doctor.Report{Findings: []doctor.Finding{{}}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), `{"findings":[{"verdict":"","text":"","object":"","scopes":null,"share":0,"gain":0,"confidence":0,"from_ns":0,"to_ns":0`) {
		t.Errorf("%s", b)
	}
}

func TestDoctorHelpNamesAllVerdicts(t *testing.T) {
	help := call("doctor", "--help").out
	for _, v := range doctor.Verdicts {
		if !strings.Contains(help, string(v)) {
			t.Errorf("%s is missing in\n%s", v, help)
		}
	}
}

// TestMembenchIsReadByDoctor: what membench writes is what doctor reads, as is what
// scale writes around it.
func TestMembenchIsReadByDoctor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if r := call("membench", "--json", "--time", "10ms", "-o", path); r.code != 0 {
		t.Fatal(r)
	}
	b, err := readBandwidth(path)
	if err != nil || len(b.Points) == 0 || b.Points[0].Cores != 1 || b.Points[0].Memory != 1 || b.Points[0].Compute != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	inner, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"command":["x"],"points":[{"procs":1}],"memory":`+string(inner)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := readBandwidth(path); err != nil || len(c.Points) != len(b.Points) {
		t.Errorf("%+v, %v", c, err)
	}
	if r := call("membench", "--cores", "9999999"); r.code != exitFailed || !strings.Contains(r.err, "9999999 cores can't be measured") {
		t.Errorf("%v", r)
	}
}

func TestMembenchText(t *testing.T) {
	r := &membench.Result{CPU: "EPYC", Cores: 2, Cache: 32 << 20, Arrays: 256 << 20, Points: []membench.Point{{Cores: 1, Copy: 2e10, Triad: 1e10, Compute: 1e9}, {Cores: 2, Copy: 2e10, Triad: 1.1e10, Compute: 2e9}}, Saturated: 1}
	var b strings.Builder
	if err := membenchText(&b, r, false); err != nil {
		t.Fatal(err)
	}
	want := `EPYC, 2 cores, last-level cache 32.0 MiB; arrays of 256 MiB

cores       copy    a=b+s·c  inflation: memory  compute
    1  20.0 GB/s  10.0 GB/s               1.00     1.00
    2  20.0 GB/s  11.0 GB/s               2.00     1.00

memory is saturated by 1 core: more of them move less than a tenth more
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// TestScale runs a command that records: this program's examples/hello would do, and so
// does the tool itself, which records nothing.
func TestScale(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := call("scale", "-p", "1,2,3", "-n", "1", "--json", "--", self, "-test.run", "NONE{p}")
	if r.code != 0 {
		t.Fatal(r)
	}
	var doc struct {
		Command []string
		CPUs    int
		Points  []struct {
			Procs int
			Wall  int64 `json:"wall_ns"`
		}
		Fit      *struct{}
		Refused  string
		Warnings []string
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Points) != 3 || doc.Points[2].Procs != 3 || doc.Points[2].Wall <= 0 || doc.Fit != nil || !strings.Contains(doc.Refused, "3 numbers of processors are too few") {
		t.Errorf("%s", r.out)
	}
	if over := runtime.NumCPU() < 3; (len(doc.Warnings) > 0) != over {
		t.Errorf("on %d CPUs: %q", runtime.NumCPU(), doc.Warnings)
	}
	text := call("scale", "-p", "1,2,3,4,5,6", "-n", "1", "--plain", "--", self, "-test.run", "NONE")
	if text.code != 0 || !strings.Contains(text.out, "Universal Scalability Law: σ =") || strings.Contains(text.out, "recorded nothing") {
		t.Errorf("%v", text)
	}
}

// TestScaleReadsNames: CPU times by name of all traces in a directory.
func TestScaleReadsNames(t *testing.T) {
	dir := t.TempDir()
	if names, err := namesIn(t.Context(), dir); names != nil || err != nil {
		t.Errorf("of nothing %v, %v", names, err)
	}
	const trace = `header clock=monotonic start=1000 mono=1000 wall=1700000000000000000
state closed=1 tick=9001000
chunk blocks
name 2 "work"
name 3 "rest"
calib ticks=1000 mono=1000 wall=1700000000000000000
stop ticks=9001000
chunk records owner=0
task "work" g=1 start=2000 stop=12000 cpu=9000/exact
task "work" g=1 start=22000 stop=32000 cpu=7000/likely
task "work" g=1 start=42000 stop=52000 cpu=7000/most
task "rest" g=1 start=62000 stop=72000 cpu=0/unknown
task "rest" g=1 start=82000 open tid=1
`
	for _, name := range []string{"a.scope", "b.scope"} {
		writeFile(t, &part{filepath.Join(dir, name), trace})
	}
	writeFile(t, &part{filepath.Join(dir, "c.txt"), "no trace"})
	names, err := namesIn(t.Context(), dir)
	if err != nil || len(names) != 2 || names["work"].Count != 6 || names["work"].Known != 4 || names["work"].CPU != 32000 || names["rest"].Count != 2 || names["rest"].Known != 0 {
		t.Errorf("%+v, %v", names, err)
	}
	writeFile(t, &part{filepath.Join(dir, "d.scope") + " raw", "broken"})
	if _, err := namesIn(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "d.scope") {
		t.Errorf("%v", err)
	}
}

// TestDoctorMarksOnATerminal: the verdict is what stands out there, and nothing elsewhere.
func TestDoctorMarksOnATerminal(t *testing.T) {
	r := &doctor.Report{
		Findings:    []doctor.Finding{{Verdict: doctor.GC, Text: "A sentence.", Evidence: []string{"A number."}, Share: 0.5, Gain: 0.25, Confidence: 0.7, ToNS: 5}},
		Cores:       doctor.Cores{Count: 2, Why: "GOMAXPROCS"},
		Speedup:     []doctor.Slice{{Name: "running", Cores: 1.5}, {Name: "waiting", Cores: 0.5}, {Name: "little", Cores: 0.001}},
		Parallelism: []float64{0, 0.5, 0.5},
		CriticalPath: []doctor.Path{
			{Time: 2e6, Count: 1, Parts: []doctor.Part{{Name: "merge", State: "cpu", Time: 1e6, Share: 0.5}, {State: "sleep", Time: 1e6, Share: 0.5}}, WhatIf: []doctor.WhatIf{{Name: "merge", Gain: 0.31}}},
			{Of: "task", Time: 2e6, Count: 3, All: 9},
		},
		Notes: []string{"half of it is missing"},
	}
	var plain, colour strings.Builder
	if err := doctorText(&plain, r, "x.scope", false); err != nil {
		t.Fatal(err)
	}
	if err := doctorText(&colour, r, "x.scope", true); err != nil {
		t.Fatal(err)
	}
	want := `gc: A sentence.
    A number.
    share 50%, gain about 25%, quite sure (0.70); from 0ns to 5ns: scopeview serve x.scope, #finding=gc%3A&tab=doctor

where the time of 2 cores went, on average (GOMAXPROCS):
           cores
  running   1.50  75%  #######################
  waiting   0.50  25%  ########

goroutines that ran at once, of the time:
running  time
      1   50%  ###############
      2   50%  ###############

critical path of the run, 2.00ms:
  scope       state    time  share
  merge       cpu    1.00ms    50%
  (no scope)  sleep  1.00ms    50%
  if merge were free: −31%

critical path of task (3 of 9 scopes), 2.00ms:
  nothing is known of what the goroutines did

note: half of it is missing
`
	if got := plain.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(colour.String(), "\x1b[1;31mgc:\x1b[0m") || strings.Contains(plain.String(), "\x1b") {
		t.Error("the verdict is not red on a terminal, or it is elsewhere")
	}
}

// TestVerdictsAreExplained: the help has a line for each.
func TestVerdictsAreExplained(t *testing.T) {
	if len(meanings) != len(doctor.Verdicts) {
		t.Errorf("%d verdicts, %d are explained", len(doctor.Verdicts), len(meanings))
	}
	for _, v := range doctor.Verdicts {
		if meanings[v] == "" {
			t.Errorf("%s is not explained", v)
		}
	}
}

// TestProblemsAreCounted: the README says how many problems the doctor knows, and the help
// lists each.
func TestProblemsAreCounted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("one of %d problems", len(doctor.Verdicts)); !strings.Contains(string(readme), want) {
		t.Errorf("README.md does not say %q", want)
	}
	help := newDoctor(&streams{}).Long
	for _, v := range doctor.Verdicts {
		if meanings[v] == "" || !strings.Contains(help, "\n  "+string(v)+" ") {
			t.Errorf("the help lacks %s", v)
		}
	}
	if n := strings.Count(verdictList(), "\n") + 1; n != len(doctor.Verdicts) || len(meanings) != n {
		t.Errorf("the help lists %d problems, of %d meanings, want %d", n, len(meanings), len(doctor.Verdicts))
	}
}

// TestHelpOfCSV: the help says of every key that scopeview gives an argument, and its
// examples work for names that look like formulas.
func TestHelpOfCSV(t *testing.T) {
	cmd := newCSV(&streams{})
	for _, key := range []string{"text", "value", "user_ns, sys_ns", "addr", "lock", "mode", "holder", "tries", "cut", "KEY#bytes"} {
		if !strings.Contains(cmd.Long, "\n  "+key+" ") {
			t.Errorf("the help lacks the key %s", key)
		}
	}
	for _, text := range []string{"#2", "(name 17)", "{\"type\": \"pkg.T\"}", "0 for a pending event", `"0", "1"`} {
		if !strings.Contains(cmd.Long, text) {
			t.Errorf("the help lacks %s", text)
		}
	}
	for _, line := range strings.Split(cmd.Example, "\n") {
		if strings.Contains(line, "duckdb") && !strings.Contains(line, "--raw") {
			t.Errorf("an example gives a database what is meant for a spreadsheet: %s", line)
		}
	}
}
