//go:build linux && !scope_off

package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// filterChild in the environment makes the test binary a program that installs a seccomp
// filter: its value is the name of one of filterCases and the directory.
const filterChild = "SCOPE_FILTER_CHILD"

// filterCases are times at which a program installs a filter, and its effects.
var filterCases = []struct {
	name    string
	when    string // "before" the recording, "during" it, or "after"
	refuses bool   // it fails all calls of the recorder with EPERM; else it kills for perf_event_open and rseq
	tries   bool   // rseq is requested in spite of a filter, which lets it pass
	opts    []Option
	dies    bool // from its own call: the control
}{
	{name: "before, kills", when: "before"},
	{name: "before, kills, asked to measure always", when: "before", tries: true, opts: []Option{WithCPU(CPUAlways)}},
	{name: "before, refuses", when: "before", refuses: true},
	{name: "during, kills", when: "during"},
	{name: "during, kills, asked to measure always", when: "during", opts: []Option{WithCPU(CPUAlways)}},
	{name: "during, refuses, disk", when: "during", refuses: true, opts: []Option{WithBacking(DiskBacking)}},
	{name: "during, refuses, shm", when: "during", refuses: true, opts: []Option{WithBacking(ShmBacking)}},
	{name: "during, refuses, heap", when: "during", refuses: true, opts: []Option{WithBacking(HeapBacking)}},
	{name: "during, refuses, ring", when: "during", refuses: true, opts: []Option{WithRing(MinRing)}},
	{name: "after, kills", when: "after"},
	{name: "the program's own call", when: "before", dies: true},
}

// TestG33: a program installs a seccomp filter before, during or after a recording, and
// then records on new threads. A filter that kills for rseq and perf_event_open sees
// neither from the recorder; one that refuses the recorder's calls costs records at most,
// and these are counted.
func TestG33(t *testing.T) {
	if v := os.Getenv(filterChild); v != "" {
		name, dir, _ := strings.Cut(v, "\n")
		for i := range filterCases {
			if filterCases[i].name == name {
				filtered(t, i, dir)
			}
		}
		return
	}
	faultfs.Children(t)
	if !record.HaveDisk {
		t.Skip("a build without the assembly path makes none of these calls: " + record.NoDisk)
	}
	for _, c := range filterCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run=^TestG33$")
			cmd.Env = append(os.Environ(), filterChild+"="+c.name+"\n"+dir)
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 && strings.HasPrefix(string(out), "no filter") {
				t.Skipf("%s", out)
			}
			if (err != nil) != c.dies {
				t.Fatalf("the program ended with %v, want it killed: %v\n%s", err, c.dies, out)
			}
			if c.dies || c.refuses && c.when == "before" {
				return
			}
			last := ""
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(line, "G33: ") {
					last = line
				}
			}
			var stats filteredStats
			if err := json.Unmarshal([]byte(strings.TrimPrefix(last, "G33: ")), &stats); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if stats.Issued == 0 || stats.Recorded+stats.Overwritten+stats.Lost != stats.Issued {
				t.Errorf("%+v: not what was issued", stats)
			}
			if !c.refuses && stats.Lost != 0 {
				t.Errorf("%+v: something was lost", stats)
			}
			t.Logf("G33: %s: %d issued, %d recorded, %d overwritten, %d lost; %s", c.name, stats.Issued, stats.Recorded, stats.Overwritten, stats.Lost, stats.Error)
			readFiltered(t, stats)
		})
	}
}

// filteredStats is the program's final output.
type filteredStats struct {
	Path                                string
	Issued, Recorded, Overwritten, Lost int64
	Error                               string
}

// readFiltered reads the trace, and checks that only the recording's own files are left.
// If nothing was lost, each record is in it.
func readFiltered(t *testing.T, stats filteredStats) {
	t.Helper()
	n := int64(0)
	tr, problems := eachAnyway(t, stats.Path, func(*trace.Trace, *trace.Event) { n++ })
	if stats.Error == "" && stats.Overwritten == 0 && (n != stats.Recorded || len(problems) > 0) {
		t.Errorf("the trace has %d records, want %d; problems: %v", n, stats.Recorded, problems)
	}
	if b := tr.Breaks(); len(b) > 0 {
		t.Errorf("the clock is said to have stepped: %v", b)
	}
	// The program could not unlink it.
	os.Remove(filepath.Join(hot.Dir, format.HotName(tr.Header().ID)))
}

// filtered is the program.
func filtered(t *testing.T, number int, dir string) {
	c := filterCases[number]
	install := func(now string) {
		if now != c.when {
			return
		}
		if err := installFilter(c.refuses, !c.tries); err != nil {
			fmt.Printf("no filter could be installed: %v\n", err)
			os.Exit(2)
		}
	}
	stats := filteredStats{}
	install("before")
	if c.dies {
		_, _ = unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE}, 0, -1, -1, 0)
		os.Exit(0)
	}
	err := Start(dir+string(filepath.Separator), append(c.opts, shortTicks(), WithHeartbeat(20*time.Millisecond))...)
	if c.refuses && c.when == "before" {
		// Not even a file can be created.
		if onThreads(); err == nil {
			t.Fatal("Start said nothing")
		}
		os.Exit(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	stats.Issued = onThreads()
	install("during")
	stats.Issued += onThreads()
	if err := Stop(); err != nil {
		if !c.refuses {
			t.Fatal(err)
		}
		stats.Error = err.Error()
	}
	install("after")
	Task("nothing")()
	if c.when == "after" {
		if err := Start(dir+string(filepath.Separator), c.opts...); err != nil {
			t.Fatal(err)
		}
		stats.Issued = onThreads()
		finish(t)
	}
	s := Stats()
	stats.Path, stats.Recorded, stats.Overwritten, stats.Lost = Path(), s.Recorded, s.Overwritten, s.Lost.Total()
	b, _ := json.Marshal(stats)
	fmt.Printf("G33: %s\n", b)
	os.Exit(0)
}

// onThreads records on thirty new threads, and returns the number of records.
func onThreads() int64 {
	const threads, each = 30, 500
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			for range each {
				Task("f1")()
			}
			runtime.GC() // a stop of the world lets the others take its P
		})
	}
	wg.Wait()
	return threads * each
}

