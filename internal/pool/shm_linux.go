package pool

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// shm maps chunks of a file on tmpfs, the hot file, and copies them to the trace file. So no worker
// ever waits for a disk, nor for a frozen file system: the hot file's pages are memory
// without write-back. A kill leaves the hot file, and readers join it with the trace.
//
// A chunk lies in a slot, which the table in the hot file records: its entry is written when the
// slot is ready and before the chunk can be handed out, and cleared when the trace file has the
// whole chunk, before the slot is zeroed for the next. So at any moment a chunk is whole in its
// slot, or is in none and whole in the file.
type shm struct {
	file
	*mapped
	hot     *os.File
	max     int64         // largest number of slots
	allowed *atomic.Int64 // bytes of memory

	copying sync.Mutex // held while chunks are written; the fields below have no lock: a disk may take long
	copier
	begun []extent // held while chunks are written; the copier's own locks are not: a disk may take long

	// The slots. There is no lock, because goroutines that prepare chunks must not wait for each
	// other.
	slots []atomic.Int64 // by slot: the number of its chunk, plus 1, or one of the values below
	held  atomic.Int64   // slots that have a chunk, or are to get one
	warm  atomic.Int64   // slots that are slotWarm
	masks atomic.Int64   // slots of a place whose chunk was evicted
	lost  atomic.Int64
	pages atomic.Int64 // slots that have pages
}

// Values of a slot that holds no chunk.
const (
	slotCold = 0  // no pages
	slotWarm = -1 // pages that are zero
	slotBusy = -2 // it is being prepared
	slotLost = -3 // it could not be zeroed, and is not used again
	slotMask = -4 // less the place: its chunk was evicted, and the slot is for the next one there
)

// newShm returns the backing of the empty trace. hot has its header, and no slots yet.
func newShm(p *Pool, o *Options) (backing, error) {
	m, err := newMapped(p, o, true)
	if err != nil {
		return nil, err
	}
	s := &shm{file: p.file, mapped: m, hot: o.Hot, max: int64(o.HotSlots), allowed: &p.allowed, slots: make([]atomic.Int64, o.HotSlots)}
	s.copier = copier{to: p.file, memory: s.inSlot}
	s.erase = s.eraseIn(wipeIn)
	p.copies = &s.copier
	return s, nil
}

// spare counts the free slots, and those that tmpfs has room for: all but a twentieth, which others
// may need.
func (s *shm) spare() (int64, error) {
	avail, total, err := file{f: s.hot}.free()
	held := s.held.Load()
	n, why := s.short(s.max-s.lost.Load(), s.allowed.Load()/ChunkSize, held-s.masks.Load())
	if there := s.masks.Load() + s.warm.Load() + max(avail-total/20, 0)/ChunkSize; err == nil && there < n {
		if n = there; s.fail.Load() == nil {
			why = fmt.Errorf("%s: %d bytes are free: %w", s.hot.Name(), avail, errShm)
		}
	}
	return n, why
}

func (s *shm) memory() int64 { return s.pages.Load() * ChunkSize }

// grow does nothing: the file grows as it is written.
func (s *shm) grow(at, n int64) error { return nil }

// attach gives each of the n chunks from idx on a slot.
func (s *shm) attach(idx, at, n int64) error {
	if err := s.fits(idx + n); err != nil {
		return err
	}
	var buf [maxStep]int64
	slots, err := s.slotsFor(buf[:0], at, n)
	if err != nil {
		return err
	}
	for i := int64(0); i < n && err == nil; {
		j := i + 1
		for j < n && slots[j] == slots[j-1]+1 {
			j++
		}
		off, size := (idx+i)*ChunkSize, (j-i)*ChunkSize
		if err = s.r.Map(int(s.hot.Fd()), s.offset(int(slots[i])), off, size); err == nil {
			err = s.populate(off, size)
		}
		i = j
	}
	testpoint.Here("hot.mapped")
	for i, slot := range slots {
		s.slots[slot].Store(idx + int64(i) + 1)
		if err == nil {
			err = s.enter(slot, uint64(at)+uint64(i)+1)
		}
	}
	testpoint.Here("hot.named")
	if err != nil {
		s.let(idx, n)
		return fmt.Errorf("%s: %w", s.hot.Name(), err)
	}
	return nil
}

