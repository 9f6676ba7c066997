package pool

import (
	"bytes"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// testLimit keeps mappings short: an emulator takes seconds for a terabyte.
const testLimit = 1 << 30

// newDiskPool makes a pool over a mapped file, unmapped when the test ends.
func newDiskPool(t *testing.T, f *os.File, limit int64) *Pool {
	t.Helper()
	p, err := New(Options{File: f, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if addresses.busy {
			p.Close()
		}
	})
	return p
}

func blocks(t *testing.T, f *os.File) (size, allocated int64) {
	t.Helper()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return st.Size(), st.Sys().(*syscall.Stat_t).Blocks * 512
}

// TestDiskWindow checks the window: the file ends with it, every block of it is allocated, and
// storing into it takes no page fault.
func TestDiskWindow(t *testing.T) {
	f := newFile(t)
	p := newDiskPool(t, f, testLimit)
	want := int64(minWindow)
	for range 2 {
		size, allocated := blocks(t, f)
		if end := p.end.Load(); size != end*ChunkSize || end != want || allocated < size {
			t.Fatalf("the file has %d bytes and %d allocated, the window ends at chunk %d, want %d", size, allocated, end, want)
		}
		if n := p.Unprepared(); n != 0 {
			t.Skipf("the kernel can't fault pages in ahead: %d are not", n)
		}
		if faultfs.Emulated() {
			t.Skip("an emulator has page faults of its own")
		}
		faults, pages := 0, 0
		for {
			idx, why := p.Take()
			if why != 0 {
				break
			}
			w := p.Words(idx)
			faults += touch(w)
			pages += len(w) * 8 / os.Getpagesize()
		}
		// The runtime has a few of its own; a cold window has one per page.
		if faults > pages/4 {
			t.Fatalf("%d page faults in a window of %d pages", faults, pages)
		}
		// As if taking them had taken long: otherwise the window grows with the rate.
		p.asked = time.Now().Add(-time.Hour)
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
		want = p.Bump() + minWindow
	}
}

// touch stores into each page and returns the number of page faults.
func touch(w []uint64) int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &before)
	for i := 0; i < len(w); i += os.Getpagesize() / 8 {
		w[i] = 1
	}
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &after)
	return int(after.Minflt + after.Majflt - before.Minflt - before.Majflt)
}

// TestDiskClose checks that the file ends with the last chunk, that none of it stays mapped, and
// that a late store does no harm.
func TestDiskClose(t *testing.T) {
	f := newFile(t)
	p := newDiskPool(t, f, 64<<20)
	if _, err := New(Options{File: newFile(t), Limit: testLimit}); err == nil {
		t.Error("two pools share the addresses")
	}
	idx, _ := p.Take()
	w := p.Words(idx)
	w[0] = 42
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if size, _ := blocks(t, f); size != 2*ChunkSize {
		t.Errorf("the file has %d bytes, want two chunks", size)
	}
	maps := filetest.Read(t, "/proc/self/maps")
	if bytes.Contains(maps, []byte(f.Name())) {
		t.Errorf("%s is still mapped", f.Name())
	}
	w[0] = 43 // a late store of a writer that could not be waited for
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, idx*ChunkSize); err != nil || b[0] != 42 {
		t.Errorf("the file has %d: %v", b[0], err)
	}
	// The addresses are free for the next pool, whose memory is that of its file.
	p2 := newDiskPool(t, newFile(t), testLimit)
	if got := p2.Words(1)[0]; got != 0 || p2.Base() != p.Base() {
		t.Errorf("the next pool begins with %d, at %#x after %#x", got, p2.Base(), p.Base())
	}
}

// TestDiskDrop checks that dropped chunks are in the file, and neither in our memory nor in the
// page cache, for which our container would be charged.
func TestDiskDrop(t *testing.T) {
	f := newFile(t)
	p := newDiskPool(t, f, testLimit)
	const n = 32
	for range n {
		idx, why := p.Take()
		if why != 0 {
			t.Fatal(why)
		}
		touch(p.Words(idx))
	}
	if got := resident(t, p, 1, n+1); got != n*ChunkSize/os.Getpagesize() {
		t.Fatalf("%d pages are resident before, want all", got)
	}
	if err := p.Save(1, n+1, true); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(1, n+1); err != nil {
		t.Fatal(err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Type == unix.TMPFS_MAGIC {
		t.Skip("the temporary directory is on tmpfs, whose pages have nowhere else to go")
	}
	if got := resident(t, p, 1, n+1); got > n*ChunkSize/os.Getpagesize()/10 {
		t.Errorf("%d pages are resident afterwards", got)
	}
	if got := resident(t, p, n+1, p.end.Load()); got == 0 {
		t.Error("the window is gone too")
	}
	for idx := int64(1); idx <= n; idx++ {
		if got := p.Words(idx)[0]; got != 1 {
			t.Fatalf("chunk %d has %d in the file", idx, got)
		}
	}
}

// resident counts the pages of chunks [from, to) that are in memory.
func resident(t *testing.T, p *Pool, from, to int64) (n int) {
	t.Helper()
	size := (to - from) * ChunkSize
	vec := make([]byte, size/int64(os.Getpagesize()))
	w := p.Words(from)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&w[0])), uintptr(size), uintptr(unsafe.Pointer(&vec[0])))
	if errno != 0 {
		t.Fatalf("mincore: %v", errno)
	}
	for _, v := range vec {
		n += int(v & 1)
	}
	return n
}
