//go:build linux

package hot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestJoin(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	j := joined(t, w, Joined)
	if n := sizeOf(t, j); n != chunk {
		t.Errorf("with chunk 0 the size is %d", n)
	}
	if j.Trace().Name() != w.trace.Name() || j.Name() != w.trace.Name() {
		t.Errorf("it is called %q", j.Name())
	}
	w.attach(1, 1)
	w.attach(2, 2)
	w.attach(3, 3)
	one, two, three := filled(1, 'a'), filled(2, 'a'), filled(3, 'a')
	w.put(1, one, 0)
	w.put(2, two, 0)
	w.put(3, three, 0)
	w.save(1)
	w.let(1)
	w.state(format.StateTick, 777)
	b := read(t, j)
	if len(b) != 4*chunk {
		t.Fatalf("the size is %d", len(b))
	}
	want(t, "written out", b, 1, one)
	want(t, "hot", b, 2, two)
	want(t, "hot", b, 3, three)
	if s := stateIn(b); s.Tick != 777 || !s.Joined || s.Closed {
		t.Errorf("the state is %+v", s)
	}
	if h, _, err := format.DecodeHeader(b); err != nil || h != w.head {
		t.Errorf("the header is %+v, %v", h, err)
	}
	// The slot is reused, and the following place is not handed out yet.
	w.attach(1, 4)
	b = read(t, j)
	if len(b) != 5*chunk {
		t.Fatalf("the size is %d", len(b))
	}
	want(t, "in the next slot", b, 1, one)
	want(t, "not handed out", b, 4, make([]byte, chunk))
}

// TestReadAt reads all kinds of parts.
func TestReadAt(t *testing.T) {
	inDir(t)
	w := newWriter(t, 8, nil)
	for place := range int64(5) {
		if place > 0 {
			w.attach(int(place), place)
			w.put(place, filled(place, 'x'), 0)
		}
	}
	w.save(2)
	w.let(2)
	// The control words are the trace file's; one has a request.
	w.write(w.trace, []byte("request"), format.ControlOffset)
	w.put(0, []byte("not this"), format.ControlOffset)
	w.write(w.trace, []byte{9}, format.CountersOffset-1)
	// The counters after them are the hot file's.
	w.write(w.trace, []byte{9}, format.CountersOffset)
	w.put(0, []byte{8}, format.CountersOffset)
	w.put(0, []byte{8}, chunk-1)
	j := joined(t, w, Joined)
	all := read(t, j)
	if got := all[format.ControlOffset:][:7]; string(got) != "request" || all[format.CountersOffset-1] != 9 {
		t.Errorf("the control words are %q, their last byte %d", got, all[format.CountersOffset-1])
	}
	if all[format.CountersOffset] != 8 || all[chunk-1] != 8 {
		t.Errorf("the counters begin with %d and end with %d", all[format.CountersOffset], all[chunk-1])
	}
	for _, off := range []int64{0, 1, 127, 128, 175, 176, 177, 183, 184, 190, 191, 192, 193, 2000, 4095, 4096, 4097, chunk - 1, chunk, chunk + 1, 3*chunk - 7, 5*chunk - 1, 5 * chunk, 5*chunk + 1, 1 << 50} {
		for _, n := range []int{0, 1, 7, 8, 63, 192, 193, 300, chunk - 1, chunk, chunk + 1, 3*chunk + 5} {
			var left []byte
			if off < int64(len(all)) {
				left = all[off:]
			}
			b := make([]byte, n)
			got, err := j.ReadAt(b, off)
			if got != min(n, len(left)) || !bytes.Equal(b[:got], left[:got]) {
				t.Errorf("%d bytes at %d: %d, which are others", n, off, got)
			}
			if short := got < n; short != (err == io.EOF) || err != nil && err != io.EOF {
				t.Errorf("%d bytes at %d: %d, %v", n, off, got, err)
			}
		}
	}
	if n, err := j.ReadAt(make([]byte, 8), -1); n != 0 || err == nil {
		t.Errorf("at -1: %d, %v", n, err)
	}
}

