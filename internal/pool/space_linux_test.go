package pool

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

func createIn(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func available(t *testing.T, dir string) int64 {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// TestExtendOnFullDisk extends a pool on a file system without a free block, past the check that
// would have refused: the kernel's answer must be an error and not a signal, and whatever it
// allocated must be freed.
func TestExtendOnFullDisk(t *testing.T) {
	dir := faultfs.Tmpfs(t, 16<<20).Dir
	f := createIn(t, dir, "trace")
	p := newDiskPool(t, f, testLimit)
	filler := createIn(t, dir, "filler")
	const left = 1 << 20
	if err := unix.Fallocate(int(filler.Fd()), 0, 0, available(t, dir)-left); err != nil {
		t.Fatal(err)
	}
	end := p.end.Load()
	size, allocated := blocks(t, f)
	err := p.back.grow(end, minWindow)
	if !errors.Is(err, unix.ENOSPC) || lossOf(err) != format.LossSpace {
		t.Errorf("extending: %v (%v), want ENOSPC", err, lossOf(err))
	}
	if s, a := blocks(t, f); s != size || a > allocated {
		t.Errorf("the file has %d bytes and %d allocated, before it had %d and %d", s, a, size, allocated)
	}
	if free := available(t, dir); free < left {
		t.Errorf("%d bytes are left, want %d", free, left)
	}
	// Chunks prepared before can still be written to, to the last byte.
	for {
		idx, why := p.TakeForBlocks()
		if why != 0 {
			break
		}
		touch(p.Words(idx))
	}
}

// TestPoolOnFullDisk fills the file system of a pool, and frees room again.
func TestPoolOnFullDisk(t *testing.T) {
	dir := faultfs.Tmpfs(t, 64<<20).Dir
	f := createIn(t, dir, "trace")
	p := newDiskPool(t, f, testLimit)
	fill := func() (why format.Loss) {
		for range 1000 {
			idx, why := p.Take()
			if why == format.LossSpace {
				return why
			}
			if why == 0 {
				touch(p.Words(idx))
			}
			p.Extend()
		}
		return 0
	}
	if why := fill(); why != format.LossSpace {
		t.Fatalf("lost by %v, want space", why)
	}
	err := p.Extend()
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("Extend says %v, want ErrNoSpace", err)
	}
	const keep = 64 << 20 / 20
	if free := available(t, dir); free < keep {
		t.Errorf("%d bytes are left, want at least %d", free, keep)
	}
	before := p.Bump()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=128m"); err != nil {
		t.Fatal(err)
	}
	if err := p.Extend(); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if _, why := p.Take(); why != 0 || p.Bump() != before+1 {
		t.Errorf("with room again lost by %v", why)
	}
}

// TestNewOnFullDisk starts a pool where there is no room for one: the file stays empty and the next
// pool finds the addresses free.
func TestNewOnFullDisk(t *testing.T) {
	f := createIn(t, faultfs.Tmpfs(t, 4<<20).Dir, "trace")
	if _, err := New(Options{File: f, Limit: testLimit}); !IsNoSpace(err) {
		t.Errorf("New: %v, want an error about space", err)
	}
	if size, allocated := blocks(t, f); size != 0 || allocated != 0 {
		t.Errorf("the file has %d bytes and %d allocated", size, allocated)
	}
	newDiskPool(t, newFile(t), testLimit)
}

// TestHeapOnFullDisk drops heap chunks on a full disk: they stay in memory until there is room.
func TestHeapOnFullDisk(t *testing.T) {
	dir := faultfs.Tmpfs(t, 1<<20).Dir
	f := createIn(t, dir, "trace")
	filler := createIn(t, dir, "filler")
	if err := unix.Fallocate(int(filler.Fd()), 0, 0, available(t, dir)); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{File: f, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		idx, _ := p.Take()
		touch(p.Words(idx))
	}
	if err := p.Drop(1, 4); !IsNoSpace(err) {
		t.Errorf("settling: %v, want an error about space", err)
	}
	for idx := int64(1); idx < 4; idx++ {
		if p.Words(idx) == nil {
			t.Fatalf("chunk %d is gone and not written", idx)
		}
	}
	if err := filler.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if err := p.Drop(1, 4); err != nil {
		t.Error(err)
	}
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, 3*ChunkSize); err != nil || b[0] != 1 || p.Words(3) != nil {
		t.Errorf("the file has %v, memory %v: %v", b, p.Words(3) != nil, err)
	}
}

// TestRingOnFullDisk checks that a ring on a file system smaller than itself goes on with the
// places it got.
func TestRingOnFullDisk(t *testing.T) {
	dir := faultfs.Tmpfs(t, 8<<20).Dir
	f := createIn(t, dir, "ring")
	p, err := New(Options{File: f, Ring: RingOf(64<<20, nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	n := 0
	for round := 0; n < 500; round++ {
		_ = p.Extend() // fails: the disk is full
		for {
			idx, why := p.Take()
			if why != 0 {
				break
			}
			fill(t, p, idx, uint64(n))
			p.Fresh(nil)
			leave(t, p, idx)
			n++
		}
		if round > 500 {
			t.Fatalf("%d chunks in %d rounds", n, round)
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Blocks*512 > 8<<20 {
		t.Errorf("%d bytes on a file system of 8 MiB: %v", st.Blocks*512, err)
	}
}
