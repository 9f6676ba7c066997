//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBuildsWithoutWitness runs TestUnknown in builds in which a witness fails.
func TestBuildsWithoutWitness(t *testing.T) {
	if testing.Short() {
		t.Skip("makes three builds")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to build with")
	}
	for _, tag := range []string{"scope_norseq", "scope_noyield", "scope_nogoid"} {
		t.Run(tag, func(t *testing.T) {
			out, err := exec.Command(tool, "test", "-v", "-short", "-count=1", "-tags", tag, "-run", "^TestUnknown$", ".").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestUnknown/this_build") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
