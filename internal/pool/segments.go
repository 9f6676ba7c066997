package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// Files hold a ring's chunks that do not lie in the pool's own file: New creates them, and only
// programs that call NewSegments contain their code.
type Files interface {
	files
	// sizes returns the largest number of parts, the chunks of each, and the number of parts while
	// none is held.
	sizes() (parts, chunks, most int64)
	create(place int64, count func() error) (*os.File, error)
	// over wraps made, a ring. Its type is reuse: if it were *ring, every program with an Options
	// would contain all methods of ring, some 60 kB.
	over(made reuse) reuse
}

// segments are a ring's places in files of equal size, reused file by file: the oldest one is
// deleted and a new one created. A file whose chunks are all written out never changes any more, so
// it can be copied away.
//
// Where chunks wait in memory for the disk, a segment exists before its file: the goroutine that
// writes its first chunk out creates the file, and deletes the one that it replaces. So recording
// goes on while the disk creates no file.
//
// The ring's places are parts × chunks. A file takes any free part, which its header names: a file
// with a chunk that is still open, because its owner is idle, stays, and the next oldest is deleted
// in its place. There are more than most files only if none can be deleted. The pool's own file has
// chunk 0, and behind it the kept chunks, whose places follow those of the ring.
type segments struct {
	*ring
	base    *os.File
	path    string // of base, absolute
	id      [16]byte
	chunks  int64
	most    int64
	onCount func(files int) // called with the number of files; before one is deleted, after one is created

	mu     sync.Mutex
	live   []*segment // the oldest first
	doomed []*segment // to be deleted
	parts  []*segment
	files  int        // how many there are
	next   uint32     // number of the next file
	stale  []*os.File // files of segments that were deleted before they were closed

	burying sync.Mutex // held while files are deleted

	late    func(error) // called when the disk was so late that records were lost
	slow    bool        // the reason is set to that of a late disk
	refused error       // why the disk refused a chunk when a segment was last deleted for that
	credit  int64       // places that were freed, and need no room that others could want
}

// segment is one file, or a future one.
type segment struct {
	part int64
	lot  int // lot of its chunks

	// Under segments.mu.
	number uint32
	path   string
	made   os.FileInfo // nil: it has no file yet
	f      *os.File    // nil: closed

	used    int64 // places prepared; only the preparing goroutine uses it
	counted bool  // counted as overwritten; under segments.burying
}

// HeldMost is the number of files that there can be beyond those wanted, each held by a chunk that
// is open, with an idle owner (a P, a stripe, or the writer of blocks), or that waits to be written
// out.
const HeldMost = 16

// namesTried is the number of names in a row that others may have taken.
const namesTried = 64

// NewSegments returns the files of a recording into base, of that many bytes each, header included,
// and at most most of them while none is held. path is base's, absolute: segments lie beside it.
// onCount is called with the number of files after one is created and before one is deleted, late when
// the disk took so long for one that records were lost.
func NewSegments(base *os.File, path string, id [16]byte, bytes int64, most int, onCount func(files int), late func(error)) Files {
	s := &segments{base: base, path: path, id: id, chunks: bytes/ChunkSize - 1, most: int64(most), onCount: onCount, late: late, next: 1}
	// There must be twice as many numbers as places.
	parts := min(s.most+HeldMost, format.RingNumbers/4/s.chunks)
	s.parts = make([]*segment, parts)
	return s
}

func (s *segments) sizes() (parts, chunks, most int64) {
	return int64(len(s.parts)), s.chunks, s.most
}

func (s *segments) over(made reuse) reuse {
	r := made.(*ring)
	r.p.parts, s.ring = len(s.parts), r
	for part := range s.parts {
		r.lots = append(r.lots, lot{at: 1 + int64(part)*s.chunks})
	}
	return s
}

// last returns the last place of the parts: behind it are those of the pool's own file.
func (s *segments) last() int64 { return int64(len(s.parts)) * s.chunks }