// installFilter kills this process at its next perf_event_open and, if rseq is set, at its
// next rseq that is not from a C library, on any thread. If refuses is set, it fails all
// calls of the recorder that the Go runtime can do without.
func installFilter(refuses, rseq bool) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const number, address, fd = 0, 12, 48 // struct seccomp_data: nr, upper half of instruction_pointer, lower half of args[4]
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(v uint32, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: no, K: v}
	}
	answer := func(v uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v}
	}
	what := answer(unix.SECCOMP_RET_KILL_PROCESS)
	calls := []uint32{unix.SYS_PERF_EVENT_OPEN}
	if refuses {
		what, calls = answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)), recorderCalls
	}
	filter := []unix.SockFilter{load(number)}
	for _, nr := range calls {
		filter = append(filter, equal(nr, 1), what)
	}
	if refuses { // mappings of files; the runtime's are anonymous
		filter = append(filter, equal(unix.SYS_MMAP, 4), load(fd), equal(^uint32(0), 1), answer(unix.SECCOMP_RET_ALLOW), what)
	}
	if rseq { // a non-PIE binary is in the lower half; C libraries, which need rseq, are not
		filter = append(filter, equal(unix.SYS_RSEQ, 3), load(address), equal(0, 1), what)
	}
	filter = append(filter, answer(unix.SECCOMP_RET_ALLOW))
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

// recorderCalls are those of docs/security.md that a Go program can do without.
var recorderCalls = []uint32{
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_PRCTL, unix.SYS_MEMFD_CREATE, unix.SYS_FALLOCATE, unix.SYS_FTRUNCATE,
	unix.SYS_SYNC_FILE_RANGE, unix.SYS_MSYNC, unix.SYS_FADVISE64, unix.SYS_MADVISE, unix.SYS_FSTATFS, unix.SYS_STATFS,
	unix.SYS_UNAME, unix.SYS_FLOCK, unix.SYS_FCHMOD, unix.SYS_OPENAT, unix.SYS_GETDENTS64, unix.SYS_UNLINKAT,
	unix.SYS_READLINKAT, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_GETRUSAGE, unix.SYS_SCHED_GETAFFINITY, unix.SYS_CLOCK_GETTIME,
	unix.SYS_TGKILL, unix.SYS_PIPE2, unix.SYS_IOCTL, unix.SYS_PRLIMIT64,
}

// TestG33Descriptors records without spare descriptors: the trace names that as the
// reason, not a filter.
func TestG33Descriptors(t *testing.T) {
	if v := os.Getenv(filterChild); v != "" {
		var spare uint64
		_, dir, _ := strings.Cut(v, "\n")
		fmt.Sscanf(v, "%d", &spare)
		fewDescriptors(t, spare, dir)
		return
	}
	faultfs.Children(t)
	started := 0
	for spare := range 14 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestG33Descriptors$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d\n%s", filterChild, spare, dir))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%d descriptors: %v\n%s", spare, err, out)
		}
		words := string(out)
		if strings.HasPrefix(words, "started") {
			started++
			traces, _ := filepath.Glob(filepath.Join(dir, "*.scope"))
			if len(traces) != 1 {
				t.Fatalf("%d descriptors: %d traces", spare, len(traces))
			}
			n := 0
			if tr := each(t, traces[0], func(*trace.Trace, *trace.Event) { n++ }); n != 1000 || len(tr.Breaks()) > 0 {
				t.Errorf("%d descriptors: %d scopes, breaks %v", spare, n, tr.Breaks())
			}
		} else if !strings.Contains(words, "too many open files") {
			t.Errorf("%d descriptors: Start says %q", spare, words)
		}
		if strings.Contains(words, "seccomp") {
			t.Errorf("%d descriptors: %s", spare, words)
		}
	}
	t.Logf("G33: %d of 14 programs with 0 to 13 descriptors left recorded, the others reported why not", started)
	if started == 0 {
		t.Error("there was no recording with any number of descriptors")
	}
}

// fewDescriptors is the program.
func fewDescriptors(t *testing.T, spare uint64, dir string) {
	free, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(free.Fd())
	free.Close()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n + spare, Max: n + spare}); err != nil {
		t.Fatal(err)
	}
	if err := Start(dir + string(filepath.Separator)); err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	beats := func() {
		for range 3 {
			r := record.Current.Load()
			r.Beat(r.Clock().Read(4))
		}
	}
	beats()
	for { // the program takes all that are left
		if _, err := os.Open("/dev/null"); err != nil {
			break
		}
	}
	beats()
	for range 1000 {
		Task("f1")()
	}
	beats()
	words := Stats().Recorder
	finish(t)
	fmt.Println("started:", words)
	os.Exit(0)
}
