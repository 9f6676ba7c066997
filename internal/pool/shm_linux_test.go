package pool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// hotFile returns a hot file with so many slots in a directory, or, if dir is empty, in memory.
func hotFile(t *testing.T, dir string, slots uint32) *os.File {
	t.Helper()
	if dir == "" {
		fd, err := unix.MemfdCreate("hot", unix.MFD_CLOEXEC)
		if err != nil {
			t.Skip(err)
		}
		hot := os.NewFile(uintptr(fd), "hot")
		t.Cleanup(func() { hot.Close() })
		return hotHeader(t, hot, slots)
	}
	return hotHeader(t, createIn(t, dir, "hot"), slots)
}

func hotHeader(t *testing.T, hot *os.File, slots uint32) *os.File {
	t.Helper()
	b, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: slots, Path: "/x.scope"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hot.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	if err := hot.Truncate(format.HotSize(int(slots))); err != nil {
		t.Fatal(err)
	}
	return hot
}

func newShmPool(t *testing.T, o Options, dir string, slots uint32) (*Pool, *os.File) {
	t.Helper()
	if o.File == nil {
		o.File = newFile(t)
	}
	o.Hot, o.HotSlots = hotFile(t, dir, slots), slots
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if addresses.busy { // of a test that has not closed it
			_ = p.Close()
		}
	})
	return p, o.Hot
}

// TestWarmFirst checks that a slot with pages is taken before an earlier one without, so that no
// more memory is used, and none is zeroed again.
func TestWarmFirst(t *testing.T) {
	p, _ := newShmPool(t, Options{}, "", 512)
	s := p.back.(*shm)
	var taken []int64
	for range 300 {
		idx, why := p.Take()
		if why != 0 {
			t.Fatal(why)
		}
		taken = append(taken, idx)
	}
	// The first chunks that are released stay warm, up to maxWarm; these are taken again, so that
	// the next released ones are warm, behind those that were not.
	s.let(taken[0], 200)
	if n := s.warm.Load(); n != maxWarm {
		t.Fatalf("%d slots are warm, want %d", n, maxWarm)
	}
	if _, err := s.take(nil, maxWarm); err != nil {
		t.Fatal(err)
	}
	s.let(taken[200], 10)
	pages := s.pages.Load()
	slots, err := s.take(nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.pages.Load() != pages || s.warm.Load() != 0 || slots[0] < 200 {
		t.Errorf("slots from %d on are taken; %d have pages, of %d before; %d are warm", slots[0], s.pages.Load(), pages, s.warm.Load())
	}
	if slots, err = s.take(nil, 1); err != nil || s.pages.Load() != pages+1 {
		t.Errorf("with none warm: slot %v, %d have pages, of %d before, %v", slots, s.pages.Load(), pages, err)
	}
}

// joined reads the chunk whose place is at, as docs/format.md specifies for readers.
func joined(t *testing.T, hot *os.File, f io.ReaderAt, slots uint32, at int64) []byte {
	t.Helper()
	b := make([]byte, ChunkSize)
	table := make([]byte, 8*slots)
	if _, err := hot.ReadAt(table, format.HotTableOffset); err != nil {
		t.Fatal(err)
	}
	for i := range int(slots) {
		if binary.LittleEndian.Uint64(table[8*i:]) != uint64(at)+1 {
			continue
		}
		if _, err := hot.ReadAt(b, format.HotSlot(int(slots), i)); err != nil {
			t.Fatal(err)
		}
		var again [8]byte
		if _, err := hot.ReadAt(again[:], format.HotTableOffset+8*int64(i)); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(again[:], table[8*i:8*i+8]) {
			return b
		}
		break
	}
	clear(b)
	if _, err := f.ReadAt(b, at*ChunkSize); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return b
}

// TestShm writes chunks through: at any moment a chunk is whole in its slot, or in none and whole
// in the file; and released slots are zero in the hot file.
func TestShm(t *testing.T) {
	const slots = 256
	f := newFile(t)
	p, hot := newShmPool(t, Options{File: f}, "", slots)
	if p.Backing() != format.BackingShm || !p.Copies() || p.Heap() || p.Base() == 0 {
		t.Errorf("backing %v, copies %v, heap %v", p.Backing(), p.Copies(), p.Heap())
	}
	fill := func(idx int64) {
		w := p.Words(idx)
		for i := range w {
			atomic.StoreUint64(&w[i], uint64(idx)<<20|uint64(i)+1)
		}
		p.Advance(idx, Sealed)
	}
	check := func(idx int64) {
		t.Helper()
		b := joined(t, hot, f, slots, idx)
		for i := range len(b) / 8 {
			if got, want := binary.LittleEndian.Uint64(b[8*i:]), uint64(idx)<<20|uint64(i)+1; got != want {
				t.Fatalf("word %d of chunk %d is %#x, want %#x", i, idx, got, want)
			}
		}
	}
	for round := range int64(20) {
		var taken []int64
		for range 50 {
			idx, why := p.Take()
			if why != 0 {
				t.Fatalf("round %d: no chunk: %v", round, why)
			}
			for i, w := range p.Words(idx) {
				if w != 0 {
					t.Fatalf("chunk %d is handed out with %#x in word %d", idx, w, i)
				}
			}
			fill(idx)
			check(idx)
			taken = append(taken, idx)
		}
		if err := p.Drop(taken[0], taken[len(taken)-1]+1); err != nil {
			t.Fatal(err)
		}
		for idx := int64(1); idx <= taken[len(taken)-1]; idx++ {
			check(idx)
		}
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
	}
	s := p.back.(*shm)
	var table [8 * slots]byte
	if _, err := hot.ReadAt(table[:], format.HotTableOffset); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, ChunkSize)
	for i := range s.slots {
		inUse := binary.LittleEndian.Uint64(table[8*i:]) != 0
		if has := s.slots[i].Load(); inUse != (has > 0) {
			t.Errorf("slot %d: used %v by the table, has %d", i, inUse, has)
		}
		if _, err := hot.ReadAt(b, format.HotSlot(slots, i)); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if !inUse && !bytes.Equal(b, zeros[:]) {
			t.Errorf("slot %d holds nothing, and is not zero", i)
		}
	}
	if s.warm.Load() > maxWarm || s.lost.Load() != 0 {
		t.Errorf("%d warm, %d lost", s.warm.Load(), s.lost.Load())
	}
	// A late store does no harm.
	atomic.StoreUint64(&p.Words(3)[5], 77)
	check(3)
	if err := p.Save(0, 1, false); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if st, err := f.Stat(); err != nil || st.Size() != p.Bytes() {
		t.Errorf("the file has %v bytes, want %d: %v", st.Size(), p.Bytes(), err)
	}
}

