//go:build linux

package hot

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

var someHeader = format.Header{
	Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: 42, Clock: format.ClockMonotonic,
	Path: format.PathGo, Backing: format.BackingShm, ID: [16]byte{0xab, 15: 1}, StartTicks: 100, TickRate: 1e9,
}

// writer stores as a recorder of the backing shm does.
type writer struct {
	t     testing.TB
	trace *os.File
	hot   *os.File
	head  format.Header
	slots []int64 // the place in each, plus 1
}

// inDir puts hot files into a directory of the test.
func inDir(t testing.TB) {
	was := Dir
	Dir = t.TempDir()
	t.Cleanup(func() { Dir = was })
}

// newWriter creates a trace, and its hot file with chunk 0 in it.
func newWriter(t testing.TB, slots int, change func(*format.Header)) *writer {
	t.Helper()
	w := &writer{t: t, head: someHeader, slots: make([]int64, slots)}
	if change != nil {
		change(&w.head)
	}
	var err error
	if w.trace, err = os.OpenFile(filepath.Join(t.TempDir(), "x.scope"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		t.Fatal(err)
	}
	if w.hot, err = os.OpenFile(filepath.Join(Dir, format.HotName(w.head.ID)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kill)
	w.lock(w.trace)
	w.lock(w.hot)
	b, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: uint32(slots), ID: w.head.ID, Path: w.trace.Name()})
	if err != nil {
		t.Fatal(err)
	}
	w.truncate(w.hot, format.HotSize(slots))
	w.write(w.hot, b, 0)
	o := Origin(w.trace, w.trace.Name())
	w.write(w.hot, o.Append(nil), format.HotOriginOffset)
	w.attach(0, 0)
	w.write(w.hot, format.AppendHeader(nil, &w.head), format.HotSlot(slots, 0))
	w.save(0)
	return w
}

func (w *writer) lock(f *os.File) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) write(f *os.File, b []byte, off int64) {
	if _, err := f.WriteAt(b, off); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) truncate(f *os.File, size int64) {
	if err := f.Truncate(size); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) word(slot int, v uint64) {
	w.write(w.hot, binary.LittleEndian.AppendUint64(nil, v), format.HotTableOffset+8*int64(slot))
}

// state stores a word of the state in chunk 0's slot.
func (w *writer) state(word int, v uint64) {
	w.write(w.hot, binary.LittleEndian.AppendUint64(nil, v), format.HotSlot(len(w.slots), w.slot(0))+format.StateOffset+int64(word))
}

func (w *writer) slot(place int64) int {
	for i, p := range w.slots {
		if p == place+1 {
			return i
		}
	}
	w.t.Fatalf("chunk %d is in no slot", place)
	return 0
}

// attach assigns the slot, which is zero, to the chunk at place.
func (w *writer) attach(slot int, place int64) {
	w.slots[slot] = place + 1
	w.word(slot, uint64(place)+1)
}

// put stores in a chunk that has a slot.
func (w *writer) put(place int64, b []byte, at int64) {
	w.write(w.hot, b, format.HotSlot(len(w.slots), w.slot(place))+at)
}

// save writes a chunk to the trace as it is.
func (w *writer) save(place int64) {
	b := make([]byte, chunk)
	if _, err := w.hot.ReadAt(b, format.HotSlot(len(w.slots), w.slot(place))); err != nil {
		w.t.Fatal(err)
	}
	if place == 0 {
		b = b[:format.ControlOffset]
	}
	w.write(w.trace, b, place*chunk)
}

// let removes a saved chunk from its slot.
func (w *writer) let(place int64) {
	i := w.slot(place)
	w.slots[i] = 0
	w.word(i, 0)
	w.write(w.hot, make([]byte, chunk), format.HotSlot(len(w.slots), i))
}

// stop closes the trace.
func (w *writer) stop() {
	w.state(format.StateClosed, 1)
	for _, p := range w.slots {
		if p > 1 {
			w.save(p - 1)
		}
	}
	w.save(0)
	w.kill()
	if err := os.Remove(w.hot.Name()); err != nil {
		w.t.Fatal(err)
	}
}

// kill leaves everything as it is.
func (w *writer) kill() {
	w.trace.Close()
	w.hot.Close()
}

// filled returns a chunk whose bytes identify it.
func filled(place int64, n byte) []byte {
	b := bytes.Repeat([]byte{byte(place), n}, chunk/2)
	h := format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathGo, Index: uint32(place), Since: 1000 + place, Gen: 1}
	format.PutChunkHeader(b, &h)
	return b
}

// joined opens the writer's trace.
func joined(t testing.TB, w *writer, want State) *File {
	t.Helper()
	j, err := Open(w.trace.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	if got := j.State(); got != want {
		t.Fatalf("the hot part's state is %d, want %d", got, want)
	}
	return j
}

func sizeOf(t testing.TB, j *File) int64 {
	t.Helper()
	n, err := j.Size()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// read reads all of j.
func read(t testing.TB, j *File) []byte {
	t.Helper()
	b := make([]byte, sizeOf(t, j))
	if n, err := j.ReadAt(b, 0); n != len(b) || err != nil {
		t.Fatalf("%d of %d bytes, %v", n, len(b), err)
	}
	return b
}

func stateIn(b []byte) format.State { return format.DecodeState(b[format.StateOffset:]) }

// want compares a chunk.
func want(t testing.TB, what string, b []byte, place int64, chunkWanted []byte) {
	t.Helper()
	if got := b[place*chunk:][:chunk]; !bytes.Equal(got, chunkWanted) {
		t.Errorf("%s: chunk %d begins with %x, want %x", what, place, got[:80], chunkWanted[:80])
	}
}

func crcOf(head []byte, path string) uint32 {
	return crc32.Checksum(append(bytes.Clone(head), path...), crc32.MakeTable(crc32.Castagnoli))
}

func pid() string { return strconv.Itoa(os.Getpid()) }

func (w *writer) fdNumber() string { return strconv.Itoa(int(w.trace.Fd())) }

// fd returns the path of the trace file by its descriptor.
func (w *writer) fd() string { return "/proc/self/fd/" + w.fdNumber() }
