//go:build linux && (amd64 || arm64) && !scope_off

package sys_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/scope"
)

// What a seccomp filter looks at and answers, from linux/seccomp.h and
// linux/audit.h.
const (
	seccompNumber, seccompArch = 0, 4 // offsets in struct seccomp_data
	seccompKill, seccompAllow  = 0x80000000, 0x7fff0000
)

var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// forbid installs a filter, for all threads, that kills the process when it
// makes one of the system calls.
func forbid(calls ...uint32) error {
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	// isnt skips as many instructions as there are to skip if the value differs.
	isnt := func(v uint32, skip int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(skip), K: v}
	}
	ret := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	prog := []unix.SockFilter{load(seccompArch), isnt(auditArch, 1+2*len(calls)), load(seccompNumber)}
	for _, nr := range calls {
		prog = append(prog, isnt(nr, 1), ret(seccompKill))
	}
	prog = append(prog, ret(seccompAllow))

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// TestSeccomp records in a process whose filter kills it for the system calls
// that the recorder would like to make and can do without.
func TestSeccomp(t *testing.T) {
	const env = "SCOPE_TEST_SECCOMP"
	if what := os.Getenv(env); what != "" {
		underSeccomp(what)
		return
	}
	for _, c := range []struct {
		what   string
		killed bool
	}{
		{"call perf_event_open", true}, // or the filter does not work
		{"record auto", false},
		{"record always", false},
		{"record off", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestSeccomp$")
			cmd.Env = append(os.Environ(), env+"="+c.what, "SCOPE_TEST_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.ENOEXEC) {
				t.Skip("what an emulator runs can't start itself")
			}
			if bytes.Contains(out, []byte("no filter")) {
				t.Skipf("%s", out)
			}
			var exit *exec.ExitError
			killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == unix.SIGSYS
			if killed != c.killed || !killed && (err != nil || !bytes.Contains(out, []byte("recorded 400"))) {
				t.Errorf("killed: %t, want %t: %v\n%s", killed, c.killed, err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// underSeccomp is the child.
func underSeccomp(what string) {
	calls := []uint32{unix.SYS_PERF_EVENT_OPEN}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil && !strings.Contains(string(maps), "libc") && what != "record always" {
		// A C library registers rseq for each new thread.
		calls = append(calls, unix.SYS_RSEQ)
	}
	if err := forbid(calls...); err != nil {
		fmt.Println("no filter:", err)
		return
	}
	mode := map[string]scope.CPUMode{"record auto": scope.Auto, "record always": scope.Always, "record off": scope.Off}[what]
	if what == "call perf_event_open" {
		unix.PerfEventOpen(&unix.PerfEventAttr{}, 0, -1, -1, 0)
		return
	}
	if err := scope.Start(os.Getenv("SCOPE_TEST_DIR"), scope.WithCPU(mode)); err != nil {
		fmt.Println(err)
		return
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				scope.Task("a")()
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	if err := scope.Stop(); err != nil {
		fmt.Println(err)
	}
	s := scope.Stats()
	fmt.Printf("recorded %d by the %s\n", s.Recorded, s.Recorder)
}
