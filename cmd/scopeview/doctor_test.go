package main

import (
	"encoding/json"
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