// slotsFor finds slots for n places from at on: those that the places have kept, and others.
func (s *shm) slotsFor(slots []int64, at, n int64) ([]int64, error) {
	if s.masks.Load() == 0 {
		return s.take(slots, n)
	}
	slots = append(slots, make([]int64, n)...)
	others := n
	for i := range slots {
		if slots[i] = s.unmask(at + int64(i)); slots[i] >= 0 {
			others--
		}
	}
	more, err := s.take(nil, others)
	for i, slot := range slots {
		switch {
		case err != nil && slot >= 0:
			s.masks.Add(1)
			s.slots[slot].Store(slotMask - at - int64(i))
		case err == nil && slot < 0:
			slots[i], more = more[0], more[1:]
		}
	}
	return slots, err
}

// unmask takes the slot that a place has kept, -1 if it has none.
func (s *shm) unmask(at int64) int64 {
	for slot := range s.slots {
		if s.slots[slot].Load() == slotMask-at {
			s.masks.Add(-1)
			s.slots[slot].Store(slotBusy)
			return int64(slot)
		}
	}
	return -1
}

// offset returns the offset of a slot in the hot file.
func (s *shm) offset(slot int) int64 { return format.HotSlot(len(s.slots), slot) }

// slotOf returns the slot of a chunk, -1 if it has none.
func (s *shm) slotOf(idx int64) int {
	for slot := range s.slots {
		if s.slots[slot].Load() == idx+1 {
			return slot
		}
	}
	return -1
}

// evict zeroes the chunk's slot, which stays assigned to its place. The chunk is not loaded any
// more: it has no place.
func (s *shm) evict(idx, at int64) {
	s.loading.Lock() // until it is not being loaded
	slot := s.slotOf(idx)
	s.loading.Unlock()
	if slot < 0 {
		return
	}
	s.evicted(idx, at)
	if !s.one || s.memory() > s.allowed.Load() {
		s.let(idx, 1)
		return
	}
	s.slots[slot].Store(slotBusy)
	is := slotMask - at
	err := s.mapped.detach(idx, 1)
	testpoint.Here("hot.unmapped")
	if err == nil {
		_, err = newfile.WriteAt(s.hot, zeros[:], s.offset(slot))
	}
	testpoint.Here("hot.zeroed")
	if err == nil {
		s.masks.Add(1)
	} else {
		_ = s.enter(int64(slot), 0)
		s.lost.Add(1)
		s.held.Add(-1)
		is = slotLost
	}
	s.slots[slot].Store(is)
}

// take finds n slots with zeroed pages: warm ones first, which cost a third of the others. It reads
// a slot before it claims it: a compare-and-swap that fails takes its cache line from the other
// processors, and most slots have chunks.
func (s *shm) take(slots []int64, n int64) ([]int64, error) {
	s.held.Add(n)
	var err error
	for _, coldToo := range [...]bool{false, true} {
		if !coldToo && s.warm.Load() <= 0 {
			continue
		}
		for slot := 0; slot < len(s.slots) && int64(len(slots)) < n && err == nil; slot++ {
			v := &s.slots[slot]
			is := v.Load()
			if is != slotWarm && (is != slotCold || !coldToo) || !v.CompareAndSwap(is, slotBusy) {
				continue
			}
			if is == slotWarm {
				s.warm.Add(-1)
			} else if err = s.heat(slot); err != nil {
				v.Store(slotCold)
				break
			}
			slots = append(slots, int64(slot))
		}
	}
	if int64(len(slots)) == n {
		return slots, nil
	}
	for _, slot := range slots {
		s.slots[slot].Store(slotWarm)
		s.warm.Add(1)
	}
	s.held.Add(-n)
	if err == nil {
		err = s.behind(s.held.Load())
	}
	return nil, err
}