// TestStop: a reader that has the hot file open still sees that the trace is closed.
func TestStop(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	w.attach(1, 1)
	j := joined(t, w, Joined)
	w.put(1, filled(1, 'a'), 0)
	reading := joined(t, w, Joined)
	w.stop()
	// By reading, and by Size first.
	head := make([]byte, format.ControlOffset)
	if _, err := reading.ReadAt(head, 0); err != nil || !stateIn(head).Closed || stateIn(head).Joined || reading.State() != None {
		t.Errorf("the state is %+v, %d, %v", stateIn(head), reading.State(), err)
	}
	b := read(t, j)
	want(t, "stopped", b, 1, filled(1, 'a'))
	if s := stateIn(b); !s.Closed || s.Joined || j.State() != None {
		t.Errorf("the state is %+v, %d", s, j.State())
	}
	again := joined(t, w, None)
	if !bytes.Equal(b, read(t, again)) {
		t.Error("opened again it is another")
	}
}

func TestMissing(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	name := w.hot.Name()
	away := name + ".away"
	if err := os.Rename(name, away); err != nil {
		t.Fatal(err)
	}
	j := joined(t, w, Missing)
	if b := read(t, j); stateIn(b).Joined || len(b) != format.ControlOffset {
		t.Errorf("%d bytes, %+v", len(b), stateIn(b))
	}
	// The hot file appears: the trace had its header before there was one.
	if err := os.Rename(away, name); err != nil {
		t.Fatal(err)
	}
	if n := sizeOf(t, j); n != chunk || j.State() != Joined {
		t.Errorf("the size is %d, the state %d", n, j.State())
	}
	// The hot file does not appear.
	if err := os.Rename(name, away); err != nil {
		t.Fatal(err)
	}
	j = joined(t, w, Missing)
	if err := os.Rename(away, name); err != nil {
		t.Fatal(err)
	}
	w.stop()
	if s := stateIn(read(t, j)); !s.Closed || j.State() != None {
		t.Errorf("after Stop it is %d, %+v", j.State(), s)
	}
}

// TestBornLater: a file that gets its header after it was opened.
func TestBornLater(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	w.truncate(w.trace, 0)
	j := joined(t, w, None)
	if n := sizeOf(t, j); n != 0 {
		t.Errorf("the size is %d", n)
	}
	w.truncate(w.trace, 4*chunk)
	if n := sizeOf(t, j); n != 4*chunk || j.State() != None {
		t.Errorf("of zeros the size is %d, the state %d", n, j.State())
	}
	w.truncate(w.trace, 0)
	w.save(0)
	if n := sizeOf(t, j); n != chunk || j.State() != Joined {
		t.Errorf("the size is %d, the state %d", n, j.State())
	}
}

