//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const locksRanges = runtime.GOOS == "linux"

// lockTrace locks a trace as its writer does.
func lockTrace(t *testing.T, f *os.File) {
	t.Helper()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Skip("no locks here: ", err)
	}
}

const nobodyArgs = "SCOPEVIEW_TEST_NOBODY"

// TestNobody is not a test: it runs the tool as a user without any rights.
func TestNobody(t *testing.T) {
	args := os.Getenv(nobodyArgs)
	if args == "" {
		t.Skip("it is started by others")
	}
	const nobody = 65534
	if err := syscall.Setgid(nobody); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setuid(nobody); err != nil {
		t.Fatal(err)
	}
	fmt.Print(scopeview(strings.Fields(args)...))
}

// TestOtherUser: the trace of another user can't be copied, and requests to its program fail.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "scopeview-test-") // a directory that everybody can enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.scope")
	tracetest.Write(t, path, askedLines)
	for args, want := range map[string]string{
		"ctl " + path + " off":                 "run scopeview as the program's user or root",
		"snapshot " + path:                     "run scopeview as the user of the program, or as root",
		fmt.Sprintf("ctl %d off", os.Getpid()): "run scopeview as the same user",
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestNobody$")
		c.Env = append(os.Environ(), nobodyArgs+"="+args)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "exit 1") {
			t.Errorf("%s: %v, %s", args, err, out)
		}
	}
}
