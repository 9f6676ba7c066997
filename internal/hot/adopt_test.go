//go:build linux

package hot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func always() bool { return true }

// killed returns a trace whose writer was killed: chunk 1 is written out, 2 and 4 are hot,
// and so is 3, which was not begun.
func killed(t *testing.T, change func(*format.Header)) *writer {
	w := newWriter(t, 6, change)
	w.fill()
	return w
}

// fill stores these chunks, and kills the writer.
func (w *writer) fill() {
	for place := range int64(5) {
		if place == 0 {
			continue
		}
		w.attach(int(place), place)
		if place != 3 {
			w.put(place, filled(place, 'a'), 0)
		}
	}
	w.save(1)
	w.let(1)
	w.state(format.StateTick, 500)
	w.kill()
}

func adopt(t *testing.T, want Adopted) {
	t.Helper()
	got, err := Adopt(always)
	if got != want {
		t.Errorf("adopted %+v, want %+v", got, want)
	}
	if err != nil {
		t.Error(err)
	}
}

func (w *writer) hotThere() bool {
	_, err := os.Lstat(w.hot.Name())
	return err == nil
}

func TestAdopt(t *testing.T) {
	inDir(t)
	w := killed(t, nil)
	w2, err := os.OpenFile(w.trace.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w2.Close()
	w.write(w2, []byte("request"), format.ControlOffset)
	before := joined(t, w, Joined)
	whole := read(t, before)
	adopt(t, Adopted{Traces: 1, Chunks: 2, Removed: 1})
	if w.hotThere() {
		t.Error("the hot file is there")
	}
	after := read(t, joined(t, w, None))
	if !bytes.Equal(after, whole) {
		t.Errorf("%d bytes, and joined it was %d others", len(after), len(whole))
	}
	if s := stateIn(after); !s.Joined || s.Tick != 500 {
		t.Errorf("the state is %+v", s)
	}
	// A reader that had it open continues with the trace file.
	if b := read(t, before); !bytes.Equal(b, whole) || before.State() != None {
		t.Errorf("the other reader has %d bytes, state %d", len(b), before.State())
	}
	adopt(t, Adopted{})
}

// TestAdoptEmptyChunk: data of a ring's place that was being reused must not come back.
func TestAdoptEmptyChunk(t *testing.T) {
	inDir(t)
	w := killed(t, func(h *format.Header) { h.Ring = 3 })
	f, err := os.OpenFile(w.trace.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.write(f, filled(3, 'o'), 3*chunk)
	adopt(t, Adopted{Traces: 1, Chunks: 3, Removed: 1})
	want(t, "overwritten", read(t, joined(t, w, None)), 3, make([]byte, chunk))
}

func TestAdoptLeaves(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(t *testing.T, w *writer)
		want    Adopted
		removed bool
	}{
		"a living writer's": {change: func(t *testing.T, w *writer) { w.reopen(t, w.hot.Name(), true) }, want: Adopted{Left: 1}},
		"a trace that is written": {change: func(t *testing.T, w *writer) {
			w.reopen(t, w.trace.Name(), true)
		}, want: Adopted{Left: 1}},
		"another user's": {change: func(t *testing.T, w *writer) {
			if err := os.Chown(w.hot.Name(), 12345, -1); err != nil {
				t.Skip("needs root: ", err)
			}
		}, want: Adopted{Left: 1}},
		"a link": {change: func(t *testing.T, w *writer) {
			if err := errors.Join(os.Rename(w.hot.Name(), w.hot.Name()+"x"), os.Symlink(w.hot.Name()+"x", w.hot.Name())); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}},
		"a pipe": {change: func(t *testing.T, w *writer) {
			if err := errors.Join(os.Remove(w.hot.Name()), syscall.Mkfifo(w.hot.Name(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}},
		"under another name": {change: func(t *testing.T, w *writer) {
			other := filepath.Join(Dir, format.HotName([16]byte{5}))
			if err := os.Rename(w.hot.Name(), other); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}, removed: true},
		"of another trace file": {change: func(t *testing.T, w *writer) {
			f := w.reopen(t, w.trace.Name(), false)
			h := w.head
			h.ID[0]++
			w.write(f, format.AppendHeader(nil, &h), 0)
		}, want: Adopted{Removed: 1}, removed: true},
		"of no trace": {change: func(t *testing.T, w *writer) {
			w.write(w.reopen(t, w.trace.Name(), false), []byte("abc"), 0)
		}, want: Adopted{Removed: 1}, removed: true},
		"of a disk's trace": {change: func(t *testing.T, w *writer) {
			h := w.head
			h.Backing = format.BackingDisk
			w.write(w.reopen(t, w.trace.Name(), false), format.AppendHeader(nil, &h), 0)
		}, want: Adopted{Left: 1}},
		"of a trace that became a link": {change: func(t *testing.T, w *writer) {
			if err := errors.Join(os.Rename(w.trace.Name(), w.trace.Name()+"x"), os.Symlink(w.trace.Name()+"x", w.trace.Name())); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Traces: 1, Chunks: 2, Removed: 1}, removed: true},
		"of a trace that became a pipe": {change: func(t *testing.T, w *writer) {
			if err := errors.Join(os.Remove(w.trace.Name()), syscall.Mkfifo(w.trace.Name(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Removed: 1}, removed: true},
		"of another user's trace": {change: func(t *testing.T, w *writer) {
			if err := os.Chown(w.trace.Name(), 12345, -1); err != nil {
				t.Skip("needs root: ", err)
			}
		}, want: Adopted{Removed: 1}, removed: true},
		"one that is just made": {change: func(t *testing.T, w *writer) {
			w.write(w.reopen(t, w.hot.Name(), false), make([]byte, 64), 0)
		}, want: Adopted{Left: 1}},
		"one that never was": {change: func(t *testing.T, w *writer) {
			w.write(w.reopen(t, w.hot.Name(), false), make([]byte, 64), 0)
			if err := os.Chtimes(w.hot.Name(), time.Time{}, time.Now().Add(-2*unbornAfter)); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Removed: 1}, removed: true},
		"of a trace that can't be written": {change: func(t *testing.T, w *writer) {
			if os.Getuid() == 0 {
				t.Skip("root writes what it likes")
			}
			if err := os.Chmod(w.trace.Name(), 0o400); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}},
		"a newer version's": {change: func(t *testing.T, w *writer) {
			f := w.reopen(t, w.hot.Name(), false)
			w.write(f, []byte{3}, 8)
			if err := os.Chtimes(w.hot.Name(), time.Time{}, time.Now().Add(-2*unbornAfter)); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}},
		"one whose trace is gone": {change: func(t *testing.T, w *writer) {
			if err := os.Remove(w.trace.Name()); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Removed: 1}, removed: true},
		"one whose directory is gone": {change: func(t *testing.T, w *writer) {
			if err := os.RemoveAll(filepath.Dir(w.trace.Name())); err != nil {
				t.Fatal(err)
			}
		}, want: Adopted{Left: 1}},
		"one whose directory was gone long ago": {change: func(t *testing.T, w *writer) {
			err := os.RemoveAll(filepath.Dir(w.trace.Name()))
			if err != nil {
				t.Fatal(err)
			}
			w.seen(t, 2*elsewhereFor)
		}, want: Adopted{Removed: 1}, removed: true},
		"one whose trace is closed": {change: func(t *testing.T, w *writer) {
			w.write(w.reopen(t, w.trace.Name(), false), []byte{1}, format.StateOffset)
		}, want: Adopted{Removed: 1}, removed: true},
	} {
		t.Run(name, func(t *testing.T) {
			inDir(t)
			w := killed(t, nil)
			tc.change(t, w)
			before, _ := os.ReadFile(hotBytes(w))
			trace, _ := os.ReadFile(regular(w.trace.Name()))
			adopt(t, tc.want)
			if w.hotThere() == tc.removed {
				t.Errorf("removed: %v", !tc.removed)
			}
			after, _ := os.ReadFile(hotBytes(w))
			unseen(before)
			if unseen(after); !tc.removed && !bytes.Equal(before, after) {
				t.Error("the hot file was changed")
			}
			if after, _ := os.ReadFile(regular(w.trace.Name())); tc.want.Traces == 0 && !bytes.Equal(trace, after) {
				t.Error("the trace was changed")
			}
		})
	}
}

// TestAdoptAbsurd: invalid words in the table, and a chunk 0 that is none.
func TestAdoptAbsurd(t *testing.T) {
	inDir(t)
	w := newWriter(t, 6, nil)
	for i, place := range []int64{2, 2, 1 << 50, 7, 6} { // the last valid place is 6
		w.attach(i+1, place)
		w.write(w.hot, filled(place, byte('a'+i)), format.HotSlot(len(w.slots), i+1))
	}
	w.put(0, []byte("not a header"), 0)
	w.kill()
	adopt(t, Adopted{Traces: 1, Chunks: 2, Removed: 1})
	b := read(t, joined(t, w, None))
	if len(b) != 7*chunk {
		t.Fatalf("%d bytes", len(b))
	}
	want(t, "the first of two", b, 2, filled(2, 'a'))
	want(t, "the last", b, 6, filled(6, 'e'))
	if h, s, err := format.DecodeHeader(b); err != nil || h != w.head || !s.Joined {
		t.Errorf("the header is %+v, %+v, %v", h, s, err)
	}
}

// TestAdoptRenamed: a renamed trace is found in its directory.
func TestAdoptRenamed(t *testing.T) {
	for name, then := range map[string]func(t *testing.T, path string){
		"renamed": func(*testing.T, string) {},
		"renamed, and another has its name": func(t *testing.T, path string) {
			filetest.Write(t, path, format.AppendHeader(nil, &format.Header{Major: 1, ChunkSize: 4096, StartTicks: 1, TickRate: 1, ID: [16]byte{7}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDir(t)
			w := killed(t, nil)
			whole := read(t, joined(t, w, Joined))
			kept := filepath.Join(filepath.Dir(w.trace.Name()), "kept.scope")
			if err := os.Rename(w.trace.Name(), kept); err != nil {
				t.Fatal(err)
			}
			then(t, w.trace.Name())
			adopt(t, Adopted{Traces: 1, Chunks: 2, Removed: 1})
			if b, err := os.ReadFile(kept); err != nil || !bytes.Equal(b, whole) {
				t.Errorf("%d bytes, %v; joined it was %d others", len(b), err, len(whole))
			}
		})
	}
}

// seen sets the time when the hot file was first found without a writer.
func (w *writer) seen(t *testing.T, ago time.Duration) {
	t.Helper()
	w.write(w.reopen(t, w.hot.Name(), false), binary.LittleEndian.AppendUint64(nil, uint64(time.Now().Add(-ago).UnixNano())), format.HotSeenOffset)
}

// unseen clears that time in a hot file's bytes.
func unseen(b []byte) {
	if len(b) > format.HotSeenOffset+8 {
		clear(b[format.HotSeenOffset:][:8])
	}
}

// hotBytes returns the path of the hot file, or "" if it is not regular.
func hotBytes(w *writer) string { return regular(w.hot.Name()) }

// regular returns path if it is a regular file, so that reading does not block, and
// otherwise "".
func regular(path string) string {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return path
}

// reopen opens a file of the killed writer.
func (w *writer) reopen(t *testing.T, path string, lock bool) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if lock {
		w.lock(f)
	}
	return f
}

// TestAdoptOnAFullDisk: a full disk keeps the hot file, and the next call continues.
func TestAdoptOnAFullDisk(t *testing.T) {
	inDir(t)
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip("needs root: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	w := killed(t, nil)
	whole := read(t, joined(t, w, Joined))
	b := filetest.Read(t, w.trace.Name())
	path := filepath.Join(dir, "x.scope")
	filetest.Write(t, path, b)
	f := w.reopen(t, w.hot.Name(), false)
	head, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: 6, ID: w.head.ID, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	w.write(f, head, 0)
	o := Origin(w.reopen(t, path, false), path)
	w.write(f, o.Append(nil), format.HotOriginOffset)
	if err := os.Remove(w.trace.Name()); err != nil { // otherwise the file at the other path is a copy
		t.Fatal(err)
	}
	got, err := Adopt(always)
	if !errors.Is(err, syscall.ENOSPC) || got.Left != 1 || got.Removed != 0 || !w.hotThere() {
		t.Fatalf("%+v, %v", got, err)
	}
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if b := read(t, j); j.State() != Joined || !bytes.Equal(b, whole) {
		t.Errorf("after it failed there are %d bytes, state %d", len(b), j.State())
	}
	j.Close()
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	adopt(t, Adopted{Traces: 1, Chunks: 2, Removed: 1})
	if j, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if b := read(t, j); j.State() != None || !bytes.Equal(b, whole) {
		t.Errorf("at last there are %d bytes, state %d", len(b), j.State())
	}
}

// TestAdoptIsBounded: Adopt stops when more returns false, and continues at the next call.
func TestAdoptIsBounded(t *testing.T) {
	inDir(t)
	var all []*writer
	for i := range byte(5) {
		all = append(all, killed(t, func(h *format.Header) { h.ID[7] = i }))
	}
	for asks := range 12 {
		left := asks
		a, err := Adopt(func() bool { left--; return left >= 0 })
		if err != nil {
			t.Fatal(err)
		}
		if a.Chunks > asks {
			t.Errorf("asked %d times it wrote %d chunks", asks, a.Chunks)
		}
		for _, w := range all {
			want := None
			if w.hotThere() {
				want = Joined
			}
			j := joined(t, w, want)
			if b := read(t, j); len(b) != 5*chunk {
				t.Errorf("%d bytes", len(b))
			} else if s := stateIn(b); !s.Joined {
				t.Errorf("%+v", s)
			}
		}
	}
	Dir = filepath.Join(Dir, "none")
	if _, err := Adopt(always); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestDiscard(t *testing.T) {
	inDir(t)
	w := newWriter(t, 2, nil)
	Discard(w.head.ID, format.FileID{})
	if !w.hotThere() {
		t.Error("a living writer's is gone")
	}
	w.kill()
	Discard([16]byte{3}, format.FileID{})
	if !w.hotThere() {
		t.Error("another one's is gone")
	}
	Discard(w.head.ID, format.FileID{})
	if w.hotThere() {
		t.Error("it is there")
	}
}

// TestManySlots: a hot file with more slots than the first chunk has words for has its
// slots after a longer table. It is read and adopted like others.
func TestManySlots(t *testing.T) {
	inDir(t)
	w := newWriter(t, 20_000, nil)
	places := map[int64]int{1: 7167, 2: 7168, 3: 19_999}
	for place, slot := range places {
		w.attach(slot, place)
		w.put(place, filled(place, 'a'), 0)
	}
	check := func(j *File) {
		t.Helper()
		b := read(t, j)
		if len(b) != 4*chunk {
			t.Fatalf("%d bytes, want four chunks", len(b))
		}
		for place := range places {
			if !bytes.Equal(b[place*chunk:(place+1)*chunk], filled(place, 'a')) {
				t.Errorf("the chunk %d is another", place)
			}
		}
	}
	check(joined(t, w, Joined))
	w.kill()
	adopt(t, Adopted{Traces: 1, Chunks: 3, Removed: 1})
	check(joined(t, w, None))
}
