package main

import (
	"strings"
	"testing"
)

// hotProgram calls one function as often as possible for a second, and another one in between.
const hotProgram = `-- go.mod --
module example.com/hot

go 1.22
-- main.go --
package main

import "time"

var sum int

//go:noinline
func hot(n int) { sum += call(n) }

var call = leaf // what a variable calls may take any time

//go:noinline
func leaf(n int) int { return n }

//go:noinline
func rare(n int) {
	for i := range n {
		hot(i)
	}
}

func main() {
	for began := time.Now(); time.Since(began) < time.Second; {
		rare(1000000)
	}
}
`

// TestLearns: later builds of run and build leave out functions that a run shows to be called too
// often, until calibration or another budget changes the verdict.
func TestLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program for seconds")
	}
	l := launching(t, hotProgram)
	const (
		found   = "scopeview: 1 function called too often for a budget of 3%; the next build leaves out such functions"
		leftOut = ": " + tooHot + " (main.hot)"
	)
	run := func(args ...string) (said string, hot, rare bool) {
		t.Helper()
		r := l.tool(args...)
		if r.code != 0 {
			t.Fatalf("%q: %v", args, r)
		}
		names := l.scopes(r.err)
		return r.err, names["main.hot"] > 0, names["main.rare"] > 0
	}
	for i, c := range []struct {
		args               []string
		found, out, hotter bool
	}{
		{[]string{"run", "."}, true, false, true},
		{[]string{"run", "."}, false, true, false},
		{[]string{"run", "--budget", "100%", "."}, false, false, true}, // within that budget
		{[]string{"run", "--calibrate", "."}, false, true, false},
	} {
		said, hot, rare := run(c.args...)
		if hot != c.hotter || !rare || strings.Contains(said, found) != c.found || strings.Contains(said, leftOut) != c.out {
			t.Errorf("%d, %q: main.hot %v, main.rare %v; said\n%s", i, c.args, hot, rare, said)
		}
	}
	if r := l.tool("build", "-o", "it", "."); r.code != 0 {
		t.Fatal(r)
	}
	dir := t.TempDir()
	if r := l.process(append(l.env, "SCOPEVIEW="+dir+"/"), "", "./it"); r.code != 0 {
		t.Fatal(r)
	}
	if r := l.tool("info", tracesIn(dir)[0]); !strings.Contains(r.out, leftOut) {
		t.Errorf("what was built records:\n%s", r.out)
	}
}
