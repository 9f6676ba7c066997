//go:build !scope_testpoint

package testpoint

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestNothingIsThere: without the tag a point does nothing, even with an action.
func TestNothingIsThere(t *testing.T) {
	t.Setenv("SCOPEVIEW_TESTPOINTS", "x:1:kill")
	if n := testing.AllocsPerRun(100, func() { Here("x") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestWithTheTag runs the tests of the build that has points.
func TestWithTheTag(t *testing.T) {
	if testing.Short() {
		t.Skip("builds this test again")
	}
	if runtime.GOOS == "windows" {
		t.Skip("points are for systems that have signals")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(goTool, "test", "-count=1", "-v", "-tags", "scope_testpoint", ".")
	c.Env = os.Environ()
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestHere") {
		t.Errorf("%v\n%s", err, out)
	}
}