// TestPlain: a trace that needs no hot part is read without the hot file of that name.
func TestPlain(t *testing.T) {
	inDir(t)
	for name, change := range map[string]func(w *writer){
		"disk":       func(w *writer) { w.head.Backing = format.BackingDisk; w.rewrite() },
		"chunk size": func(w *writer) { w.head.ChunkSize = 4096; w.rewrite() },
		"closed":     func(w *writer) { w.write(w.trace, []byte{1}, format.StateOffset+format.StateClosed) },
		"joined":     func(w *writer) { w.write(w.trace, []byte{1}, format.StateOffset+format.StateJoined) },
		"broken":     func(w *writer) { w.write(w.trace, []byte{0xff}, 40) },
		"other":      func(w *writer) { w.write(w.trace, []byte("#!/bin/sh\n"), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, 2, func(h *format.Header) { h.ID[3] = name[0]; h.ID[4] = name[1] })
			w.attach(1, 1)
			change(w)
			j := joined(t, w, None)
			want, err := os.ReadFile(w.trace.Name())
			if b := read(t, j); err != nil || !bytes.Equal(b, want) {
				t.Errorf("%d bytes, want the file's %d, %v", len(b), len(want), err)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if _, err := Open(filepath.Join(Dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("no regular file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.scope")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, format.ErrNotTrace) {
			t.Error(err)
		}
	})
}

// rewrite writes the trace's header anew.
func (w *writer) rewrite() { w.write(w.trace, format.AppendHeader(nil, &w.head), 0) }

// TestForged: files under the hot file's name that are not the trace's.
func TestForged(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, w *writer){
		"a link": func(t *testing.T, w *writer) {
			if errors.Join(os.Rename(w.hot.Name(), w.hot.Name()+"x"), os.Symlink(w.hot.Name()+"x", w.hot.Name())) != nil {
				t.Fatal("no links here")
			}
		},
		"a pipe": func(t *testing.T, w *writer) {
			if err := errors.Join(os.Remove(w.hot.Name()), syscall.Mkfifo(w.hot.Name(), 0o600)); err != nil {
				t.Fatal(err)
			}
		},
		"a directory": func(t *testing.T, w *writer) {
			if err := errors.Join(os.Remove(w.hot.Name()), os.Mkdir(w.hot.Name(), 0o700)); err != nil {
				t.Fatal(err)
			}
		},
		"another user's": func(t *testing.T, w *writer) {
			if err := os.Chown(w.hot.Name(), 12345, -1); err != nil {
				t.Skip("needs root: ", err)
			}
		},
		"another trace's": func(t *testing.T, w *writer) { w.write(w.hot, []byte{1}, 20); w.sign() },
		"no header":       func(t *testing.T, w *writer) { w.write(w.hot, make([]byte, 64), 0) },
		"many slots":      func(t *testing.T, w *writer) { w.write(w.hot, []byte{0xff, 0xff, 0xff, 0x7f}, 12); w.sign() },
		"cut off":         func(t *testing.T, w *writer) { w.truncate(w.hot, format.HotSize(2)-1) },
		"empty":           func(t *testing.T, w *writer) { w.truncate(w.hot, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			inDir(t)
			w := newWriter(t, 2, nil)
			w.attach(1, 1)
			w.put(1, filled(1, 'a'), 0)
			change(t, w)
			j := joined(t, w, Missing)
			if b := read(t, j); len(b) != format.ControlOffset || stateIn(b).Joined {
				t.Errorf("%d bytes, %+v", len(b), stateIn(b))
			}
		})
	}
}

// sign corrects the hot header's checksum.
func (w *writer) sign() {
	path := w.trace.Name()
	b := make([]byte, 64)
	if _, err := w.hot.ReadAt(b, 0); err != nil {
		w.t.Fatal(err)
	}
	h := format.HotHeader{Slots: 1, Path: path}
	copy(h.ID[:], b[16:32])
	good, err := format.AppendHotHeader(nil, &h)
	if err != nil {
		w.t.Fatal(err)
	}
	copy(good[:60], b[:60])
	binary.LittleEndian.PutUint32(good[60:], crcOf(good[:60], path))
	w.write(w.hot, good, 0)
}

// TestAbsurdPlaces: invalid words in the table.
func TestAbsurdPlaces(t *testing.T) {
	inDir(t)
	w := newWriter(t, 8, nil)
	for i, place := range []int64{1, 1 << 60, 1 << 40, 9, 8, 1, 0} {
		w.attach(i+1, place)
		w.write(w.hot, filled(place, byte('a'+i)), format.HotSlot(len(w.slots), i+1))
	}
	w.word(2, 1<<64-1)
	// The trace file has a part of one chunk, so there can be 8 more.
	j := joined(t, w, Joined)
	b := read(t, j)
	if len(b) != 9*chunk {
		t.Fatalf("the size is %d chunks, want that of places below 9", len(b)/chunk)
	}
	want(t, "the first of two", b, 1, filled(1, 'a'))
	want(t, "the last that can be", b, 8, filled(8, 'e'))
	want(t, "in between", b, 3, make([]byte, chunk))
	if h, _, err := format.DecodeHeader(b); err != nil || h != w.head {
		t.Errorf("the header is %+v, %v", h, err)
	}
	if n, err := j.ReadAt(make([]byte, 100), 1<<40*chunk); n != 0 || err != io.EOF {
		t.Errorf("far behind: %d bytes, %v", n, err)
	}
	// Written chunks allow further places.
	w.truncate(w.trace, 2*chunk)
	if n := sizeOf(t, j); n != 10*chunk {
		t.Errorf("the size is %d chunks", n/chunk)
	}
}

// TestCopies: a copy of the trace is not joined with its hot file.
func TestCopies(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	w.attach(1, 1)
	w.put(1, filled(1, 'a'), 0)
	b := filetest.Read(t, w.trace.Name())
	copied := filepath.Join(t.TempDir(), "copy.scope")
	filetest.Write(t, copied, b)
	state := func(path string, want State) {
		t.Helper()
		j, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if j.State() != want {
			t.Errorf("%s: the state is %d, want %d", path, j.State(), want)
		}
	}
	state(copied, Missing)
	// A renamed trace is still the trace, while its writer is alive and later.
	renamed := filepath.Join(filepath.Dir(w.trace.Name()), "renamed.scope")
	if err := os.Rename(w.trace.Name(), renamed); err != nil {
		t.Fatal(err)
	}
	state(renamed, Joined)
	state(copied, Missing)
	if !held(t, renamed) || !held(t, w.hot.Name()) {
		t.Error("a lock was given away")
	}
	// Another trace has the name now.
	filetest.Write(t, w.trace.Name(), format.AppendHeader(nil, &format.Header{Major: 1, ChunkSize: 4096, StartTicks: 1, TickRate: 1, ID: [16]byte{7}}))
	state(renamed, Joined)
	w.kill()
	state(renamed, Joined)
	// It is unknown whether a copy was made before the writer was killed, or later.
	w = newWriter(t, 4, func(h *format.Header) { h.ID[1] = 8 })
	w.kill()
	filetest.Write(t, copied, filetest.Read(t, w.trace.Name()))
	state(copied, Missing)
	state(w.trace.Name(), Joined)
	// The writer's own file, by its own descriptor.
	w = newWriter(t, 4, func(h *format.Header) { h.ID[1] = 9 })
	if err := os.Remove(w.trace.Name()); err != nil {
		t.Fatal(err)
	}
	j, err := Join(w.trace)
	if err != nil || j.State() != Joined {
		t.Fatalf("deleted it is %v, %v", j, err)
	}
	if g, err := os.Open(w.fd()); err != nil || syscall.Flock(int(g.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != syscall.EWOULDBLOCK {
		t.Error("the writer's lock was given away: ", err)
	}
}

// held reports whether a process has the lock.
func held(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}

// TestThroughProc: a trace that is found through the files of its process is joined
// with the hot file in that process's /dev/shm.
func TestThroughProc(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	for _, root := range []string{"/proc/" + pid() + "/root" + w.trace.Name(), "/proc/" + pid() + "/fd/" + w.fdNumber()} {
		if got := roots(root); len(got) != 2 || got[1] != "/proc/"+pid()+"/root" {
			t.Errorf("the roots of %s are %q", root, got)
		}
	}
	for _, path := range []string{"/a/x", "/proc/self/fd/1", "/proc/x1" + "/root" + "/x", "/proc", "/proc/12", "relative"} {
		if got := roots(path); len(got) != 1 {
			t.Errorf("the roots of %s are %q", path, got)
		}
	}
	for _, root := range []string{"", "/proc/" + pid() + "/root"} { // here both lead to the same
		p, path := openPart(root+w.hot.Name(), w.head.ID, int64(os.Getuid()))
		if p == nil || path != w.trace.Name() {
			t.Errorf("through %q: %v, %q", root, p, path)
		}
		p.file.Close()
	}
}

// TestG25HotFile: a hot file that is truncated while it is read is an error, and not a
// shorter trace.
func TestG25HotFile(t *testing.T) {
	inDir(t)
	w := newWriter(t, 4, nil)
	w.attach(3, 1)
	w.put(1, filled(1, 'a'), 0)
	n := 0
	for _, size := range []int64{format.HotSlot(4, 3) + 5000, format.HotSlot(4, 3), format.HotTableOffset + 8, 100, 0} {
		w.truncate(w.hot, format.HotSize(4))
		b, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: 4, ID: w.head.ID, Path: w.trace.Name()})
		if err != nil {
			t.Fatal(err)
		}
		w.write(w.hot, b, 0)
		w.word(3, 2)
		j := joined(t, w, Joined)
		w.truncate(w.hot, size)
		if n, err := j.ReadAt(make([]byte, chunk), chunk); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off at %d: %d bytes, %v", size, n, err)
		}
		if _, err := j.Size(); size < format.HotSlot(4, 0) != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off at %d the size is: %v", size, err)
		}
		n++
	}
	t.Logf("G25: a hot file that is cut off while it is read: %d errors, 0 crashes", n)
}

