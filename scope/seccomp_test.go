//go:build linux && !scope_off

package scope

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/faultfs"
)

// seccompChild in the environment makes the test binary a program under a filter
// that kills it at its first perf_event_open, and at its first rseq where that
// is not asked for: the value is how CPU time is to be measured, or "fatal" for
// one that makes the call.
const seccompChild = "SCOPE_SECCOMP_CHILD"

// TestSeccomp checks that recording under such a filter does not kill the
// program, whatever it is asked to measure, and that the filter would.
func TestSeccomp(t *testing.T) {
	if mode := os.Getenv(seccompChild); mode != "" {
		if err := underFilter(t, mode); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	faultfs.Children(t)
	for _, c := range []struct {
		mode  string
		fatal bool
	}{{"auto", false}, {"always", false}, {"fatal", true}} {
		t.Run(c.mode, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestSeccomp$")
			cmd.Env = append(os.Environ(), seccompChild+"="+c.mode)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit) && exit.ExitCode() == 2:
				t.Skipf("no filter could be installed: %s", out)
			case (err != nil) != c.fatal:
				t.Errorf("the program ended with %v, want it killed: %v\n%s", err, c.fatal, out)
			}
		})
	}
}

func underFilter(t *testing.T, mode string) error {
	calls := []uint32{unix.SYS_PERF_EVENT_OPEN}
	maps, err := os.ReadFile("/proc/self/maps")
	if err == nil && mode == "auto" && !bytes.Contains(maps, []byte("libc")) {
		calls = append(calls, unix.SYS_RSEQ) // C libraries call it in each new thread
	}
	if err := installFilter(calls); err != nil {
		return err
	}
	cpu := Auto
	switch mode {
	case "fatal":
		_, _ = unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE}, 0, -1, -1, 0)
		return nil
	case "always":
		cpu = Always
	}
	if err := Start(t.TempDir(), WithCPU(cpu)); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		Task("f1")()
	}
	if err := Stop(); err != nil {
		t.Fatal(err)
	}
	if s := Stats(); s.Recorded != 1000 {
		t.Fatalf("recorded %d scopes, want 1000", s.Recorded)
	}
	return nil
}

// installFilter kills this process at its next one of the calls, on any thread.
func installFilter(calls []uint32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for _, nr := range calls {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: nr},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
