//go:build !scope_off

package record

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBuildID compares with what go tool buildid prints for the running
// executable.
func TestBuildID(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "buildid", exe).Output()
	if err != nil {
		t.Skip("go tool buildid: ", err)
	}
	if want := strings.TrimSpace(string(out)); buildID() != want || want == "" {
		t.Errorf("%q, want %q", buildID(), want)
	}
}
