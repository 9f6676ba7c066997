//go:build !scope_off

package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// limitChild in the environment makes the test binary a program under a limit: its value has
// the limit, when it is set, the backing, and the directory.
const limitChild = "SCOPE_LIMIT_CHILD"

// shortLimits are the cases of TestG37 that always run; the others run in full mode.
var shortLimits = []string{"data/before/default", "data/during/nolimit", "data/after/ring", "locked/before/default", "locked/during/ring", "locked/after/disk"}

var limitBackings = map[string][]Option{
	"default": nil,
	"disk":    {WithBacking(DiskBacking)},
	"ring":    {WithRing(MinRing)},
	"nolimit": {WithLimit(NoLimit)},
}

// TestG37: a program sets a limit of its data, or locks all its memory, before, during or after
// a recording. Then it can take as much memory and as many threads as without a recording, and
// has not grown by the recording's remains.
func TestG37(t *testing.T) {
	if v := os.Getenv(limitChild); v != "" {
		f := strings.Split(v, "\n")
		limited(t, f[0], f[1], f[2], f[3])
		return
	}
	faultfs.Children(t)
	if !record.HaveDisk {
		t.Skip("this build maps nothing: " + record.NoDisk)
	}
	for _, what := range []string{"data", "locked"} {
		for _, when := range []string{"before", "during", "after"} {
			for backing := range limitBackings {
				name := what + "/" + when + "/" + backing
				if !faultfs.Full() && !slices.Contains(shortLimits, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					if what == "locked" && os.Getuid() != 0 {
						t.Skip("locking memory wants root")
					}
					if what == "locked" && when == "after" && wantPath == format.PathGo {
						t.Skip("not given: where chunks have been the Go path leaves a file, all of whose pages are locked then")
					}
					dir := t.TempDir()
					cmd := exec.Command(os.Args[0], "-test.run=^TestG37$")
					cmd.Env = append(os.Environ(), limitChild+"="+strings.Join([]string{what, when, backing, dir}, "\n"))
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("the program ended with %v\n%.2000s", err, out)
					}
					var stats limitStats
					if err := json.Unmarshal(out, &stats); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					if stats.Recorded+stats.Overwritten+stats.Lost != stats.Issued {
						t.Errorf("%+v: not what was issued", stats)
					}
					most := int64(96 << 20)
					if when == "after" {
						most = 128 << 20 // half of it tables, of which few pages were touched
					}
					if stats.Grown > most {
						t.Errorf("the program has %d MiB more after the recording than before", stats.Grown>>20)
					}
					t.Logf("G37: %s: %+v", strings.TrimPrefix(t.Name(), "TestG37/"), stats)
					each(t, stats.Path, func(*trace.Trace, *trace.Event) {})
				})
			}
		}
	}
}

// limitStats is the program's output.
type limitStats struct {
	Path                                string `json:",omitempty"`
	Issued, Recorded, Overwritten, Lost int64
	Grown                               int64 // resident memory, due to the recording
	Unwritten                           int64 // of addresses only read, if the kernel gives these separate pages
	Late                                uint64
}

func limited(t *testing.T, what, when, backing, dir string) {
	limit := func(now string) {
		var err error
		switch {
		case now != when:
		case what == "locked":
			err = unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE)
		case what == "data":
			err = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: 1200000 << 10, Max: 1200000 << 10})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("before")
	takeAll(1<<20, 1)
	if when == "after" && what == "locked" { // the memory that it has by then
		if err := unix.Mlockall(unix.MCL_CURRENT); err != nil {
			t.Fatal(err)
		}
		_ = unix.Munlockall()
	}
	before := status(t, "VmRSS")
	if err := Start(dir+string(filepath.Separator), append(limitBackings[backing], shortTicks())...); err != nil {
		t.Fatal(err)
	}
	const each = 1_000_000
	many := func() {
		for i := range each {
			if Task("f1")(); i%20_000 == 0 {
				time.Sleep(time.Millisecond) // let a ring's flusher catch up
			}
		}
	}
	many()
	limit("during")
	if when == "during" && what == "locked" {
		before = status(t, "VmRSS")
	}
	many()
	r := record.Current.Load()
	live := r.Pool().Live(nil)
	words := r.Pool().Words(live[len(live)-1])
	finish(t)
	stats := limitStats{Path: Path(), Issued: 2 * each, Late: atomic.LoadUint64(&words[8])}
	if r.Fast() == nil { // its stores are not waited for
		atomic.CompareAndSwapUint64(&words[9], 1, 0)
	}
	limit("after")
	stats.Grown = status(t, "VmRSS") - before
	if readsTakePages(t) {
		stats.Unwritten = unwritten(t)
		stats.Grown -= stats.Unwritten
	}
	takeAll(300<<20, 20)
	s := Stats()
	stats.Recorded, stats.Overwritten, stats.Lost = s.Recorded, s.Overwritten, s.Lost.Total()
	b, _ := json.Marshal(stats)
	fmt.Println(string(b))
	os.Exit(0)
}

// readsTakePages reports whether the kernel does not share a zero page among pages that are
// read before they are written. Then the addresses that a recording leaves take memory once
// everything is locked.
func readsTakePages(t testing.TB) bool {
	before, sum := status(t, "VmRSS"), 0
	b, err := unix.Mmap(-1, 0, 16<<20, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	for i := 0; i < len(b); i += os.Getpagesize() {
		sum += int(b[i])
	}
	return sum == 0 && status(t, "VmRSS")-before > 8<<20
}

// unwritten returns the resident memory of anonymous read-only mappings.
func unwritten(t testing.TB) (n int64) {
	b := filetest.Read(t, "/proc/self/smaps")
	in := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case strings.Contains(f[0], "-"):
			in = f[1] == "r--p" && len(f) == 5
		case in && f[0] == "Rss:":
			kB, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n += kB << 10
		}
	}
	return n
}

// takeAll takes memory and threads.
func takeAll(bytes, threads int) {
	b := make([]byte, bytes)
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	var ready, wg sync.WaitGroup
	end := make(chan struct{})
	for range threads {
		ready.Add(1)
		wg.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			<-end
		})
	}
	ready.Wait()
	close(end)
	wg.Wait()
	runtime.KeepAlive(b)
}

// status returns a field of /proc/self/status, in bytes.
func status(t testing.TB, field string) int64 {
	t.Helper()
	b := filetest.Read(t, "/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("/proc/self/status has no %s", field)
	return 0
}
