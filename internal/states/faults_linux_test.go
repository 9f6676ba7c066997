package states

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// returns is an instruction that returns to the caller, by architecture.
var returns = map[string][]byte{"amd64": {0xc3}, "arm64": {0xc0, 0x03, 0x5f, 0xd6}}

// faulter maps a file whose pages each begin with code that returns at once.
type faulter struct {
	file *os.File
	mem  []byte
}

func newFaulter(t *testing.T, pages int) *faulter {
	t.Helper()
	page := make([]byte, os.Getpagesize())
	copy(page, returns[runtime.GOARCH])
	path := filepath.Join(t.TempDir(), "pages")
	filetest.Write(t, path, bytes.Repeat(page, pages))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Sync(); err != nil { // pages that are not on the disk can't be evicted
		t.Fatal(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, pages*len(page), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		t.Skip("a file can't be mapped with code: ", err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return &faulter{f, mem}
}

// evict makes the pages of the file be read from the disk again.
func (x *faulter) evict(t *testing.T) {
	for _, err := range []error{unix.Madvise(x.mem, unix.MADV_DONTNEED), unix.Fadvise(int(x.file.Fd()), 0, 0, unix.FADV_DONTNEED)} {
		if err != nil {
			t.Error(err)
		}
	}
}

var touched byte

func readPage(page *byte) { touched += *page }

func runPage(page *byte) {
	code := &page // what a func points to: an address of code
	(*(*func())(unsafe.Pointer(&code)))()
}

// onItsThread calls f on a thread of its own.
func onItsThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

// pageTruth has a thread's measurements while it used pages.
type pageTruth struct {
	major int64
	off   time.Duration // off the CPU in these
	stole time.Duration // time that the hypervisor had of all CPUs, which no switch of a thread shows
}

// use calls f with a byte of each page.
func (x *faulter) use(t *testing.T, f, before func(page *byte)) (truth pageTruth) {
	var u unix.Rusage
	stole := stolen(t)
	for at := 0; at < len(x.mem); at += os.Getpagesize() {
		if before != nil {
			before(&x.mem[at])
		}
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)
		major, begin, cpu := u.Majflt, time.Now(), threadCPU()
		f(&x.mem[at])
		off := time.Since(begin) - time.Duration(threadCPU()-cpu)
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)
		if u.Majflt > major { // a few are not major: others wait for the page too
			truth.major++
			truth.off += off
		}
	}
	truth.stole = stolen(t) - stole
	return truth
}

// TestPageFaults: a goroutine whose thread waits for pages from the disk waits for data or for
// text, depending on its use of them; if the pages are in memory it waits for neither. On a very
// busy machine a wait may end long before its fault does: one good recording of several is
// enough.
func TestPageFaults(t *testing.T) {
	if returns[runtime.GOARCH] == nil {
		t.Skip("no code for " + runtime.GOARCH)
	}
	const pages = 200
	x := newFaulter(t, pages)
	for try := 1; ; try++ {
		wrong := pageFaults(t, x, pages)
		if len(wrong) == 0 {
			return
		}
		t.Log(strings.Join(wrong, "\n"))
		if try == 3 {
			t.Fatalf("%d recordings have wrong waits for pages", try)
		}
	}
}

// pageFaults records waits for so many pages, and returns what is wrong.
func pageFaults(t *testing.T, x *faulter, pages int64) (wrong []string) {
	t.Helper()
	evict := func(*byte) { x.evict(t) }
	list := []struct {
		name      string
		f, before func(*byte)
		state     State // in which it waits; Unknown: it does not
	}{
		{"reads what is on the disk", readPage, evict, DataFault},
		{"runs what is on the disk", runPage, evict, TextFault},
		{"reads what is in memory", readPage, nil, Unknown},
		{"runs what is in memory", runPage, nil, Unknown},
	}
	truth := make([]pageTruth, len(list))
	threads := make([]uint32, len(list))
	tr := recorded(t, func() {
		for i, c := range list {
			if c.before == nil {
				onItsThread(func() { x.use(t, readPage, nil) }) // this takes the faults
			}
			onItsThread(func() {
				threads[i] = uint32(unix.Gettid())
				truth[i] = x.use(t, c.f, c.before)
			})
		}
	})
	if !tr.HasSwitches() {
		t.Skip(whyNot(tr))
	}
	var got [4][Count]int64
	if _, err := Read(tr, func(v *Interval) {
		if i := slices.Index(threads, v.Thread); i >= 0 {
			got[i][v.State] += v.To - v.From
		}
	}); err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		known, in := truth[i], func(s State) time.Duration { return time.Duration(got[i][s]) }
		if c.state != Unknown && known.major < pages*9/10 {
			t.Skipf("%s: %d major faults by %d pages: the directory for temporary files is on no disk", c.name, known.major, pages)
		}
		t.Logf("%s: %d major faults, %v off the CPU, %v stolen; by states %v for text, %v for data, stalled %v, preempted %v, runnable %v, on the CPU or unknown %v",
			c.name, known.major, known.off, known.stole, in(TextFault), in(DataFault), in(Stalled), in(Preempted), in(Runnable), in(CPU)+in(Running)+in(Unknown))
		for _, s := range []State{TextFault, DataFault} {
			switch {
			case s != c.state && got[i][s] > 0:
				wrong = append(wrong, fmt.Sprintf("%s: %v of %v", c.name, in(s), s))
			case s == c.state && (in(s)+in(Preempted) < (known.off-known.stole)*9/10 || in(s) > known.off*11/10):
				wrong = append(wrong, fmt.Sprintf("%s: %v of %v and %v preempted, and it was off the CPU for %v", c.name, in(s), s, in(Preempted), known.off))
			}
		}
	}
	return wrong
}
