//go:build linux

package faultfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// LogDisk is a disk in this process's memory that logs writes and flushes, like
// device-mapper's log-writes target. The kernel sees a file of a FUSE file system with a
// loop device, which turns flushes into fsync. The log determines what a disk with a
// volatile cache contains after a power failure.
type LogDisk struct {
	file string // mount point: FUSE's root is a file
	fuse *os.File

	mu   sync.Mutex
	size int64
	now  []byte           // current contents
	over map[int64][]byte // blocks over now, which is shared with other disks; nil: not shared
	log  []DiskWrite
}

// diskBlock is the size that a disk writes atomically.
const diskBlock = 4096

// DiskWrite is a write to a disk; without data it is a flush.
type DiskWrite struct {
	Off  int64
	Data []byte
}

// Flush reports whether w is a flush, which makes earlier writes persistent.
func (w *DiskWrite) Flush() bool { return w.Data == nil }

// NewLogDisk creates a disk of size bytes, all zero.
func NewLogDisk(t testing.TB, size int64) *LogDisk {
	t.Helper()
	return serveDisk(t, &LogDisk{size: size, now: make([]byte, size)})
}

// CutDisk creates a disk from another one's base, which it does not change, and its writes.
// Of each written block it applies the writes for which keep returns true.
func CutDisk(t testing.TB, base []byte, writes []DiskWrite, keep func() bool) *LogDisk {
	t.Helper()
	d := &LogDisk{size: int64(len(base)), now: base, over: map[int64][]byte{}}
	for _, w := range writes {
		for at := int64(0); at < int64(len(w.Data)); {
			n := min(int64(len(w.Data))-at, diskBlock-(w.Off+at)%diskBlock)
			if keep() {
				d.put(w.Off+at, w.Data[at:at+n])
			}
			at += n
		}
	}
	return serveDisk(t, d)
}

