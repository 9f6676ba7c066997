package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// once is a test's beginning: it is true when the test runs for the first time.
const once = `package p

import (
	"fmt"
	"os"
	"testing"
)

func once(name string) bool {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	f.Close()
	return err == nil
}

var _ = fmt.Sprint
var _ *testing.T
`

// TestRetest has a module whose packages fail in all ways.
func TestRetest(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two dozen small programs")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	packages := map[string]string{
		"good":   `func TestGood(t *testing.T) {}`,
		"luck":   `func TestA(t *testing.T) {}; func TestLuck(t *testing.T) { t.Run("sub", func(t *testing.T) { if once("luck") { t.Error("bad luck") } }) }`,
		"dies":   `func TestDies(t *testing.T) { if once("dies") { panic("first time") } }; func TestLater(t *testing.T) { fmt.Println("later ran") }`,
		"leaves": `func TestLeaves(t *testing.T) { if once("leaves") { os.Exit(3) } }`,
		"main":   `func TestFine(t *testing.T) {}; func TestMain(m *testing.M) { m.Run(); if once("main") { os.Exit(1) } }`,

		"always":  `func TestAlways(t *testing.T) { t.Error("for a reason") }; func TestLuck(t *testing.T) { if once("luck") { t.Error("bad luck") } }`,
		"hidden":  `func TestDies(t *testing.T) { if once("dies") { panic("first time") } }; func TestLater(t *testing.T) { t.Error("found later") }`,
		"panics":  `func TestPanics(t *testing.T) { panic("each time") }`,
		"race":    `func TestRace(t *testing.T) { if once("race") { fmt.Println("WARNING: DATA RACE"); t.Error("race detected") } }`,
		"skips":   `func TestSkips(t *testing.T) { if once("skips") { t.Error("bad luck") }; t.Skip("not now") }`,
		"builds":  `func TestBuilds(t *testing.T) { undefined() }`,
		"vets":    `func TestVets(t *testing.T) { t.Logf("%d", "text") }`,
		"timeout": `func TestTimeout(t *testing.T) { select {} }`,
	}
	write := func(path, text string) {
		t.Helper()
		filetest.Write(t, path, []byte(text))
	}
	write("go.mod", "module m\n\ngo 1.24\n")
	for name, tests := range packages {
		write(name+"/p_test.go", once+tests)
	}
	const flaky, failed = ": it failed beside others and passed alone\n", ": it failed beside others and alone\n"
	for _, c := range []struct {
		args   string
		passes bool
		want   []string // in the output
		never  []string
	}{
		{"./good", true, []string{"--- PASS: TestGood", "ok  \tm/good"}, []string{"FLAKY", "FAIL"}},
		{"./good ./luck ./dies ./leaves ./main", true, []string{
			"--- PASS: TestGood",
			"FLAKY m/luck TestLuck" + flaky, "    |   --- FAIL: TestLuck", "    |   --- PASS: TestLuck",
			"FLAKY m/dies" + flaky, "    |   panic: first time",
			"FLAKY m/leaves" + flaky, "FLAKY m/main" + flaky,
		}, []string{"m/luck TestA", "alone and", failed}},
		{"./always ./hidden ./panics ./race ./skips ./builds ./vets", false, []string{
			"FAIL\tm/always TestAlways" + failed, "FLAKY m/always TestLuck" + flaky,
			"FAIL\tm/hidden" + failed, "found later",
			"FAIL\tm/panics" + failed,
			"FAIL\tm/race: it has a data race, which does not run again\n",
			"FAIL\tm/skips TestSkips" + failed,
			"undefined: undefined", "FAIL\tm/builds: its build or go vet failed, which does not run again\n",
			"of wrong type", "FAIL\tm/vets: its build or go vet failed, which does not run again\n",
		}, []string{"FLAKY m/race", "FLAKY m/hidden", "FLAKY m/skips"}},
		{"./race", true, nil, []string{"FLAKY"}}, // it did not run again above
		{"-timeout=1s ./timeout", false, []string{"FAIL\tm/timeout" + failed}, nil},
		{"./none", false, []string{"FAIL"}, []string{"FLAKY"}},
	} {
		cmd, err := parse(append([]string{"go", "test", "-v"}, strings.Fields(c.args)...))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if passed := cmd.judge(&out); passed != c.passes {
			t.Errorf("%s: passed is %v", c.args, passed)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q", c.args, w)
			}
		}
		for _, n := range c.never {
			if strings.Contains(out.String(), n) {
				t.Errorf("%s: there is %q", c.args, n)
			}
		}
		if t.Failed() {
			t.Fatal(out.String())
		}
	}
}

// TestSlowest reads how long tests took.
func TestSlowest(t *testing.T) {
	var events strings.Builder
	for i := range 12 {
		fmt.Fprintf(&events, `{"Action":"pass","Package":"m/a","Test":"Test%d","Elapsed":%d.5}`+"\n", i, i)
	}
	events.WriteString(`{"Action":"fail","Package":"m/b","Test":"TestB","Elapsed":5}` + "\n")
	events.WriteString(`{"Action":"pass","Package":"m/b","Test":"TestB/inside","Elapsed":50}` + "\n")
	r := results{packages: map[string]*outcome{}}
	r.read(strings.NewReader(events.String()), io.Discard, false)
	var out strings.Builder
	r.slowest(&out)
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 11 || lines[0] != "slow   11.5 s  m/a Test11" || lines[7] != "slow    5.0 s  m/b TestB" || lines[9] != "slow    3.5 s  m/a Test3" {
		t.Errorf("slowest:\n%s", out.String())
	}
}

func TestParse(t *testing.T) {
	c, err := parse([]string{"go", "test", "-exec", "qemu -R 64G", "-tags", "a", "./scope", "./internal/..."})
	if err != nil || strings.Join(c.flags, "|") != "go|test|-exec|qemu -R 64G|-tags|a" || strings.Join(c.packages, "|") != "./scope|./internal/..." {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{"", "go test", "go test -v", "go vet ./...", "go ./..."} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestNaming finds the tests that name something, and those that call what does.
func TestNaming(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `//go:build special

package p

func TestItself(t *testing.T) { _ = wantPath }
func TestMain(m *testing.M)   { _ = wantPath }
func TestOther(t *testing.T)  { _ = path }
`,
		"b_test.go": `package p

func helper()                 { other() }
func other()                  { _ = wantPath }
func TestCalls(t *testing.T)  { t.Run("sub", func(t *testing.T) { helper() }) }
func TestMethod(t *testing.T) { x.check() }
func (*x) check()             { other() }
`,
		"c.go": `package p

func TestNotATest(t *testing.T) { _ = wantPath }
`,
	} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	t.Chdir(dir)
	c, err := parse([]string{"go", "test", "."})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.limit("wantP..h"); err != nil || c.flags[2] != "-run=^(TestCalls|TestItself|TestMethod)$" || c.packages[0] != "." {
		t.Errorf("%v, %v, %v", c.flags, c.packages, err)
	}
	for _, bad := range []string{"nothing", "("} {
		if err := c.limit(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