// TestShmIsBounded checks that chunks that the file refuses stay in memory, up to the number of
// slots; then records are lost because of the window, and when the file accepts the chunks there is
// room again.
func TestShmIsBounded(t *testing.T) {
	const slots = 128
	p, _ := newShmPool(t, Options{}, "", slots)
	s := p.back.(*shm)
	f := s.to
	closed := newFile(t)
	closed.Close()
	s.to = file{closed, oneFile{closed}} // every write fails
	take := func() (all []int64) {
		for range 10 {
			got, why := takeAll(p)
			if all = append(all, got...); why == 0 {
				t.Fatal("no end")
			}
			_ = p.Extend()
		}
		return all
	}
	all := take()
	if int64(len(all)) != slots-1-keepForBlocks {
		t.Errorf("%d chunks of %d slots", len(all), slots)
	}
	if err := p.Drop(all[0], all[len(all)-1]+1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("settling into a file that is closed: %v", err)
	}
	if err := p.Extend(); !errors.Is(err, os.ErrClosed) || p.Full() != format.LossIO {
		t.Errorf("extending when nothing can be written: %v, %v", err, p.Full())
	}
	s.to = f
	if err := p.Drop(all[0], all[len(all)-1]+1); err != nil {
		t.Fatal(err)
	}
	if err := p.Extend(); err != nil || p.Full() != 0 {
		t.Errorf("extending when it can be written: %v, %v", err, p.Full())
	}
	if n := len(take()); n < minWindow-keepForBlocks {
		t.Errorf("%d chunks when there is room again", n)
	}
}

// TestShmFull checks that a full tmpfs is not counted as a full buffer: records that find no room
// are lost for space, until chunks are written out. A tmpfs too small to begin with is no backing.
func TestShmFull(t *testing.T) {
	dir := faultfs.Tmpfs(t, 8<<20).Dir
	p, hot := newShmPool(t, Options{}, dir, 2048)
	var all []int64
	for range 10 {
		got, _ := takeAll(p)
		all = append(all, got...)
		if err := p.Extend(); err != nil && !(errors.Is(err, errShm) && strings.Contains(err.Error(), hot.Name()+": ")) {
			t.Fatalf("with %d chunks: %v", len(all), err)
		}
	}
	_, why := p.Take()
	if n := len(all); n < 64 || n > 128 || p.Full() != format.LossSpace || why != format.LossSpace {
		t.Errorf("%d chunks of 8 MiB, %v, then lost by %v", n, p.Full(), why)
	}
	if err := p.Drop(all[0], all[len(all)-1]+1); err != nil {
		t.Fatal(err)
	}
	if err := p.Extend(); err != nil && !errors.Is(err, errShm) {
		t.Fatal(err)
	}
	if got, _ := takeAll(p); len(got) < 32 {
		t.Errorf("%d chunks when the others were written out", len(got))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(hot.Name()), hot.Close()); err != nil {
		t.Fatal(err)
	}
	filler := createIn(t, dir, "filler")
	if err := unix.Fallocate(int(filler.Fd()), 0, 0, (available(t, dir)-256<<10)&^4095); err != nil {
		t.Fatal(err)
	}
	o := Options{File: newFile(t), Hot: hotFile(t, dir, 2048), HotSlots: 2048}
	if _, err := New(o); !IsNoSpace(err) {
		t.Errorf("on a tmpfs with 256 KiB: %v", err)
	}
	if st, err := o.File.Stat(); err != nil || st.Size() != 0 || addresses.busy {
		t.Errorf("it is left with %d bytes, addresses busy %v: %v", st.Size(), addresses.busy, err)
	}
}