// TestG19HotFile: readers of a trace that is being written see each chunk as it was at
// some moment, never a mixture of two chunks, and never an older state than before.
func TestG19HotFile(t *testing.T) {
	inDir(t)
	const slots, places = 6, 600
	w := newWriter(t, slots, nil)
	var stop atomic.Bool
	var reads atomic.Int64
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			j, err := Open(w.trace.Name())
			if err != nil {
				t.Error(err)
				return
			}
			defer j.Close()
			seen := make([]byte, places+2) // how far each chunk was filled
			b := make([]byte, chunk)
			last := int64(0)
			for done := false; !done; {
				done = stop.Load()
				st, err := j.Stat()
				if err != nil || st.Size() < last {
					t.Errorf("the size is %d after %d, %v", st.Size(), last, err)
					return
				}
				last = st.Size()
				for place := max(1, last/chunk-2*slots); place < last/chunk; place++ {
					if n, err := j.ReadAt(b, place*chunk); n < len(b) {
						t.Errorf("chunk %d: %d bytes, %v", place, n, err)
						return
					}
					if !checkFilled(t, b, place, seen) {
						return
					}
					reads.Add(1)
				}
			}
		})
	}
	live := []int64{}
	for place := int64(1); place <= places; place++ {
		if len(live) == slots-1 {
			out := live[0]
			live = live[1:]
			w.save(out)
			w.let(out)
		}
		free := 1
		for w.slots[free] != 0 {
			free++
		}
		w.attach(free, place)
		live = append(live, place)
		for n := byte(1); n <= 4; n++ { // the chunk grows, and is saved in between
			w.put(place, grown(place, n), 0)
			if n == 2 {
				w.save(place)
			}
		}
	}
	w.stop()
	stop.Store(true)
	readers.Wait()
	j := joined(t, w, None)
	b := read(t, j)
	seen := make([]byte, places+2)
	for place := int64(1); place <= places; place++ {
		checkFilled(t, b[place*chunk:][:chunk], place, seen)
		if seen[place] != 4 {
			t.Errorf("at the end chunk %d is at step %d", place, seen[place])
		}
	}
	t.Logf("G19: of %d readings of chunks in memory and behind, while %d were written, none has two chunks, or less than before", reads.Load(), places)
}

