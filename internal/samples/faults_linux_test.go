package samples

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope/gotrace"
)

//go:noinline
func waitForPage(page *byte) { sink.Add(int64(*page)) }

// TestPageFaults: waits for pages are attributed to the functions that used these, if the
// counter of major page faults is recorded; otherwise to no known function.
func TestPageFaults(t *testing.T) {
	const pages = 100
	page := os.Getpagesize()
	data := filepath.Join(t.TempDir(), "pages")
	filetest.Write(t, data, make([]byte, pages*page))
	f := filetest.Open(t, data)
	mem, err := unix.Mmap(int(f.Fd()), 0, pages*page, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := f.Sync(); err != nil { // pages that are not on the disk can't be evicted
		t.Fatal(err)
	}
	work := func() (major int64) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var before, after unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &before)
		for at := 0; at < len(mem); at += page {
			if err := unix.Madvise(mem, unix.MADV_DONTNEED); err != nil {
				t.Fatal(err)
			}
			if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
				t.Fatal(err)
			}
			waitForPage(&mem[at])
		}
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &after)
		return after.Majflt - before.Majflt
	}
	for _, counted := range []bool{true, false} {
		options := []gotrace.Option{gotrace.WithoutProfile()}
		if counted {
			options = append(options, gotrace.WithCounter("major-faults", 1))
		}
		path := filepath.Join(t.TempDir(), "x.scope")
		end := recordtest.Begin(t, path, gotrace.With(options...))
		major := work()
		end()
		tr := tracetest.OpenFile(t, path)
		if !tr.HasSwitches() {
			t.Skip("no switches: " + tr.Lookup("thread_switches"))
		}
		if major < pages/2 {
			t.Skipf("%d major faults by %d pages: the directory for temporary files is on no disk", major, pages)
		}
		p, err := OfTrace(context.Background(), tr, anything())
		if err != nil {
			t.Fatal(err)
		}
		waited, known, unknown := all(p, "datafault"), on(p, "datafault", ".waitForPage"), on(p, "datafault", UnknownName)
		t.Logf("%v for pages, %v of it in waitForPage, %v nobody knows where", time.Duration(waited), time.Duration(known), time.Duration(unknown))
		if waited == 0 || counted && 10*known < 9*waited || !counted && (known > 0 || unknown != waited) {
			t.Errorf("with the counter %v: %d ns of %d in waitForPage, %d nobody knows where", counted, known, waited, unknown)
		}
	}
}