// TestShmRing checks that places of a ring are reused, by chunks in other slots.
func TestShmRing(t *testing.T) {
	f := newFile(t)
	const slots, ring = 512, 64
	p, hot := newShmPool(t, Options{File: f, Ring: RingOf(ring*ChunkSize, nil)}, "", slots)
	truth := map[int64]uint64{} // by place
	for n := uint64(1); n <= 5*ring; n++ {
		idx, why := p.Take()
		if why != 0 {
			t.Fatalf("no chunk %d: %v", n, why)
		}
		at, _ := p.Place(idx)
		truth[at] = n
		for i := range p.Words(idx) {
			atomic.StoreUint64(&p.Words(idx)[i], n)
		}
		p.Advance(idx, Sealed)
		p.Fresh(nil)
		if err := p.Drop(idx, idx+1); err != nil {
			t.Fatal(err)
		}
		p.Advance(idx, Gone)
		p.Retire(idx)
		if err := p.Extend(); err != nil {
			t.Fatal(err)
		}
	}
	same := 0
	for at, n := range truth {
		b := joined(t, hot, f, slots, at)
		if v := binary.LittleEndian.Uint64(b); v != 0 && v != n {
			t.Errorf("the place %d has %d, want %d", at, v, n)
		} else if v != 0 {
			same++
		}
	}
	if same < ring/2 {
		t.Errorf("%d places of %d have what was written last", same, ring)
	}
}

// TestBlocksAreThereFirst checks that what records refer to is in the file no later than the
// records, in chunks that are written whole and in those that are still being written.
func TestBlocksAreThereFirst(t *testing.T) {
	for _, ring := range []int64{0, 4 << 20} {
		for name, open := range map[string]func(o Options) *Pool{
			"heap": func(o Options) *Pool {
				o.Heap = true
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Close() })
				return p
			},
			"shm": func(o Options) *Pool { p, _ := newShmPool(t, o, "", 256); return p },
		} {
			f := newFile(t)
			p := open(Options{File: f, Ring: RingOf(ring, nil)})
			take := func(from func() (int64, format.Loss)) (idx, at int64, w []uint64) {
				t.Helper()
				idx, why := from()
				if why != 0 {
					t.Fatalf("%s: lost by %v", name, why)
				}
				at, _ = p.Place(idx)
				return idx, at, p.Words(idx)
			}
			_, names, nw := take(p.TakeKept)
			_, blocks, bw := take(p.TakeForBlocks)
			a, _, aw := take(p.Take)
			b, _, bbw := take(p.Take)
			for i, step := range []func() error{
				func() error { return p.Save(a, a+1, false) },
				func() error { return p.Save(b, b+1, false) },
				func() error { return p.Drop(a, a+1) },
				func() error { return p.Drop(b, b+1) },
			} {
				v := uint64(i + 1)
				for _, w := range [][]uint64{nw, bw} {
					atomic.StoreUint64(&w[0], 1)
					atomic.StoreUint64(&w[100], v)
				}
				for _, w := range [][]uint64{aw, bbw}[i%2:] {
					atomic.StoreUint64(&w[5], v)
				}
				if err := step(); err != nil {
					t.Fatal(err)
				}
				for _, at := range []int64{names, blocks} {
					var got [8]byte
					if _, err := f.ReadAt(got[:], at*ChunkSize+800); err != nil || binary.LittleEndian.Uint64(got[:]) != v {
						t.Errorf("%s, ring of %d: after step %d the blocks at %d have %d, %v", name, ring, i, at, got[0], err)
					}
				}
				if i == 2 {
					aw = bbw // its memory is gone
				}
			}
			_ = p.Close()
		}
	}
}
