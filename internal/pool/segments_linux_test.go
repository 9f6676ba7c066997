package pool

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// segmentPool returns a pool over segments of 15 chunks in dir. over receives the overwritten
// numbers, reported the number of files.
func segmentPool(t *testing.T, dir string, heap bool, most int, over func([]int64)) (p *Pool, s *segments, reported *int) {
	t.Helper()
	f := createIn(t, dir, "t.scope")
	reported = new(int)
	files := NewSegments(f, f.Name(), [16]byte{7}, 1<<20, most, func(n int) { *reported = n }, func(error) {})
	p, err := New(Options{File: f, Heap: heap, Ring: RingOf(int64(most)<<20, over), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, files.(*segments), reported
}

// next takes a chunk, extending the pool if needed.
func next(t *testing.T, p *Pool) int64 {
	t.Helper()
	idx, why := p.Take()
	for n := 0; why != 0; n++ {
		if err := p.Extend(); err != nil || n > 3 {
			t.Fatalf("no chunk: %v, %v", why, err)
		}
		idx, why = p.Take()
	}
	return idx
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestSegments goes through many segments while one chunk stays open. Every chunk is in the file of
// its place, the file with the open chunk stays, and there are at most as many others as allowed;
// finished files are closed.
func TestSegments(t *testing.T) {
	for _, heap := range []bool{false, true} {
		t.Run(map[bool]string{false: "disk", true: "heap"}[heap], func(t *testing.T) {
			const most = 4
			dir := t.TempDir()
			over := map[int64]bool{}
			p, s, reported := segmentPool(t, dir, heap, most, func(nums []int64) {
				for _, n := range nums {
					over[n] = true
				}
			})
			open := next(t, p)
			fill(t, p, open, 1<<40)
			kept, why := p.TakeKept()
			if why != 0 || !p.Kept(kept) {
				t.Fatal(kept, why)
			}
			fill(t, p, kept, 1<<41)
			stamp := map[int64]uint64{} // by number
			fds, live := descriptors(t), 0
			for n := uint64(1); n <= 1000; n++ {
				idx := next(t, p)
				if at, _ := p.Place(idx); at < 1 || at > (most+HeldMost)*s.chunks {
					t.Fatalf("chunk %d is at place %d", idx, at)
				}
				fill(t, p, idx, n)
				p.Fresh(nil)
				leave(t, p, idx)
				stamp[idx] = n
				files, err := filepath.Glob(filepath.Join(dir, "t.scope.*"))
				if live = len(files); err != nil || live > most || *reported != live {
					t.Fatalf("%d segments, %d reported, want at most %d; %v", live, *reported, most, err)
				}
			}
			if n := descriptors(t); n > fds+most {
				t.Errorf("%d descriptors are open, at first %d were", n, fds)
			}
			// most files, one of them held: chunks that were not overwritten are in the others.
			if there := len(stamp) - len(over); there < (most-2)*15-15 || there > most*15 || over[open] {
				t.Errorf("%d of %d are not overwritten; the open one is: %t", there, len(stamp), over[open])
			}
			check := func(idx int64, want uint64) {
				t.Helper()
				at := s.placeOf(idx)
				if at < 0 {
					t.Fatalf("chunk %d has no place", idx)
				}
				path, off := p.file.f.Name(), (at-s.last())*ChunkSize
				if !p.Kept(idx) {
					path, off = s.parts[(at-1)/s.chunks].path, (1+(at-1)%s.chunks)*ChunkSize
				}
				b, err := os.ReadFile(path)
				if err != nil || int64(len(b)) < off+ChunkSize {
					t.Fatalf("%s: %d bytes, want chunk %d at %d: %v", path, len(b), idx, off, err)
				}
				if v := binary.LittleEndian.Uint64(b[off:]); v != want {
					t.Errorf("chunk %d, in %s at %d, begins with %d, want %d", idx, path, off, v, want)
				}
			}
			for _, idx := range []int64{open, kept} {
				if err := p.Save(idx, idx+1, false); err != nil {
					t.Fatal(err)
				}
			}
			check(open, 1<<40)
			check(kept, 1<<41)
			for idx, n := range stamp {
				if !over[idx] {
					check(idx, n)
				}
			}
			size := p.Size()
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if st, err := os.Stat(p.file.f.Name()); err != nil || st.Size() != size-s.last()*ChunkSize || st.Size() > 8*ChunkSize {
				t.Errorf("the trace's own file: %v, %v; the size of all is %d", st, err, size)
			}
			p.Discard()
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("%v is left, %v", list, err)
			}
		})
	}
}

// TestSegmentsAllHeld checks that with a chunk open in each there are more segments than wanted, up
// to a bound; then there is no window, and after one chunk is written out there is again.
func TestSegmentsAllHeld(t *testing.T) {
	p, s, _ := segmentPool(t, t.TempDir(), false, 2, nil)
	var all []int64
	for {
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
		idx, why := p.Take()
		if why != 0 {
			if why != format.LossWindow {
				t.Errorf("lost by %v, want window", why)
			}
			break
		}
		fill(t, p, idx, 1)
		p.Fresh(nil)
		all = append(all, idx)
	}
	if n := len(s.live); n != 2+HeldMost || len(all) < n*15-5 {
		t.Fatalf("%d segments with %d chunks, want %d", n, len(all), 2+HeldMost)
	}
	for _, idx := range all[:15] {
		leave(t, p, idx)
	}
	next(t, p)
	if n := len(s.live); n != 2+HeldMost {
		t.Errorf("%d segments, want as many as before", n)
	}
}

// TestSegmentsOnFullDisk checks that the oldest file is deleted where there is no room for another,
// and that there is no window only if none can be deleted.
func TestSegmentsOnFullDisk(t *testing.T) {
	for _, heap := range []bool{false, true} {
		t.Run(map[bool]string{false: "disk", true: "heap"}[heap], func(t *testing.T) {
			dir := faultfs.Tmpfs(t, 16<<20).Dir
			p, s, _ := segmentPool(t, dir, heap, 100, nil)
			var taken []int64
			most, waiting := 0, 0
			for n := range 1000 {
				idx, why := p.Take()
				for try := 0; why != 0 && try < 3; try++ {
					_ = p.Extend() // fails: it is full
					idx, why = p.Take()
				}
				if why != 0 {
					t.Fatalf("after %d chunks, in %d segments: lost by %v", n, len(s.live), why)
				}
				fill(t, p, idx, uint64(n+1))
				p.Fresh(nil)
				p.Advance(idx, Leaving)
				_ = p.Save(idx, idx+1, true)
				taken = append(taken, idx)
				// Chunks that the disk refuses stay in memory until a segment is deleted.
				taken = slices.DeleteFunc(taken, func(idx int64) bool {
					if p.Drop(idx, idx+1) != nil {
						return false
					}
					p.Advance(idx, Gone)
					p.Retire(idx)
					return true
				})
				most, waiting = max(most, len(s.live)), max(waiting, len(taken))
			}
			// A heap's files may be empty: their chunks wait in memory.
			if most < 8 || most > 16 && !heap || waiting > 400 {
				t.Errorf("there were %d segments of 1 MiB on 16 MiB, and up to %d chunks waited", most, waiting)
			}
			if !heap && available(t, dir) < 16<<20/20 {
				t.Errorf("%d bytes are left free", available(t, dir))
			}
		})
	}
}

// TestSegmentsNoFile checks that a pool that can't be created leaves no file.
func TestSegmentsNoFile(t *testing.T) {
	dir := faultfs.Tmpfs(t, 2<<20).Dir
	filler := createIn(t, dir, "filler")
	if err := unix.Fallocate(int(filler.Fd()), 0, 0, available(t, dir)-1<<20); err != nil {
		t.Fatal(err)
	}
	f := createIn(t, dir, "t.scope")
	files := NewSegments(f, f.Name(), [16]byte{7}, 1<<20, 4, func(int) {}, func(error) {})
	p, err := New(Options{File: f, Ring: RingOf(4<<20, nil), Files: files})
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, ErrNoSpace) {
		t.Errorf("%v, want that there is no space", err)
	}
	if list, _ := filepath.Glob(f.Name() + ".*"); len(list) != 0 {
		t.Errorf("%q are left", list)
	}
}

const immutableFlag = 0x10 // FS_IMMUTABLE_FL

// immutable prevents making and deleting files in dir, as chattr +i does, until the test ends or
// the returned function is called.
func immutable(t *testing.T, dir string) (end func()) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	was, err := unix.IoctlGetInt(int(d.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, was|immutableFlag)
	}
	if err != nil {
		d.Close()
		t.Skipf("a directory can't be made immutable: %v", err)
	}
	end = sync.OnceFunc(func() {
		if err := unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, was); err != nil {
			t.Error(err)
		}
		d.Close()
	})
	t.Cleanup(end)
	return end
}

