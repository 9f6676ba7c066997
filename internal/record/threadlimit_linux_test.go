//go:build !scope_off

package record_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// threadChild in the environment makes the test binary a program with a limit of threads: its value
// has the time when it needs most of them, the directory, or none, and the backing.
const threadChild = "SCOPE_THREAD_CHILD"

// threadLimits lists limits of a program's threads, and its message when it gets none.
var threadLimits = []struct{ by, says string }{
	{"pids.max", noThread},
	{"ulimit -u", noThread},
	{"debug.SetMaxThreads", "thread exhaustion"},
}

// TestG37Threads records at full speed in a program that may have ownThreads threads more than it
// needs without a recording: from the start, from a moment during the recording, and if it needs
// most of them only during the recording, or after it. With fewer, Start refuses, and the program
// survives. The twin has fewer than it needs, and no recording.
func TestG37Threads(t *testing.T) {
	if v := os.Getenv(threadChild); v != "" {
		threaded(t, strings.Split(v, "\n"))
		return
	}
	faultfs.Children(t)
	for _, l := range threadLimits {
		for _, c := range []struct {
			when   string
			always bool
		}{{"before", true}, {"lowered", false}, {"grown", true}, {"after", false}} {
			t.Run(l.by+"/"+c.when, func(t *testing.T) {
				if !faultfs.Full() && (!c.always || l.by == "ulimit -u") {
					t.Skip("SCOPEVIEW_FAULT=full")
				}
				group, needs := threadGroup(t, l.by), 0
				for range 3 {
					needs = max(needs, runThreads(t, group, l.by, c.when, "", "", 1000, 0).threads)
				}
				if c.when == "lowered" { // the twin would already have what it needs
				} else if got := runThreads(t, group, l.by, c.when, "", "", needs-6, 0); !regexp.MustCompile(l.says).MatchString(got.died) {
					t.Errorf("with %d threads of %d the program did not die of that: %+v", needs-6, needs, got)
				}
				for _, backing := range []string{"default", "disk", "heap"} {
					if !record.HaveDisk && backing == "disk" || backing != "default" && !faultfs.Full() {
						continue
					}
					got := runThreads(t, group, l.by, c.when, t.TempDir(), backing, needs+record.OwnThreads, 0)
					if got.died != "" || got.refused != "" || got.lost != 0 {
						t.Errorf("%s: %+v", backing, got)
					}
					t.Logf("G37: threads: %s, %s: %s: the program needs %d, with a recording %d", l.by, c.when, backing, needs, got.threads)
				}
			})
		}
		if l.by != "pids.max" {
			continue // Start does not check the others
		}
		t.Run(l.by+"/refused", func(t *testing.T) {
			group := threadGroup(t, l.by)
			if got := runThreads(t, group, l.by, "before", t.TempDir(), "default", 0, record.OwnThreads-1); !strings.Contains(got.refused, record.ErrThreads.Error()) {
				t.Errorf("%+v, want that Start refuses", got)
			}
		})
	}
}

// threadGroup returns the cgroup that limits threads, if one does.
func threadGroup(t *testing.T, by string) *faultfs.Pids {
	if by != "pids.max" {
		return nil
	}
	return faultfs.PidsGroup(t)
}

type threadStats struct {
	threads int
	refused string
	died    string // its last message
	lost    int64  // issued, and neither recorded nor counted
}

