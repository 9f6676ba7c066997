//go:build amd64 && !scope_off

package record_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// TestG22Recorder records on a 32-bit processor, where unaligned 64-bit words crash the program.
func TestG22Recorder(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("compiles the standard library for 386: with SCOPEVIEW_FAULT=full")
	}
	faultfs.Children(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "narrow")
	build := exec.Command("go", "build", "-o", program, "./testdata/narrow")
	build.Env = append(build.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"a.scope"}, {"b.scope", "ring"}} {
		args[0] = filepath.Join(dir, args[0])
		out, err := exec.Command(program, args...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "<nil> true 0" {
			t.Errorf("%s: %v\n%.2000s", args[1:], err, got)
		}
		verify(t, args[0])
	}
}