// TestSegmentsImmutable checks that overwritten chunks are removed from a segment that can't be
// deleted, and that it is deleted once it can.
func TestSegmentsImmutable(t *testing.T) {
	for _, heap := range []bool{false, true} {
		t.Run(map[bool]string{false: "disk", true: "heap"}[heap], func(t *testing.T) {
			dir := t.TempDir()
			over := map[int64]bool{}
			p, s, _ := segmentPool(t, dir, heap, 4, func(nums []int64) {
				for _, n := range nums {
					over[n] = true
				}
			})
			taken := map[int64]uint64{}
			take := func(n uint64) {
				t.Helper()
				idx := next(t, p)
				fill(t, p, idx, n)
				p.Fresh(nil)
				leave(t, p, idx)
				taken[idx] = n
			}
			for n := range 2 * s.chunks {
				take(uint64(n) + 1)
			}
			before, err := filepath.Glob(filepath.Join(dir, "t.scope.*"))
			if err != nil || len(before) < 2 || len(over) > 0 {
				t.Fatalf("%q, %v; %d chunks are overwritten", before, err, len(over))
			}
			end := immutable(t, dir)
			s.drop()
			if err := s.buryNow(); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("burying: %v, want that it is not permitted", err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "t.scope.*"))
			if err != nil || len(files) != len(before) || len(over) == 0 {
				t.Fatalf("%q, %v; %d chunks are overwritten", files, err, len(over))
			}
			there := map[uint64]bool{}
			for _, name := range files {
				b := filetest.Read(t, name)
				for at := ChunkSize; at < len(b); at += ChunkSize {
					there[binary.LittleEndian.Uint64(b[at:])] = true
				}
			}
			for idx, n := range taken {
				if there[n] == over[idx] {
					t.Errorf("chunk %d, which is overwritten: %t, is in a file: %t", idx, over[idx], there[n])
				}
			}
			end()
			if err := s.buryNow(); err != nil {
				t.Error(err)
			}
			if files, err = filepath.Glob(filepath.Join(dir, "t.scope.*")); err != nil || len(files) != len(before)-1 {
				t.Errorf("%q are left of %q, %v", files, before, err)
			}
		})
	}
}
