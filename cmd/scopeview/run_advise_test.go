package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// growingProgram has a growing slice, and ends as its argument says.
const growingProgram = `-- go.mod --
module example.com/growing

go 1.23
-- main.go --
package main

import (
	"os"
	"time"
)

var kept []int

func grow() {
	for i := 0; i < 300000; i++ {
		kept = append(kept, i)
	}
}

func main() {
	grow()
	switch os.Args[1] {
	case "exit":
		os.Exit(3)
	case "panic":
		time.Sleep(1500 * time.Millisecond)
		panic("it ends")
	case "kill":
		time.Sleep(1500 * time.Millisecond)
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	case "deadlock":
		select {}
	}
}
-- main_test.go --
package main

import "testing"

func TestGrow(t *testing.T) { grow() }
`

// TestAdviseEnds: a program leaves its counts, in whatever way it ends, and ends in the same way as
// without counting.
func TestAdviseEnds(t *testing.T) {
	l := launching(t, growingProgram)
	program := filepath.Join(l.dir, "growing")
	if r := l.tool("build", "--advise=containers", "-o", program, "."); r.code != 0 {
		t.Fatal(r)
	}
	for how, code := range map[string]int{"return": 0, "exit": 3, "panic": 2, "kill": -1, "deadlock": 2} {
		root := filepath.Join(t.TempDir(), "profile")
		r := l.process(append(l.env, "SCOPEVIEW_ADVISE="+root), "", program, how)
		if r.code != code {
			t.Errorf("%s: exit code %d, want %d: %v", how, r.code, code, r)
		}
		r = l.tool("advise", root+".raw")
		if r.code != 0 || !strings.Contains(r.out, "main.go:12: slice-too-small:") && !strings.Contains(r.out, "main.go:13: slice-too-small:") {
			t.Errorf("%s: %v", how, r)
		}
	}
	r := l.process(append(l.env, "SCOPEVIEW_ADVISE="+filepath.Join(l.dir, "main.go", "profile")), "", program, "return")
	if r.code != 0 || !strings.Contains(r.err, "not counting") {
		t.Errorf("where there is no place for the file: %v", r)
	}
	r = l.process(append(l.env, "SCOPEVIEW_ADVISE="+filepath.Join(t.TempDir(), "p"), "SCOPEVIEW_ADVISE_SHARE=2"), "", program, "return")
	if r.code != 0 || !strings.Contains(r.err, "SCOPEVIEW_ADVISE_SHARE: 2: give the share") {
		t.Errorf("with a wrong parameter: %v", r)
	}
}

// TestRunAdvise: run and test print the advice and leave its files, and read existing parameters.
func TestRunAdvise(t *testing.T) {
	l := launching(t, growingProgram)
	dir := t.TempDir()
	root := filepath.Join(dir, "scope-profile")
	r := l.tool("run", "--advise=containers", "--no-states", "-o", dir, ".", "exit")
	if r.code != 3 || !strings.Contains(r.err, "slice-too-small: make([]int, 0, 300000)") {
		t.Fatal(r)
	}
	for _, ending := range []string{".txt", ".raw", ".conf.out"} {
		if st, err := os.Stat(root + ending); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", ending, err)
		}
	}
	if raws, _ := filepath.Glob(filepath.Join(dir, "growing-*.raw")); len(raws) != 1 {
		t.Errorf("beside the trace lie %q", raws)
	}
	conf := filetest.Read(t, root+".conf.out")
	changed := strings.NewReplacer("off.slice-too-small = 0", "off.slice-too-small = 1", "depth = 32", "depth = 3").Replace(string(conf))
	filetest.Write(t, root+".conf", []byte(changed))
	r = l.tool("run", "--advise=containers", "--no-states", "-o", dir, ".", "exit")
	if r.code != 3 || strings.Contains(r.err, "slice-too-small") {
		t.Errorf("with a diagnostic that is off: %v", r)
	}
	if raw, err := os.ReadFile(root + ".raw"); err != nil || !strings.Contains(string(raw), "param.depth=3\t") {
		t.Errorf("the program did not get the depth: %v", err)
	}
	tests := t.TempDir()
	r = l.tool("test", "--advise=containers", "--no-states", "-o", tests, "-count=1", ".")
	if r.code != 0 || !strings.Contains(r.err, "slice-too-small: make([]int, 0, 300000)") {
		t.Errorf("of tests: %v", r)
	}
	for _, c := range [][2]string{{"--advise=nothing", "no such group"}, {"--advise-set=depht=3", "unknown parameter"}} {
		if r := l.tool("run", "--advise", c[0], ".", "exit"); r.code != exitUsage || !strings.Contains(r.err, c[1]) {
			t.Errorf("%s: %v", c[0], r)
		}
	}
}
