package perf

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filtered names the environment variable that makes the test binary a program under a
// filter that kills it at its first perf_event_open.
const filtered = "PERF_FILTERED"

// TestSeccomp: under a seccomp filter the call is not tried, and the trace has the
// reason.
func TestSeccomp(t *testing.T) {
	if os.Getenv(filtered) != "" {
		underFilter(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSeccomp$", "-test.v")
	cmd.Env = append(os.Environ(), filtered+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Skipf("%s", out)
	}
}

func underFilter(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_PERF_EVENT_OPEN},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		t.Skip(errno)
	}
	k := newKept(t)
	s := new(Switches)
	err := s.Start(k)
	if err == nil || !strings.Contains(err.Error(), "seccomp") || k.facts[FactSwitches] != "off: "+err.Error() {
		t.Errorf("Start: %v; the trace has the fact %q", err, k.facts[FactSwitches])
	}
	s.Snapshot()
	s.Stop()
}
