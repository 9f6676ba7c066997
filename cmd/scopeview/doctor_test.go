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
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestDoctorDocument checks the promised keys of the document.
func TestDoctorDocument(t *testing.T) {
	b, err := json.Marshal(doctor.Report{Findings: []doctor.Finding{{}}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), `{"findings":[{"verdict":"","text":"","object":"","scopes":null,"share":0,"gain":0,"confidence":0,"from_ns":0,"to_ns":0`) {
		t.Errorf("%s", b)
	}
}

// TestMembenchIsReadByDoctor: doctor reads the output of membench, and of scale, which contains it.
func TestMembenchIsReadByDoctor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if r := scopeview("membench", "--json", "--time", "10ms", "-o", path); r.code != 0 {
		t.Fatal(r)
	}
	b, err := readBandwidth(path)
	if err != nil || len(b.Points) == 0 || b.Points[0].Cores != 1 || b.Points[0].Memory != 1 || b.Points[0].Compute != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	inner := filetest.Read(t, path)
	filetest.Write(t, path, []byte(`{"command":["x"],"points":[{"procs":1}],"memory":`+string(inner)+`}`))
	if c, err := readBandwidth(path); err != nil || len(c.Points) != len(b.Points) {
		t.Errorf("%+v, %v", c, err)
	}
	if r := scopeview("membench", "--cores", "9999999"); r.code != exitFailed || !strings.Contains(r.err, "9999999 cores can't be measured") {
		t.Errorf("%v", r)
	}
}

// TestScale runs a command that records nothing: the tool itself.
func TestScale(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := scopeview("scale", "-p", "1,2,3", "-n", "1", "--json", "--", self, "-test.run", "NONE{p}")
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
	text := scopeview("scale", "-p", "1,2,3,4,5,6", "-n", "1", "--plain", "--", self, "-test.run", "NONE")
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

// TestProblemsAreCounted: the README has the number of the doctor's problems, and the help lists
// each.
func TestProblemsAreCounted(t *testing.T) {
	readme := filetest.Read(t, "../../README.md")
	if want := fmt.Sprintf("one of %d problems", len(doctor.Verdicts)); !strings.Contains(string(readme), want) {
		t.Errorf("README.md does not say %q", want)
	}
	help := helpOf("doctor").long
	for _, v := range doctor.Verdicts {
		if doctor.Meanings[v] == "" || !strings.Contains(help, "\n  "+string(v)+" ") {
			t.Errorf("the help lacks %s", v)
		}
	}
	if n := strings.Count(verdictList(), "\n") + 1; n != len(doctor.Verdicts) || len(doctor.Meanings) != n {
		t.Errorf("the help lists %d problems, of %d meanings, want %d", n, len(doctor.Meanings), len(doctor.Verdicts))
	}
}

// TestHelpOfCSV: the help describes every key of arguments that scopeview writes, and its examples
// work for names that look like formulas.
func TestHelpOfCSV(t *testing.T) {
	help := helpOf("export csv")
	for _, key := range []string{"text", "value", "user_ns, sys_ns", "addr", "lock", "mode", "holder", "tries", "cut", "KEY#bytes"} {
		if !strings.Contains(help.long, "\n  "+key+" ") {
			t.Errorf("the help lacks the key %s", key)
		}
	}
	for _, text := range []string{"#2", "(name 17)", "{\"type\": \"pkg.T\"}", "0 for a pending event", `"0", "1"`} {
		if !strings.Contains(help.long, text) {
			t.Errorf("the help lacks %s", text)
		}
	}
	for _, line := range strings.Split(help.examples, "\n") {
		if strings.Contains(line, "duckdb") && !strings.Contains(line, "--raw") {
			t.Errorf("an example gives a database what is meant for a spreadsheet: %s", line)
		}
	}
}
