//go:build !scope_off

package record_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Limits of Go itself.

// moreThreads leaves the program n threads besides those that it and Go have.
func moreThreads(n int) func(*testing.T) {
	return func(*testing.T) {
		has, _ := runtime.ThreadCreateProfile(nil)
		debug.SetMaxThreads(max(has, runtime.GOMAXPROCS(0)+3) + n)
	}
}

func goStacks(*testing.T) { debug.SetMaxStack(64 << 10) }

// deep makes a goroutine use kib KiB of stack.
func deep(kib int) func(*testing.T) string {
	return func(*testing.T) string {
		done := make(chan byte)
		go func() { done <- deeper(kib) }()
		<-done
		return fmt.Sprintf("used %d KiB of stack", kib)
	}
}

//go:noinline
func deeper(n int) byte {
	var b [1000]byte
	if b[n%len(b)] = 1; n > 0 {
		return b[n%len(b)] + deeper(n-1)
	}
	return b[0]
}

// Uses beyond a limit.

func bigger(t *testing.T) string {
	var l unix.Rlimit
	n := int64(1300 << 20)
	if unix.Getrlimit(unix.RLIMIT_AS, &l) == nil && l.Cur < 1<<50 {
		n = int64(l.Cur)
	}
	b := make([]byte, n)
	runtime.KeepAlive(b)
	return "took it"
}

func manyThreads(*testing.T) string {
	takeAll(1<<20, 64)
	return "took 64 threads"
}

func manyArguments(*testing.T) string {
	return fmt.Sprint(exec.Command("true", strings.Split(strings.Repeat(strings.Repeat("x", 1000)+" ", 500), " ")...).Run())
}

func lockPage(*testing.T) string {
	return fmt.Sprint(unix.Mlock(make([]byte, os.Getpagesize())))
}

func computeOn(t *testing.T) string {
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: 1, Max: 20}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if got := signals(t); got != "" {
			return got
		}
	}
	return "computed on"
}

func queueSignal(*testing.T) string {
	var info [128]byte
	*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
	_, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(os.Getpid()), 40, uintptr(unsafe.Pointer(&info)))
	return errno.Error()
}

func openQueue(*testing.T) string {
	name := []byte("scopeview-test\x00")
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
	_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&name[0])), 0, 0)
	return errno.Error()
}

func mapMore(*testing.T) string {
	for range 1000 {
		if _, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
			return err.Error()
		}
		if _, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
			return err.Error()
		}
	}
	return "mapped on"
}
