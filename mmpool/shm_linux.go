package mmpool

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// shm maps chunks of a file on tmpfs, the hot file, and copies them to the trace
// file. So no worker ever waits for a disk, nor for a file system that is frozen:
// its pages are memory that nobody writes back. A kill leaves the hot file, and
// readers join it with the trace.
//
// A chunk lies in a slot. The table in the hot file tells readers in which: it is
// entered when the slot is ready and before the chunk can be handed out, and taken
// out when the trace file has all of it, before the slot is zeroed for the next.
// So at any moment a chunk is whole in its slot, or is in none and whole in the
// file.
type shm struct {
	file
	*mapped
	hot *os.File
	max int64 // slots, at most

	copying sync.Mutex // held while chunks are written; what is below is not: a disk may keep us waiting
	copier
	begun []span // whose write-back has begun

	mu    sync.Mutex
	slots []int64         // the chunk in each, or one of the values below
	held  map[int64]int64 // the slot of each chunk
	warm  int             // how many are that
	lost  int64
	word  [8]byte // tell's
	taken []int64 // take's
}

// What a slot has that holds no chunk.
const (
	slotCold = -1 // no pages
	slotWarm = -2 // pages that are zero
	slotLost = -3 // what it had: it could not be zeroed, and is not used again
)

// maxWarm is how many slots keep their pages between two chunks. Others give them
// back: what a burst took is not held for ever.
const maxWarm = 8 << 20 / ChunkSize

// newShm makes the backing of the empty trace file f. hot has its header, and no
// slots yet.
func newShm(f *os.File, o *Options) (backing, *copier, error) {
	m, err := newMapped(f.Name(), o.Limit, true, o.States == nil)
	if err != nil {
		return nil, nil, err
	}
	s := &shm{file: file{f, o.Files}, mapped: m, hot: o.Hot, max: int64(o.HotSlots), held: map[int64]int64{}}
	s.copier = copier{to: s.file, memory: s.inSlot}
	return s, &s.copier, nil
}

func (s *shm) kind() format.Backing { return format.BackingShm }

// spare is what slots there are, and what tmpfs has for more: all but a twentieth,
// which others may need.
func (s *shm) spare() (int64, error) {
	avail, total, err := file{f: s.hot}.free()
	s.mu.Lock()
	defer s.mu.Unlock()
	held := int64(len(s.held))
	n := s.max - s.lost - held
	if err == nil {
		n = min(n, int64(s.warm)+max(avail-total/20, 0)/ChunkSize)
	}
	if n < 1 && held == 0 {
		return 0, fmt.Errorf("%s: %d bytes are free: %w", s.hot.Name(), avail, ErrNoSpace)
	}
	if n < 1 || s.fail.Load() != nil {
		return n, s.behind(held)
	}
	return n, nil
}

func (s *shm) extend(from, to int64) error { return s.attach(from, from, to-from) }

// grow does nothing: the file grows as it is written.
func (s *shm) grow(at, n int64) error { return nil }

// attach gives the n chunks from idx on a slot each.
func (s *shm) attach(idx, at, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if (idx+n)*ChunkSize > s.size {
		return fmt.Errorf("%s: %d bytes of addresses: %w", s.name, s.size, ErrNoSpace)
	}
	slots, err := s.take(int(n))
	if err != nil {
		return err
	}
	for i := int64(0); i < n && err == nil; {
		j := i + 1
		for j < n && slots[j] == slots[j-1]+1 {
			j++
		}
		off, size := (idx+i)*ChunkSize, (j-i)*ChunkSize
		if err = s.r.Map(int(s.hot.Fd()), format.HotSlot(int(slots[i])), off, size); err == nil {
			err = s.populate(off, size)
		}
		i = j
	}
	testpoint.Here("hot.mapped")
	for i, slot := range slots {
		s.slots[slot], s.held[idx+int64(i)] = idx+int64(i), slot
		if err == nil {
			err = s.tell(slot, uint64(at)+uint64(i)+1)
		}
	}
	testpoint.Here("hot.told")
	if err != nil {
		s.let(idx, n)
		return fmt.Errorf("%s: %w", s.hot.Name(), err)
	}
	return nil
}

