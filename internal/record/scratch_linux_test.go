//go:build !scope_off

package record_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// scratchChild in the environment makes the test binary a program that gets no scratch
// memory: its value has the time from which on, the backing, and the directory.
const scratchChild = "SCOPE_SCRATCH_CHILD"

var scratchBackings = map[string][]Option{
	"disk":      {WithBacking(DiskBacking)},
	"shm":       {WithBacking(ShmBacking)},
	"disk ring": {WithBacking(DiskBacking), WithRing(MinRing)},
	"shm ring":  {WithBacking(ShmBacking), WithRing(MinRing)},
}

// TestG37Scratch: the system refuses the memory that replaces chunks, as it does if it does
// not overcommit, or if addresses are short, and also the removal of the hot file. A
// goroutine that has found a chunk before it left, and reads it after it has left or after
// the recording, does not fault; on the Go path neither does one that tries to end a scope in
// it.
func TestG37Scratch(t *testing.T) {
	if v := os.Getenv(scratchChild); v != "" {
		f := strings.Split(v, "\n")
		scratchless(t, f[0], f[1], f[2])
		return
	}
	faultfs.Children(t)
	if !record.HaveDisk {
		t.Skip("this build maps nothing: " + record.NoDisk)
	}
	for _, when := range []string{"before", "during", "stop"} {
		for backing := range scratchBackings {
			if !faultfs.Full() && (when == "before" || backing == "disk") {
				continue
			}
			t.Run(when+"/"+backing, func(t *testing.T) {
				cmd := exec.Command(os.Args[0], "-test.run=^TestG37Scratch$")
				cmd.Env = append(os.Environ(), scratchChild+"="+strings.Join([]string{when, backing, t.TempDir()}, "\n"))
				out, err := cmd.CombinedOutput()
				if strings.HasPrefix(string(out), "skip") {
					t.Skip(string(out))
				}
				if err != nil {
					t.Fatalf("the program ended with %v\n%.2000s", err, out)
				}
				each(t, strings.TrimSpace(string(out)), func(*trace.Trace, *trace.Event) {})
			})
		}
	}
}

func scratchless(t *testing.T, when, backing, dir string) {
	refuse := func(now string) {
		if now != when {
			return
		}
		if err := refuseCalls(unix.ENOMEM, unix.SYS_MREMAP, unix.SYS_UNLINKAT); err != nil {
			fmt.Println("skip: no filter can be installed:", err)
			os.Exit(0)
		}
	}
	refuse("before")
	if err := Start(dir+string(filepath.Separator), append(scratchBackings[backing], shortTicks())...); err != nil {
		t.Fatal(err)
	}
	r := record.Current.Load()
	found := map[int64][]uint64{}
	look := func() {
		for _, idx := range r.Pool().Live(nil) {
			found[idx] = r.Pool().Words(idx)
		}
	}
	late := func() {
		for _, w := range found {
			for i := range w {
				_ = atomic.LoadUint64(&w[i])
			}
			if r.Fast() == nil { // its stores are not waited for
				atomic.CompareAndSwapUint64(&w[9], 1, 0)
			}
		}
	}
	many := func() {
		for i := range 400_000 {
			if Task("f1")(); i%10_000 == 0 {
				look()
				time.Sleep(time.Millisecond) // let a ring's flusher catch up
			}
		}
	}
	end := Task("open")
	many()
	refuse("during")
	many()
	late()
	refuse("stop")
	_ = Stop() // it may report what was refused
	late()
	end()
	if s := Stats(); s.Recorded+s.Overwritten+s.Lost.Total() != 800_001 {
		t.Fatalf("%+v: not what was issued", s)
	}
	fmt.Println(Path())
	os.Exit(0)
}

// refuseCalls makes the system fail these calls of this process with an error.
func refuseCalls(errno unix.Errno, calls ...uint32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for _, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: nr},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}
