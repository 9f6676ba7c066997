package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestReport reads a run with tests that pass, fail, skip, skip in part, log nothing,
// never end, and one guarantee's numbers in another's test.
func TestReport(t *testing.T) {
	const in = `{"Action":"run","Package":"p","Test":"TestG1"}
{"Action":"output","Package":"p","Test":"TestG1","Output":"=== RUN   TestG1\n"}
{"Action":"output","Package":"p","Test":"TestG1/disk","Output":"    a_test.go:7: G1: disk: 12 issued\n"}
{"Action":"output","Package":"p","Test":"TestG1/disk","Output":"    a_test.go:8: G3: resumed\n"}
{"Action":"pass","Package":"p","Test":"TestG1/disk"}
{"Action":"output","Package":"p","Test":"TestG1/shm","Output":"    a_test.go:9: no shm here\n"}
{"Action":"skip","Package":"p","Test":"TestG1/shm"}
{"Action":"pass","Package":"p","Test":"TestG1"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"q","Test":"TestG2Kill","Output":"    b_test.go:1: wants root\n"}
{"Action":"skip","Package":"q","Test":"TestG2Kill"}
{"Action":"pass","Package":"q","Test":"TestG3"}
{"Action":"output","Package":"q","Test":"TestG4","Output":"    b_test.go:2: 5 issued, 4 found\n"}
{"Action":"output","Package":"q","Test":"TestG4","Output":"    b_test.go:3: G4: 5 issued\n"}
{"Action":"fail","Package":"q","Test":"TestG4"}
{"Action":"pass","Package":"q","Test":"TestG4Other"}
{"Action":"pass","Package":"q","Test":"TestG5"}
{"Action":"output","Package":"q","Test":"TestG6","Output":"    b_test.go:3: G6: not given: 3 of 7 are missing\n"}
{"Action":"pass","Package":"q","Test":"TestG6"}
{"Action":"pass","Package":"q","Test":"TestG6/a"}
{"Action":"pass","Package":"q","Test":"TestG6/b/c"}
{"Action":"output","Package":"q","Test":"TestG7","Output":"    b_test.go:3: G7: heap: 3 faults\n"}
{"Action":"output","Package":"q","Test":"TestG7","Output":"    b_test.go:4: G7: not given: disk: 4 faults\n"}
{"Action":"pass","Package":"q","Test":"TestG7"}
{"Action":"run","Package":"q","Test":"TestG10"}
{"Action":"output","Package":"q","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"q"}
`
	want := map[int]string{
		1:  "PASS|disk: 12 issued|SKIP(no shm here) TestG1/shm",
		2:  "NOT GIVEN|SKIP(wants root) TestG2Kill",
		3:  "PASS|resumed",
		4:  "FAIL|5 issued|TestG4 failed|  b_test.go:2: 5 issued, 4 found",
		5:  "NOT GIVEN|its tests pass and log no numbers",
		6:  "NOT GIVEN|not given: 3 of 7 are missing",
		7:  "PASS|heap: 3 faults|not given: disk: 4 faults",
		8:  "NOT GIVEN|there is no test",
		10: "FAIL|TestG10 failed",
	}
	r := newRun()
	var progress strings.Builder
	if err := r.read(strings.NewReader(in), &progress); err != nil {
		t.Fatal(err)
	}
	if got := progress.String(); !strings.Contains(got, "fail     0 s  TestG4\n") || strings.Contains(got, "G6/a") {
		t.Errorf("progress is\n%s", got)
	}
	all := r.verdicts()
	for n, want := range want {
		v := all[n]
		if v == nil {
			v = &verdict{}
		}
		status, lines := v.lines()
		if got := strings.Join(append([]string{status}, lines...), "|"); got != want {
			t.Errorf("G%d: %s\nwant %s", n, got, want)
		}
	}
	var out strings.Builder
	if r.write(&out) {
		t.Error("with tests that failed the report says that all is well")
	}
	given := 0
	for _, promise := range promises {
		if promise != "" {
			given++
		}
	}
	for _, line := range []string{"G1   PASS       a full disk", "G10  FAIL       memory", fmt.Sprintf("3 PASS, 2 FAIL, %d NOT GIVEN\n", given-5)} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the report has no line %q:\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "timed out") {
		t.Error("the output of a package whose test failed is printed twice")
	}
}

// TestBroken reads runs in which no test failed, and something else did.
func TestBroken(t *testing.T) {
	for in, want := range map[string]string{
		`{"ImportPath":"p","Action":"build-output","Output":"a.go:1: undefined: x\n"}` + "\n" + `{"Action":"fail","Package":"p"}`: "undefined: x",
		`{"Action":"output","Package":"p","Output":"panic: in TestMain\n"}` + "\n" + `{"Action":"fail","Package":"p"}`:            "panic: in TestMain",
		"go: cannot find main module":                    "cannot find main module",
		`{"Action":"pass","Package":"p","Test":"TestA"}`: "",
	} {
		r := newRun()
		if err := r.read(strings.NewReader(in), io.Discard); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if ok := r.write(&out); ok != (want == "") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: the report says that all is well: %t, and\n%s", in, ok, out.String())
		}
	}
}