func serveDisk(t testing.TB, d *LogDisk) *LogDisk {
	t.Helper()
	root(t, "a disk in user space")
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no FUSE: %v", err)
	}
	d.file, d.fuse = filepath.Join(t.TempDir(), "disk"), f
	if err := os.WriteFile(d.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=100600,user_id=0,group_id=0", f.Fd())
	if err := unix.Mount("scopeview", d.file, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		f.Close()
		t.Skipf("FUSE can't be mounted: %v", err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.serve()
	}()
	t.Cleanup(func() {
		_ = unix.Unmount(d.file, unix.MNT_DETACH)
		f.Close()
		<-served
	})
	return d
}

// Log returns the writes so far, which must not be changed.
func (d *LogDisk) Log() []DiskWrite {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log[:len(d.log):len(d.log)]
}

// FUSE requests, from linux/fuse.h. Others are answered with ENOSYS.
const (
	fuseForget      = 2
	fuseGetattr     = 3
	fuseSetattr     = 4
	fuseOpen        = 14
	fuseRead        = 15
	fuseWrite       = 16
	fuseStatfs      = 17
	fuseRelease     = 18
	fuseFsync       = 20
	fuseFlush       = 25
	fuseInit        = 26
	fuseInterrupt   = 36
	fuseDestroy     = 38
	fuseBatchForget = 42
	fuseFallocate   = 43
)

const (
	fuseHeader   = 40
	fuseMost     = 1 << 20 // maximum bytes of a write
	fuseMaxPages = 1 << 22 // flags of fuseInit
	fuseBig      = 1 << 5
	fuseDirect   = 1 // of fuseOpen: no caching
)

// serve answers requests until the file system is gone.
func (d *LogDisk) serve() {
	le := binary.LittleEndian
	in := make([]byte, fuseMost+1<<12)
	for {
		n, err := unix.Read(int(d.fuse.Fd()), in)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil || n < fuseHeader {
			return
		}
		what := le.Uint32(in[4:])
		if what == fuseForget || what == fuseBatchForget || what == fuseInterrupt {
			continue
		}
		answer, errno := d.answer(what, in[fuseHeader:n])
		out := le.AppendUint32(nil, uint32(16+len(answer)))
		out = le.AppendUint32(out, uint32(-int32(errno)))
		out = append(append(out, in[8:16]...), answer...)
		if _, err := unix.Write(int(d.fuse.Fd()), out); err != nil && !errors.Is(err, unix.ENOENT) {
			return
		}
	}
}

func (d *LogDisk) answer(what uint32, in []byte) ([]byte, unix.Errno) {
	le := binary.LittleEndian
	switch what {
	case fuseInit:
		b := make([]byte, 64)
		le.PutUint32(b, 7)
		le.PutUint32(b[4:], 31)
		le.PutUint32(b[12:], fuseBig|fuseMaxPages)
		le.PutUint16(b[16:], 64)
		le.PutUint16(b[18:], 48)
		le.PutUint32(b[20:], fuseMost)
		le.PutUint32(b[24:], 1)
		le.PutUint16(b[28:], fuseMost>>12)
		return b, 0
	case fuseGetattr, fuseSetattr:
		b := make([]byte, 104)
		le.PutUint64(b, 3600)
		a := b[16:]
		le.PutUint64(a, 1)
		le.PutUint64(a[8:], uint64(d.size))
		le.PutUint32(a[60:], unix.S_IFREG|0o600)
		le.PutUint32(a[64:], 1)
		le.PutUint32(a[80:], 4096)
		return b, 0
	case fuseOpen:
		b := make([]byte, 16)
		b[8] = fuseDirect
		return b, 0
	case fuseRead:
		return d.read(int64(le.Uint64(in[8:])), int64(le.Uint32(in[16:]))), 0
	case fuseWrite:
		n := le.Uint32(in[16:])
		d.write(int64(le.Uint64(in[8:])), in[40:40+n])
		return append(le.AppendUint32(nil, n), 0, 0, 0, 0), 0
	case fuseFallocate: // punched out, or zeroed
		d.write(int64(le.Uint64(in[8:])), make([]byte, le.Uint64(in[16:])))
		return nil, 0
	case fuseFsync, fuseFlush:
		d.flush()
		return nil, 0
	case fuseStatfs:
		return make([]byte, 80), 0
	case fuseRelease, fuseDestroy:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

func (d *LogDisk) read(off, n int64) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if off >= d.size {
		return nil
	}
	end := min(off+n, d.size)
	b := append([]byte(nil), d.now[off:end]...)
	for at := off - off%diskBlock; at < end && d.over != nil; at += diskBlock {
		if o := d.over[at]; o != nil {
			from := max(at, off)
			copy(b[from-off:], o[from-at:])
		}
	}
	return b
}

func (d *LogDisk) write(off int64, b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if off >= d.size {
		return
	}
	b = b[:min(int64(len(b)), d.size-off)]
	d.put(off, b)
	if d.over == nil {
		d.log = append(d.log, DiskWrite{off, append([]byte(nil), b...)})
	}
}

// put stores b, within one block if there is an overlay.
func (d *LogDisk) put(off int64, b []byte) {
	if d.over == nil {
		copy(d.now[off:], b)
		return
	}
	for len(b) > 0 {
		at := off - off%diskBlock
		o := d.over[at]
		if o == nil {
			o = append([]byte(nil), d.now[at:min(at+diskBlock, d.size)]...)
			d.over[at] = o
		}
		n := copy(o[off-at:], b)
		off, b = off+int64(n), b[n:]
	}
}

func (d *LogDisk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.log); d.over == nil && n > 0 && !d.log[n-1].Flush() {
		d.log = append(d.log, DiskWrite{})
	}
}

// Format creates a file system on the disk, and mounts it. options are mount options.
func (d *LogDisk) Format(t testing.TB, kind, options string, mkfs ...string) *FS {
	t.Helper()
	path, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		t.Skipf("there is no mkfs.%s to make a file system with", kind)
	}
	f := &FS{Kind: kind, Dir: t.TempDir(), image: d.file, mount: options}
	f.attach(t)
	if out, err := exec.Command(path, append(mkfs, f.device)...).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.%s: %v: %s", kind, err, out)
	}
	f.mountDisk(t)
	return f
}

// Mount mounts the disk's file system, which replays its journal.
func (d *LogDisk) Mount(t testing.TB, kind, options string) *FS {
	t.Helper()
	f := &FS{Kind: kind, Dir: t.TempDir(), image: d.file, mount: options}
	f.attach(t)
	f.mountDisk(t)
	return f
}

func (f *FS) mountDisk(t testing.TB) {
	t.Helper()
	if err := unix.Mount(f.device, f.Dir, f.Kind, unix.MS_NOSUID|unix.MS_NODEV, f.mount); err != nil {
		t.Fatalf("%s on %s can't be mounted: %v", f.Kind, f.device, err)
	}
	t.Cleanup(func() { f.unmount(t) })
}

// Size returns the disk's size in bytes.
func (d *LogDisk) Size() int64 { return d.size }