func (s *segments) at(place int64) (f *os.File, off int64) {
	behind := s.last()
	switch {
	case place == 0:
		return s.base, 0
	case place > behind:
		return s.base, (place - behind) * ChunkSize
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg := s.parts[(place-1)/s.chunks]; seg != nil {
		f = seg.f
	}
	return f, (1 + (place-1)%s.chunks) * ChunkSize
}

// create creates the file of a place that has none yet. count updates the trace's count of
// overwritten chunks.
func (s *segments) create(place int64, writeCounts func() error) (*os.File, error) {
	var seg *segment
	s.mu.Lock()
	if place > 0 && place <= s.last() {
		seg = s.parts[(place-1)/s.chunks]
	}
	there := seg == nil || seg.made != nil
	s.mu.Unlock()
	if there {
		return nil, errNoFile
	}
	if s.burying.TryLock() { // else another goroutine deletes them, and may wait for this one
		err := s.deleteDropped(writeCounts)
		s.burying.Unlock()
		if err != nil {
			return nil, err
		}
	}
	err := s.open(seg)
	return seg.f, err
}

// holds reports whether a chunk lies in none of the two newest files: the newest may still be
// empty.
func (s *segments) holds(idx int64) bool {
	place := s.placeOf(idx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if place < 1 || place > s.last() || len(s.live) <= 2 {
		return false
	}
	part := (place - 1) / s.chunks
	for _, seg := range s.live[len(s.live)-2:] {
		if seg.part == part {
			return false
		}
	}
	return true
}

func (s *segments) inTheWay(open []int64) []int64 {
	if !s.held {
		return nil
	}
	return slices.DeleteFunc(open, func(idx int64) bool { return !s.holds(idx) })
}

func (s *segments) extents(from, to int64) []extent { return s.extentsIn(from, to, s.chunks) }

func (s *segments) reserved() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(1)
	for _, seg := range append(s.doomed[:len(s.doomed):len(s.doomed)], s.live...) {
		n += seg.used
	}
	return n
}

// relieve deletes files if the disk is full: with room again it accepts what waits in memory. That
// is done once for each refusal.
func (s *segments) relieve(err error) error {
	why := errors.Unwrap(err)
	if why == nil || why == s.refused {
		return nil
	}
	s.refused = why
	for freed := int64(0); freed < s.p.window; freed += s.chunks {
		if dropped, err := s.makeRoom(err); err != nil || !dropped {
			return err
		}
	}
	return nil
}

// extend prepares places of the newest file; where the disk is full it deletes the oldest one.
func (s *segments) extend(from, n int64) (int64, error) {
	if s.busy(from) {
		s.skipNumbers(from)
		return 1, nil
	}
	n = s.step(from, n)
	for {
		seg, err := s.current()
		if err == nil && seg == nil {
			return 0, nil // all are held: the window is not extended before one is released
		}
		if err == nil {
			n = min(n, s.chunks-seg.used)
			if err = s.enlarge(seg, from, n); err == nil {
				return n, nil
			}
		}
		if dropped, e := s.makeRoom(err); e != nil {
			return 0, e
		} else if !dropped {
			return 0, err
		}
	}
}

// makeRoom deletes the oldest file if err means that the disk is full.
func (s *segments) makeRoom(err error) (dropped bool, e error) {
	if errors.Is(err, errBehind) || errors.Is(err, errShm) || !IsNoSpace(err) {
		return false, nil
	}
	s.mu.Lock()
	doomed := len(s.doomed)
	s.mu.Unlock()
	if doomed == 0 && !s.drop() {
		return false, nil
	}
	return true, s.atDisk(s.buryNow)
}

// enlarge prepares n more places of the segment, for the chunks from end on.
func (s *segments) enlarge(seg *segment, end, n int64) error {
	at := 1 + seg.part*s.chunks + seg.used
	if s.credit < n {
		if err := s.p.room((n - s.credit) * ChunkSize); err != nil {
			return err
		}
	}
	if err := s.atDisk(func() error { return s.p.back.grow(at, n) }); err != nil {
		return err
	}
	s.credit = max(s.credit-n, 0)
	testpoint.Here("pool.grown")
	if err := s.p.back.attach(s.number(end), at, n); err != nil {
		return err
	}
	testpoint.Here("pool.attached")
	seg.used += n
	s.ring.mu.Lock()
	s.enter(seg.lot, end, at, n)
	s.ring.mu.Unlock()
	testpoint.Here("pool.ready")
	return nil
}

// current returns the newest file with places left. If there is none it creates one, and deletes
// the oldest for it; nil: none can be deleted.
func (s *segments) current() (*segment, error) {
	if n := len(s.live); n > 0 && s.live[n-1].used < s.chunks {
		return s.live[n-1], nil
	}
	for int64(len(s.live)) >= s.most && s.drop() {
	}
	// Mapped chunks need their file at once, and Start must report that none can be created.
	now := !s.p.Copies() || len(s.live) == 0
	if now {
		if err := s.atDisk(s.buryNow); err != nil {
			return nil, err
		}
	}
	// Before none are left for other chunks.
	if len(s.live) >= (int(s.most)+len(s.parts))/2 {
		s.held = true
	}
	s.mu.Lock()
	part, newest := slices.Index(s.parts, nil), s.live[max(len(s.live)-1, 0):]
	waits := len(newest) > 0 && newest[0].made == nil
	s.mu.Unlock()
	if part < 0 && waits { // until the disk creates files
		return nil, errBehind
	}
	if part < 0 {
		return nil, nil
	}
	seg := &segment{part: int64(part), lot: 1 + part}
	if now {
		if err := s.atDisk(func() error { return s.open(seg) }); err != nil {
			return nil, err
		}
	}
	s.ring.mu.Lock()
	s.lots[seg.lot].left = s.chunks // places that are not prepared yet hold it too
	s.unname(s.lots[seg.lot].at, s.chunks)
	s.ring.mu.Unlock()
	s.mu.Lock()
	s.live = append(s.live, seg)
	s.parts[part] = seg
	s.mu.Unlock()
	return seg, nil
}

// open creates the segment's file. It skips names that are taken.
func (s *segments) open(seg *segment) error {
	var path string
	for range namesTried {
		number := s.next
		path = format.SegmentName(s.path, number)
		f, err := newfile.Create(path)
		if errors.Is(err, fs.ErrExist) {
			s.next++
			continue
		}
		if err != nil {
			return err
		}
		b := format.AppendSegmentHeader(nil, &format.SegmentHeader{Number: number, ID: s.id, Part: uint32(seg.part), Chunks: uint32(s.chunks)})
		made, err := f.Stat()
		if err == nil {
			if err = newfile.Truncate(f, ChunkSize); err != nil { // a seccomp filter may refuse it
				_, err = newfile.WriteAt(f, zeros[:1], ChunkSize-1)
			}
			if err == nil {
				_, err = newfile.WriteAt(f, b, 0)
			}
		}
		if err != nil {
			f.Close()
			os.Remove(path)
			return err
		}
		s.next++
		testpoint.Here("segment.made")
		s.mu.Lock()
		seg.number, seg.path, seg.made, seg.f = number, path, made, f
		s.mu.Unlock()
		s.count(1)
		return nil
	}
	return fmt.Errorf("%s: %w", path, fs.ErrExist)
}

// drop gives up the oldest segment, except the newest, that has nothing in memory any more, and
// reports whether there is one. Its file exists until bury deletes it.
func (s *segments) drop() bool {
	for i, seg := range s.live[:max(len(s.live)-1, 0)] {
		s.ring.mu.Lock()
		left := s.lots[seg.lot].left
		s.ring.mu.Unlock()
		if left > 0 {
			continue
		}
		s.mu.Lock()
		s.live = slices.Delete(s.live, i, i+1)
		s.doomed = append(s.doomed, seg)
		s.mu.Unlock()
		s.credit += seg.used
		return true
	}
	return false
}

// buryNow calls bury from a goroutine that is not writing.
func (s *segments) buryNow() error {
	s.burying.Lock()
	defer s.burying.Unlock()
	return s.deleteDropped(func() error { return s.p.back.save(extent{0, 0, 1}, false) })
}

// deleteDropped deletes the files of the segments that were given up. Their contents are overwritten.
// s.burying is held.
func (s *segments) deleteDropped(writeCounts func() error) error {
	for {
		s.mu.Lock()
		if len(s.doomed) == 0 {
			s.mu.Unlock()
			return nil
		}
		seg := s.doomed[0]
		s.mu.Unlock()
		s.ring.mu.Lock()
		nums := s.called(nil, s.lots[seg.lot].at, s.chunks)
		s.ring.mu.Unlock()
		if !seg.counted {
			seg.counted = true
			s.leave(nums)
			s.ring.mu.Lock()
			s.gone = slices.DeleteFunc(s.gone, func(l int) bool { return l == seg.lot })
			s.ring.mu.Unlock()
			s.count(-1)
		}
		if err := s.detach(nums); err != nil {
			return err
		}
		// The file counts the chunks as overwritten before they are gone. If the disk is too full
		// for that, the space that becomes free makes it possible soon.
		if err := writeCounts(); err != nil && !IsNoSpace(err) {
			return err
		}
		if err := s.remove(seg); err != nil {
			return err
		}
		testpoint.Here("segment.removed")
		s.mu.Lock()
		s.doomed = s.doomed[1:]
		s.parts[seg.part] = nil
		s.stale = append(s.stale, seg.f) // the writing goroutine may be about to use it; nil is as good as closed
		s.mu.Unlock()
	}
}

// count adds to the number of files and reports it.
func (s *segments) count(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files += more
	s.onCount(s.files)
}

// remove deletes the file if its name is still its own: another process may have deleted it, and
// created another there, perhaps with the same inode.
func (s *segments) remove(g *segment) error {
	named, err := os.Lstat(g.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!named.Mode().IsRegular() || !os.SameFile(named, g.made)) {
		return nil
	}
	if err == nil {
		var f *os.File
		if f, err = newfile.Existing(g.path, os.O_RDONLY); err == nil {
			b := make([]byte, format.SegmentHeaderSize)
			n, _ := f.ReadAt(b, 0)
			f.Close()
			if h, bad := format.DecodeSegmentHeader(b[:n]); bad != nil || h.ID != s.id || h.Number != g.number {
				return nil
			}
			err = os.Remove(g.path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				g.empty()
			}
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting the oldest segment: %w", err)
	}
	return nil
}

// empty removes the chunks from a segment whose directory does not allow deleting it: they count as
// overwritten, and must not be read as well.
func (g *segment) empty() {
	f, err := newfile.Existing(g.path, os.O_WRONLY)
	if err != nil {
		return
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && os.SameFile(st, g.made) { // else another file has its name
		_ = newfile.Truncate(f, ChunkSize)
	}
}

// tidy deletes the files that are due, and closes those that will not be written any more. The
// goroutine that writes out calls it, after it has waited for earlier writes.
func (s *segments) tidy() {
	_ = s.buryNow() // on an error the goroutine that creates the next file tries again, and reports it
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	for _, seg := range s.live {
		if seg.f != nil && s.lots[seg.lot].left == 0 {
			seg.f.Close()
			seg.f = nil
		}
	}
	for _, f := range s.stale {
		f.Close()
	}
	s.stale = nil
}

// close cuts each file behind the last chunk that was handed out, and closes it.
func (s *segments) close() (own int64, err error) {
	own, _ = s.ring.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	ahead, bump := map[int64]bool{}, s.p.Bump()
	s.ring.mu.Lock()
	for _, pl := range s.places {
		if pl.lot > 0 && pl.n >= bump {
			ahead[pl.at] = true
		}
	}
	s.ring.mu.Unlock()
	for _, f := range s.stale {
		f.Close()
	}
	var errs []error
	for _, seg := range s.live {
		if seg.f == nil {
			continue
		}
		n := seg.used
		for n > 0 && ahead[seg.part*s.chunks+n] {
			n--
		}
		if n < s.chunks {
			errs = append(errs, newfile.Truncate(seg.f, (1+n)*ChunkSize))
		}
		errs = append(errs, seg.f.Close())
		seg.f = nil
	}
	return own - s.last(), errors.Join(errs...)
}

// discard deletes all files, so that others can be made in their place.
func (s *segments) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.live {
		if seg.f != nil {
			seg.f.Close()
		}
		_ = s.remove(seg)
		s.parts[seg.part] = nil
	}
	s.live, s.next, s.files = nil, 1, 0
}