// runThreads runs a program that may have most threads or, if that is 0, more beyond those it has
// when it is about to start.
func runThreads(t *testing.T, group *faultfs.Pids, by, when, dir, backing string, most, more int) (got threadStats) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestG37Threads$")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", threadChild+"="+strings.Join([]string{when, dir, backing, by}, "\n"))
	in, pipe, says := started(t, cmd)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if group != nil {
		group.Limit(t, 1000)
		group.Add(t, cmd.Process.Pid)
	}
	out := bufio.NewReader(pipe)
	for _, step := range []string{"ready\n", "running\n"} {
		line, err := out.ReadString('\n')
		if r, ok := strings.CutPrefix(line, "refused "); ok {
			got.refused = r
			break
		}
		if line == "" { // it is dead
			break
		}
		if line != step {
			t.Fatalf("it said %q: %v\n%.3000s", line, err, says)
		}
		n := most
		if n == 0 {
			threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			n = len(threads) + more
		}
		order := "on"
		switch {
		case (step == "ready\n") == (when == "lowered"):
		case group != nil:
			group.Limit(t, n)
		default:
			order = fmt.Sprint("most ", n)
		}
		io.WriteString(in, order+"\n")
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		got.died = fmt.Sprintf("%v: %.3000s", err, says)
	} else if got.refused == "" {
		if _, err := fmt.Sscan(string(rest), &got.threads, &got.lost); err != nil {
			t.Fatalf("it said %q: %v", rest, err)
		}
	}
	return got
}

func threaded(t *testing.T, f []string) {
	when, dir := f[0], f[1]
	if f[3] == "ulimit -u" { // as a user without other processes
		if dir != "" {
			_ = os.Chmod(filepath.Dir(dir), 0o755)
			_ = os.Chown(dir, otherUser+1, otherUser+1)
		}
		if err := syscall.Setresuid(otherUser+1, otherUser+1, otherUser+1); err != nil {
			t.Fatal(err)
		}
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	options := map[string][]Option{"disk": {WithBacking(DiskBacking)}, "heap": {WithBacking(HeapBacking)}}[f[2]]
	in := bufio.NewReader(os.Stdin)
	step := func(text string) {
		fmt.Println(text)
		line, _ := in.ReadString('\n')
		var most int
		switch n, _ := fmt.Sscanf(line, "most %d", &most); {
		case n == 0:
		case f[3] == "ulimit -u":
			if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}); err != nil {
				t.Fatal(err)
			}
		default:
			debug.SetMaxThreads(most)
		}
	}
	var end atomic.Bool
	var wg sync.WaitGroup
	block := func() { // each of them takes a thread
		for range 8 {
			wg.Go(func() {
				for !end.Load() {
					d := unix.NsecToTimespec(20e6)
					_ = unix.Nanosleep(&d, nil)
				}
			})
		}
	}
	step("ready")
	if dir != "" {
		if err := Start(dir+string(filepath.Separator), append(options, shortTicks(), WithHeartbeat(10*time.Millisecond))...); err != nil {
			fmt.Println("refused", err)
			os.Exit(0)
		}
	}
	if when != "grown" && when != "after" {
		block()
	}
	var issued atomic.Int64
	work := func() {
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				var garbage [][]byte
				n := int64(0)
				for ; !end.Load(); n++ {
					Task("f1")()
					if n%1000 == 0 {
						garbage = append(garbage[len(garbage)/100:], make([]byte, 10_000))
					}
				}
				issued.Add(n)
			})
		}
	}
	work()
	time.Sleep(150 * time.Millisecond)
	step("running")
	if when == "grown" {
		block()
	}
	time.Sleep(150 * time.Millisecond)
	if when != "after" {
		end.Store(true)
		wg.Wait()
	}
	if dir != "" {
		if err := Stop(); err != nil && !errors.Is(err, ErrNoSpace) {
			t.Fatal(err)
		}
	}
	if when == "after" {
		block()
		time.Sleep(150 * time.Millisecond)
		end.Store(true)
		wg.Wait()
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	off := int64(0)
	if s := Stats(); dir != "" && when != "after" {
		off = issued.Load() - s.Recorded - s.Overwritten - s.Lost.Total()
	}
	fmt.Println(len(threads), off)
	os.Exit(0)
}

// started starts a program that is controlled by its standard input, and reports on its output.
// says receives its standard error.
func started(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser, says *strings.Builder) {
	t.Helper()
	says = new(strings.Builder)
	cmd.Stderr = says
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out, says
}