// grown returns a chunk at its step n: n quarters are filled.
func grown(place int64, n byte) []byte {
	b := make([]byte, int(n)*chunk/4)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(place)<<8|1)
	}
	return b
}

// checkFilled checks that a chunk has its own words and no others, and is filled from
// its beginning at least as far as before. There may be more after that, since a read
// is not atomic.
func checkFilled(t *testing.T, b []byte, place int64, seen []byte) bool {
	full := len(b)
	for i := 0; i < len(b); i += 8 {
		switch v := binary.LittleEndian.Uint64(b[i:]); {
		case v == uint64(place)<<8|1:
		case v == 0:
			full = min(full, i)
		default:
			t.Errorf("chunk %d has %#x at %d, and ends at %d", place, v, i, full)
			return false
		}
	}
	n := byte(full / (chunk / 4))
	if n < seen[place] {
		t.Errorf("chunk %d is at step %d after %d", place, n, seen[place])
		return false
	}
	seen[place] = n
	return true
}

func FuzzJoin(f *testing.F) {
	good, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: 3, ID: someHeader.ID, Path: "/x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}, []byte{1})
	f.Add(good, bytes.Repeat([]byte{0xff}, 24), []byte{})
	f.Add([]byte("SCOPEHOT"), []byte{}, []byte{})
	inDir(f)
	f.Fuzz(func(t *testing.T, head, table, state []byte) {
		dir := t.TempDir()
		trace := append(format.AppendHeader(nil, &someHeader), make([]byte, format.ControlOffset-format.HeaderSize-4)...)
		copy(trace[format.StateOffset:], state[:min(len(state), format.StateSize)])
		path, hot := filepath.Join(dir, "x.scope"), filepath.Join(Dir, format.HotName(someHeader.ID))
		b := make([]byte, format.HotSize(3))
		copy(b, head)
		copy(b[format.HotTableOffset:format.HotSlot(3, 0)], table)
		if err := errors.Join(os.WriteFile(path, trace, 0o600), os.WriteFile(hot, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		size := sizeOf(t, j)
		if size > 5*chunk { // one chunk in the trace file, and 3 slots
			t.Errorf("the size is %d", size)
		}
		if n, err := j.ReadAt(make([]byte, size+1), 0); int64(n) != size || err != io.EOF {
			t.Errorf("%d of %d bytes, %v", n, size, err)
		}
	})
}