// heat gives a slot its pages.
func (s *shm) heat(slot int) error {
	if err := retry(func() error { return unix.Fallocate(int(s.hot.Fd()), 0, s.offset(slot), ChunkSize) }); err != nil {
		return fmt.Errorf("allocating %d bytes in %s: %w", ChunkSize, s.hot.Name(), err)
	}
	s.pages.Add(1)
	return nil
}

// enter enters a slot into the hot file's table: v is one more than the place of its chunk in the
// file, or 0 for none.
func (s *shm) enter(slot int64, v uint64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	_, err := newfile.WriteAt(s.hot, b[:], format.HotTableOffset+8*slot)
	return err
}

// detach is for chunks that are in no slot any more: their addresses are detached already.
func (s *shm) detach(idx, n int64) error { return nil }

// let removes chunks from their slots. When a slot is zeroed, no chunk's address may lead to it any
// more: a late store would hit the next chunk.
func (s *shm) let(idx, n int64) {
	theirs := func(slot int) bool { v := s.slots[slot].Load(); return v > idx && v <= idx+n }
	ok := true
	for slot := range s.slots {
		if theirs(slot) {
			ok = s.enter(int64(slot), 0) == nil && ok
		}
	}
	testpoint.Here("hot.unnamed")
	ok = s.mapped.detach(idx, n) == nil && ok
	testpoint.Here("hot.unmapped")
	for slot := range s.slots {
		if !theirs(slot) {
			continue
		}
		is := int64(slotLost)
		if ok {
			is = s.zero(slot)
		}
		switch is {
		case slotLost:
			s.lost.Add(1)
		case slotWarm:
			s.warm.Add(1)
		}
		s.slots[slot].Store(is)
		s.held.Add(-1)
	}
}

// zero clears a slot for the next chunk, and returns its new value.
func (s *shm) zero(slot int) int64 {
	off := s.offset(slot)
	if s.warm.Load() < maxWarm && s.memory() <= s.allowed.Load() {
		if _, err := newfile.WriteAt(s.hot, zeros[:], off); err == nil {
			testpoint.Here("hot.zeroed")
			return slotWarm
		}
	}
	if retry(func() error {
		return unix.Fallocate(int(s.hot.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, ChunkSize)
	}) != nil {
		return slotLost
	}
	s.pages.Add(-1)
	return slotCold
}

// rearm does nothing: the pages have no write-back.
func (s *shm) rearm(idx, n int64) error { return nil }

func (s *shm) save(p extent, final bool) error {
	s.copying.Lock()
	defer s.copying.Unlock()
	return s.copy(p, final)
}

// inSlot returns the memory of a chunk that is in a slot: at other addresses there is nothing. It
// stays there while copying is held.
func (s *shm) inSlot(idx int64) []uint64 {
	if s.slotOf(idx) < 0 {
		return nil
	}
	return s.words(idx)
}

// drop writes chunks out and frees their slots. Then it waits until the previous ones are on the
// disk, and drops those from the page cache.
func (s *shm) drop(p extent) error {
	s.copying.Lock()
	defer s.copying.Unlock()
	if err := s.copy(p, true); err != nil {
		return err // the chunks stay in their slots, for the next attempt
	}
	s.let(p.idx, p.n)
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

// free does not count the room that waiting chunks need.
func (s *shm) free() (avail, total int64, err error) {
	avail, total, err = s.file.free()
	return avail - s.held.Load()*ChunkSize, total, err
}

func (s *shm) wipe(at, n int64) error { return s.copier.wipe(at, n) }

func (s *shm) close(size int64) error {
	err := s.release()
	if e := s.cut(size); err == nil {
		err = e
	}
	return err
}
