//go:build !scope_off && !scope_pure

package record_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// TestCPUTimesAfterNone records without CPU times and then with them, on a thread that
// lives through both. It runs in a process of its own, because a process tries its
// witness once.
func TestCPUTimesAfterNone(t *testing.T) {
	const inChild = "SCOPEVIEW_TEST_CPU_OFF"
	if os.Getenv(inChild) == "" {
		faultfs.Children(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestCPUTimesAfterNone$")
		cmd.Env = append(os.Environ(), inChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that our thread tries the witness
	for _, cpu := range []CPUMode{CPUOff, CPUAuto, CPUOff, CPUAuto} {
		start(t, WithCPU(cpu))
		for range 100 {
			Task("task")()
		}
		if r := stop(t); len(r.events) != 100 {
			t.Errorf("%d records, want 100", len(r.events))
		}
	}
}