// take finds n slots that have pages, and these zero.
func (s *shm) take(n int) (slots []int64, err error) {
	slots = s.taken[:0]
	defer func() { s.taken = slots }()
	for slot, is := range s.slots {
		if len(slots) < n && (is == slotWarm || is == slotCold) {
			slots = append(slots, int64(slot))
		}
	}
	for len(slots) < n {
		slots = append(slots, int64(len(s.slots)))
		s.slots = append(s.slots, slotCold)
	}
	for i := 0; i < n; {
		j := i + 1
		if s.slots[slots[i]] == slotCold {
			for j < n && slots[j] == slots[j-1]+1 && s.slots[slots[j]] == slotCold {
				j++
			}
			off, size := format.HotSlot(int(slots[i])), int64(j-i)*ChunkSize
			if err := retry(func() error { return unix.Fallocate(int(s.hot.Fd()), 0, off, size) }); err != nil {
				return slots[:0], fmt.Errorf("allocating %d bytes in %s: %w", size, s.hot.Name(), err)
			}
			for _, slot := range slots[i:j] {
				s.slots[slot] = slotWarm
			}
			s.warm += j - i
		}
		i = j
	}
	s.warm -= n
	return slots, nil
}

// tell enters a slot into the hot file's table: as that of the chunk whose place
// in the file is v-1, or, with 0, of none.
func (s *shm) tell(slot int64, v uint64) error {
	binary.LittleEndian.PutUint64(s.word[:], v)
	_, err := s.hot.WriteAt(s.word[:], format.HotTableOffset+8*slot)
	return err
}

// detach is for chunks that are in no slot any more: their addresses lead nowhere
// already.
func (s *shm) detach(idx, n int64) error { return nil }

// let takes chunks out of their slots. Nobody may find a slot at a chunk's address
// any more when it is zeroed: a late store would be in the next chunk.
func (s *shm) let(idx, n int64) {
	ok := true
	for i := range n {
		if slot, there := s.held[idx+i]; there {
			ok = s.tell(slot, 0) == nil && ok
		}
	}
	testpoint.Here("hot.untold")
	ok = s.mapped.detach(idx, n) == nil && ok
	testpoint.Here("hot.unmapped")
	for i := range n {
		slot, there := s.held[idx+i]
		if !there {
			continue
		}
		delete(s.held, idx+i)
		s.slots[slot] = slotLost
		s.lost++
		if !ok {
			continue
		}
		if s.warm < maxWarm {
			if _, err := s.hot.WriteAt(zeros[:], format.HotSlot(int(slot))); err == nil {
				testpoint.Here("hot.zeroed")
				s.slots[slot] = slotWarm
				s.warm++
				s.lost--
				continue
			}
		}
		if retry(func() error {
			return unix.Fallocate(int(s.hot.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, format.HotSlot(int(slot)), ChunkSize)
		}) == nil {
			s.slots[slot] = slotCold
			s.lost--
		}
	}
}

// rearm does nothing: nobody writes the pages back.
func (s *shm) rearm(from, to int64) error { return nil }

func (s *shm) save(p span, final bool) error {
	s.copying.Lock()
	defer s.copying.Unlock()
	return s.copy(p, final)
}

// inSlot is the memory of a chunk that is in a slot: nothing is at another one's
// addresses. It stays there while copying is held.
func (s *shm) inSlot(idx int64) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.held[idx]; !there {
		return nil
	}
	return s.words(idx)
}

// settle writes chunks out and lets go of their slots. Then it waits until what
// was written before is on the disk, and has the page cache let go of that.
func (s *shm) settle(p span) error {
	s.copying.Lock()
	defer s.copying.Unlock()
	if err := s.copy(p, true); err != nil {
		return err // the chunks stay where they are, for the next try
	}
	s.mu.Lock()
	s.let(p.idx, p.n)
	s.mu.Unlock()
	var err error
	for _, b := range s.begun {
		if e := s.written(b); err == nil {
			err = e
		}
	}
	s.begun = append(s.begun[:0], p)
	if e := s.writeBack(p, unix.SYNC_FILE_RANGE_WRITE); err == nil {
		err = e
	}
	return err
}

// free does not count what waits to be written as free.
func (s *shm) free() (avail, total int64, err error) {
	s.mu.Lock()
	n := int64(len(s.held))
	s.mu.Unlock()
	avail, total, err = s.file.free()
	return avail - n*ChunkSize, total, err
}

// wipe has the file say how much is overwritten before that is gone from it.
func (s *shm) wipe(at, n int64) error {
	if err := s.save(span{0, 0, 1}, false); err != nil {
		return err
	}
	return s.file.wipe(at, n)
}

func (s *shm) close(size int64) error {
	err := s.release()
	if e := s.cut(size); err == nil {
		err = e
	}
	return err
}
