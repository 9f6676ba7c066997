//go:build !scope_off

package record_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestFullDisk records until the file system is full, continues, frees space,
// and continues. The program survives, each record is kept or counted, and the
// trace records when it was incomplete.
func TestFullDisk(t *testing.T) {
	if sys.Race {
		t.Skip("the race detector makes it slow to fill what the heap may hold")
	}
	perBacking(t, func(t *testing.T, backing Option) {
		dir := faultfs.Tmpfs(t, 32<<20).Dir
		if err := Start(dir, backing, shortTicks()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = Stop() })
		issued, text := int64(0), strings.Repeat("x", 1000)
		write := func(n int) {
			for range n {
				Task("task", issued, text, text, text, text)() // few, because the Go path is slow
				issued++
			}
		}
		// With the heap, chunks wait in memory for a while.
		until(t, "the disk to be full", func() bool { write(250); return Stats().Lost.Space > 0 })
		if !record.Current.Load().Pool().Heap() {
			var s unix.Statfs_t
			if err := unix.Statfs(dir, &s); err != nil {
				t.Fatal(err)
			}
			if free := int64(s.Bavail) * int64(s.Bsize); free < 32<<20/20 {
				t.Errorf("%d bytes were left free of 32 MiB", free)
			}
		}
		if err := Stats().LastError; !errors.Is(err, unix.ENOSPC) && !errors.Is(err, pool.ErrNoSpace) {
			t.Errorf("the last error is %v, want one about space", err)
		}
		write(2500)
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=512m"); err != nil {
			t.Fatal(err)
		}
		full := Stats().Recorded
		until(t, "recording to resume", func() bool { write(100); time.Sleep(time.Millisecond); return Stats().Recorded > full+1000 })
		breathe(t)
		last := int64(0)
		until(t, "the last one to be recorded", func() bool { // the disk of a busy machine may be behind again
			kept := Stats().Recorded
			last = issued
			write(1)
			time.Sleep(time.Millisecond)
			return Stats().Recorded > kept
		})
		if err := Stop(); err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, pool.ErrNoSpace) {
			t.Errorf("Stop: %v", err)
		}
		s := Stats()
		if s.Recorded+s.Lost.Total() != issued {
			t.Errorf("%d issued, %d recorded, lost %+v", issued, s.Recorded, s.Lost)
		}
		n, newest := int64(0), uint64(0)
		tr := each(t, Path(), func(_ *trace.Trace, e *trace.Event) {
			n++
			newest = max(newest, e.Args[0].Value)
		})
		verify(t, Path())
		if n != s.Recorded || newest != uint64(last) {
			t.Errorf("%d recorded, %d in the trace, the newest is %d of %d", s.Recorded, n, newest, last)
		}
		gaps := map[format.Loss]int64{}
		for _, g := range tr.Gaps() {
			gaps[g.Reason] += g.Count
		}
		if gaps[format.LossSpace] != s.Lost.Space || gaps[format.LossWindow] != s.Lost.Window || gaps[format.LossBuffer] != s.Lost.Buffer {
			t.Errorf("the trace's gaps are %v, lost was %+v", gaps, s.Lost)
		}
	})
}

// TestNoSpaceToStart starts without room for the first window.
func TestNoSpaceToStart(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("the heap needs no room to start")
	}
	dir := faultfs.Tmpfs(t, 4<<20).Dir
	err := Start(filepath.Join(dir, "t.scope"))
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("Start: %v, want ErrNoSpace", err)
	}
	if got := ls(t, dir); len(got) != 0 || Enabled() {
		t.Errorf("left %q, recording: %t", got, Enabled())
	}
}

// TestNoSpaceForSnapshot takes a snapshot without room for it.
func TestNoSpaceForSnapshot(t *testing.T) {
	dir := faultfs.Tmpfs(t, 4<<10).Dir
	start(t)
	for range 10_000 {
		Task("task")()
	}
	err := Snapshot(filepath.Join(dir, "s.scope"))
	if !errors.Is(err, ErrNoSpace) || !strings.HasPrefix(err.Error(), ErrNoSpace.Error()+": writing the snapshot ") {
		t.Errorf("Snapshot: %v, want ErrNoSpace", err)
	}
	if got := ls(t, dir); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

// TestFileSizeLimit records with a limit on the size of files, as set by ulimit
// -f: what exceeds it is lost for lack of space, and the signal is not fatal.
func TestFileSizeLimit(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("about growing a mapped file")
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_FSIZE, &old)
	limit := uint64(8 << 20)
	if f := flag.Lookup("test.testlogfile"); f != nil { // go test makes this process write that file too
		if st, err := os.Stat(f.Value.String()); err == nil {
			limit += uint64(st.Size())
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	start(t, shortTicks())
	issued := int64(0)
	until(t, "the file's limit", func() bool {
		for range 1000 {
			Task("task")()
			issued++
		}
		return Stats().Lost.Space > 0
	})
	Stop()
	s := Stats()
	if s.Recorded+s.Lost.Total() != issued || s.Lost.Space == 0 || !errors.Is(s.LastError, unix.EFBIG) {
		t.Errorf("%d issued, %+v", issued, s)
	}
	read(t, Path())
}
