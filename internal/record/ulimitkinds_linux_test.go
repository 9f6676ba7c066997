//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	. "github.com/scopeview/scopeview/scope"
)

// ownBegan holds what the program of TestG42 had at its start: a limit leaves it more than
// that, but not in addition to what a recording has taken since.
var ownBegan = map[string]int64{}

// ownMore is the number of scopes that the program's work has recorded.
var ownMore int64

func ownDir() string {
	if f := strings.Split(os.Getenv(ownChild), "\n"); len(f) > 3 {
		return f[3]
	}
	return ""
}

// ownSignals are those that the program receives; without a recording there are none.
var ownSignals = make(chan os.Signal, 8)

// otherUser is a user without other processes.
const otherUser = 61234

// leaving sets a limit of memory that leaves n bytes more than the program had.
func leaving(which int, field string, n uint64) func(*testing.T) {
	return func(t *testing.T) { setLimit(t, which, uint64(ownBegan[field])+n) }
}

// byAnother is leaving, set by another process.
func byAnother(which, field string, n int64) func(*testing.T) {
	return func(t *testing.T) {
		v := strconv.FormatInt(ownBegan[field]+n, 10)
		if out, err := exec.Command("prlimit", "--pid", strconv.Itoa(os.Getpid()), "--"+which+"="+v+":"+v).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func fixed(n uint64, which ...int) func(*testing.T) {
	return func(t *testing.T) {
		for _, w := range which {
			setLimit(t, w, n)
		}
	}
}

func setLimit(t *testing.T, which int, n uint64) {
	if err := unix.Setrlimit(which, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		t.Fatal(err)
	}
}

// asOther becomes a user to whom the limit applies.
func asOther(set func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		_ = os.Chmod(filepath.Dir(filepath.Dir(ownDir())), 0o755)
		_ = filepath.WalkDir(ownDir(), func(path string, _ os.DirEntry, _ error) error { return os.Chown(path, otherUser, otherUser) })
		if err := syscall.Setresuid(otherUser, otherUser, otherUser); err != nil {
			t.Fatal(err)
		}
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		set(t)
	}
}

// descriptors leaves the program 32 more than it has.
func descriptors(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	setLimit(t, unix.RLIMIT_NOFILE, uint64(f.Fd())+32)
}

// threads leaves the 20 that the program will need, those that Go needs, and three.
func threads(t *testing.T) {
	all, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	setLimit(t, unix.RLIMIT_NPROC, uint64(max(len(all), runtime.GOMAXPROCS(0)+3)+28))
}

// mappings uses up most of the mappings that a process may have (vm.max_map_count).
func mappings(t *testing.T) {
	b := filetest.Read(t, "/proc/sys/vm/max_map_count")
	most, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || most > 1<<18 {
		t.Skipf("%d mappings may be had: %v", most, err)
	}
	page := os.Getpagesize()
	n := (most - 500 - strings.Count(string(maps), "\n")) / 2
	all, err := unix.Mmap(-1, 0, 2*n*page, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	for i := 0; err == nil && i < n; i++ {
		err = unix.Mprotect(all[2*i*page:][:page], unix.PROT_READ)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// takeMemory reserves memory without touching it: limits count reservations.
func takeMemory(*testing.T) string {
	b := make([]byte, 300<<20)
	takeAll(1<<20, 20)
	runtime.KeepAlive(b)
	return "took 300 MiB and 20 threads"
}

// grow reserves more from time to time, while the recorder grows, too.
func grow(*testing.T) string {
	var all [][]byte
	for range 20 {
		all = append(all, make([]byte, 30<<20))
		for range 100_000 {
			if Task("f2")(); Enabled() {
				ownMore++
			}
		}
	}
	runtime.KeepAlive(all)
	return "grew to 600 MiB"
}

func openFiles(n int) func(*testing.T) string {
	return func(*testing.T) string {
		for range n {
			f, err := os.Open("/dev/null")
			if err != nil {
				return err.Error()
			}
			defer f.Close()
		}
		return fmt.Sprintf("opened %d files", n)
	}
}

func writeFile(*testing.T) string {
	if err := os.WriteFile(filepath.Join(ownDir(), "file"), make([]byte, 1<<20), 0o600); err != nil {
		return err.Error()
	}
	return "wrote 1 MiB"
}

// writeBeyond writes past the size limit of files, which causes an error and a signal.
func writeBeyond(t *testing.T) string {
	f, err := os.OpenFile(filepath.Join(ownDir(), "file"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.WriteAt([]byte{1}, 64<<20)
	return fmt.Sprintf("was refused: %t%s", errors.Is(err, unix.EFBIG), signals(t))
}

// signals returns the signals that the program has received. They come in the order of their
// numbers, and SIGWINCH's is the highest.
func signals(t *testing.T) (got string) {
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	for end := time.After(10 * time.Second); ; {
		select {
		case s := <-ownSignals:
			if s == unix.SIGWINCH {
				return got
			}
			got += "; got " + s.String()
		case <-end:
			t.Fatal("no signal comes")
		}
	}
}

func runOther(*testing.T) string {
	out, err := exec.Command("true").CombinedOutput()
	return fmt.Sprintf("ran: %s %v", out, err)
}
