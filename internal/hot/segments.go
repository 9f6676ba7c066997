package hot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
)

// segments are the files of a trace's ring. They come and go while it is written: after each read
// the file's name is checked, and a file that has lost its name is overwritten, and reads as zeros.
// So its data disappear when the writer deletes it, and not when the last reader has closed it.
type segments struct {
	base   *os.File
	id     [16]byte
	parts  int64
	chunks int64  // in each part
	flags  int    // for opening them
	head   []byte // the trace's header without segments

	mu      sync.RWMutex
	files   []*segment
	missing int64 // number of missing files
	final   bool  // the trace is closed: the list does not change any more
}

type segment struct {
	f      *os.File
	opened os.FileInfo
	number uint32
}

// segmentsOf returns the segments of the trace f with the header h, or nil if it has none.
func segmentsOf(f *os.File, h *format.Header, flags int) *segments {
	if h.Segments == 0 {
		return nil
	}
	n := int64(h.Segments)
	one := *h
	one.Segments = 0
	return &segments{base: f, id: h.ID, parts: n, chunks: int64(h.Ring) / n, flags: flags, head: format.AppendHeader(nil, &one), files: make([]*segment, n)}
}

// asOne changes bytes read from chunk 0 at off into those of a trace in one file.
func (s *segments) asOne(b []byte, off int64) {
	if s == nil || off >= format.ControlOffset {
		return
	}
	const files = format.StateOffset + format.StateFiles
	for i := range min(int64(len(b)), format.ControlOffset-off) {
		switch at := off + i; {
		case at < int64(len(s.head)):
			b[i] = s.head[at]
		case at >= files && at < files+8:
			b[i] = 0
		}
	}
}

// ring returns the size of the ring in bytes.
func (s *segments) ring() int64 { return s.parts * s.chunks * chunk }

// size returns the size of the whole trace, if the base file has base bytes.
func (s *segments) size(base int64) int64 {
	if s == nil {
		return base
	}
	return max(base, chunk) + s.ring()
}

// scan updates the list of segments.
func (s *segments) scan() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final {
		return nil
	}
	for again := false; ; again = true {
		state, err := s.state()
		next := s.next()
		if err == nil {
			err = s.list()
		}
		if err != nil {
			return err
		}
		found := int64(0)
		for _, g := range s.files {
			if g != nil {
				found++
			}
		}
		s.missing = max(state.Files-found, 0)
		s.final = state.Closed
		// Files may have been deleted and created while they were listed.
		if s.missing == 0 && s.next() == next || s.final || again {
			return nil
		}
	}
}

func (s *segments) state() (format.State, error) {
	var b [format.StateSize]byte
	if _, err := s.base.ReadAt(b[:], format.StateOffset); err != nil && err != io.EOF {
		return format.State{}, err
	}
	return format.DecodeState(b[:]), nil
}

// list reads the names in the directory of the base file; s.mu is held.
func (s *segments) list() error {
	for i, g := range s.files {
		if g != nil && !g.there() {
			g.f.Close()
			s.files[i] = nil
		}
	}
	st, err := s.base.Stat()
	if err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(s.base.Name()))
	if err != nil {
		return nil // then there are none, and they count as missing
	}
	defer d.Close()
	prefix := filepath.Base(s.base.Name()) + "."
	for {
		names, end := d.Readdirnames(256)
		for _, name := range names {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			path := filepath.Join(filepath.Dir(s.base.Name()), name)
			_, number, ok := format.SegmentNumber(path)
			if !ok || s.has(number) {
				continue
			}
			if err := s.open(path, number, owner(st)); err != nil {
				return err
			}
		}
		if end != nil {
			return nil
		}
	}
}

// next returns the number after the highest of the known segments.
func (s *segments) next() uint32 {
	number := uint32(1)
	for _, g := range s.files {
		if g != nil {
			number = max(number, g.number+1)
		}
	}
	return number
}

func (s *segments) has(number uint32) bool {
	for _, g := range s.files {
		if g != nil && g.number == number {
			return true
		}
	}
	return false
}

// open opens a file with the name of a segment, if it is one of this trace and belongs to the same
// user. Links are not followed.
func (s *segments) open(path string, number uint32, uid int64) error {
	named, err := os.Lstat(path)
	if err != nil || !named.Mode().IsRegular() {
		return nil
	}
	f, err := newfile.Existing(path, s.flags)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return err
	}
	if err != nil {
		return nil
	}
	st, err := f.Stat()
	h, ok := s.headerOf(f, number)
	if err != nil || !ok || !os.SameFile(named, st) || owner(st) != uid {
		f.Close()
		return nil
	}
	other := s.files[h.Part]
	if other != nil && other.number >= number {
		f.Close()
		return nil
	}
	if other != nil {
		other.f.Close()
	}
	s.files[h.Part] = &segment{f, st, number}
	return nil
}

// headerOf reads the header of the file f; ok is false if it is not the trace's segment of that
// number.
func (s *segments) headerOf(f *os.File, number uint32) (h format.SegmentHeader, ok bool) {
	var b [format.SegmentHeaderSize]byte
	n, _ := f.ReadAt(b[:], 0)
	h, err := format.DecodeSegmentHeader(b[:n])
	return h, err == nil && h.ID == s.id && h.Number == number && int64(h.Part) < s.parts && int64(h.Chunks) == s.chunks
}

// there reports whether the segment still has its name.
func (g *segment) there() bool {
	named, err := os.Lstat(g.f.Name())
	return err == nil && os.SameFile(named, g.opened)
}

// where returns the file and the position for off, and how many bytes follow in that file. f is nil
// if there is no file, and g is nil for the base file.
func (s *segments) where(off int64) (f *os.File, g *segment, at, room int64) {
	ring := s.ring()
	if off < chunk {
		return s.base, nil, off, chunk - off
	}
	if off >= chunk+ring {
		return s.base, nil, off - ring, 1 << 62
	}
	part := s.chunks * chunk
	at = (off - chunk) % part
	g = s.files[(off-chunk)/part]
	if g != nil {
		f = g.f
	}
	return f, g, chunk + at, part - at
}

// ReadAt reads the trace as if it were one file.
func (s *segments) ReadAt(b []byte, off int64) (n int, err error) {
	n, gone, err := s.readAt(b, off)
	if !gone || !s.grown() {
		return n, err
	}
	// A chunk that was in memory when the files were listed is in a file created since then.
	if err := s.scan(); err != nil {
		return 0, err
	}
	n, _, err = s.readAt(b, off)
	return n, err
}

// readAt reads from the known segments; gone reports whether one of them does not exist.
func (s *segments) readAt(b []byte, off int64) (n int, gone bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for n < len(b) {
		f, g, at, room := s.where(off + int64(n))
		c := b[n : int64(n)+min(int64(len(b)-n), room)]
		m := 0
		if f != nil {
			m, err = f.ReadAt(c, at)
		}
		if f == nil || g != nil && !s.final && !g.there() {
			m, gone = 0, !s.final
		}
		if (f != s.base || off+int64(n) < chunk) && (err == nil || err == io.EOF) {
			clear(c[m:]) // it does not exist, or is shorter
			m, err = len(c), nil
		}
		n += m
		if err != nil || m < len(c) {
			return n, gone, err
		}
	}
	return n, gone, nil
}

// grown reports whether there is a segment after the last known one, or that one is gone, so that
// there may be others after it. Checking names costs less than listing them for each place without
// a file.
func (s *segments) grown() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	next := s.next()
	for _, g := range s.files {
		if g != nil && g.number == next-1 && !g.there() {
			return true
		}
	}
	_, err := os.Lstat(format.SegmentName(s.base.Name(), next))
	return err == nil
}

func (s *segments) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.files {
		if g != nil {
			g.f.Close()
			s.files[i] = nil
		}
	}
	s.final = true
}

// MissingSegments returns how many files of the trace are missing, although its writer has not
// deleted them.
func (j *File) MissingSegments() int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.unpacked != nil {
		return j.unpacked.Missing
	}
	if j.segments == nil {
		return 0
	}
	j.segments.mu.RLock()
	defer j.segments.mu.RUnlock()
	return j.segments.missing
}

// notSegment returns an error that names the trace to use, if f is a segment.
func notSegment(f *os.File) error {
	var b [format.SegmentHeaderSize]byte
	n, _ := f.ReadAt(b[:], 0)
	if _, err := format.DecodeSegmentHeader(b[:n]); err != nil {
		return nil
	}
	if base, _, ok := format.SegmentNumber(f.Name()); ok {
		return fmt.Errorf("%s: %w by itself, but one of its segments; give the trace, %s", f.Name(), format.ErrNotTrace, base)
	}
	return fmt.Errorf("%s: %w by itself, but one of its segments; give the file whose name it had, without the number", f.Name(), format.ErrNotTrace)
}

// places are the segments as used by writers to a trace that is not their own.
type places interface {
	list() error
	size(base int64) int64
	where(off int64) (f *os.File, g *segment, at, room int64)
	create(off int64) (*os.File, error)
	remove()
	close()
}

// openSegments is set by UseSegments.
var openSegments atomic.Pointer[func(f *os.File, h *format.Header, flags int) places]

// UseSegments enables segments in Adopt and RemoveSegments. Programs that don't call it do not
// contain their code, and leave hot files of such traces to others.
func UseSegments() {
	open := func(f *os.File, h *format.Header, flags int) places { return segmentsOf(f, h, flags) }
	openSegments.Store(&open)
}

// RemoveSegments removes the segments of the trace at path with the header h, which is about to be
// removed itself.
func RemoveSegments(path string, h *format.Header) {
	open := openSegments.Load()
	if h.Segments == 0 || open == nil {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	s := (*open)(f, h, os.O_RDONLY)
	defer s.close()
	if s.list() == nil {
		s.remove()
	}
}

// create creates the file for the data at off: the writer was killed before it had created one, or
// the file was deleted meanwhile.
func (s *segments) create(off int64) (*os.File, error) {
	number := s.next()
	part := (off - chunk) / (s.chunks * chunk)
	f, err := newfile.Create(format.SegmentName(s.base.Name(), number))
	for last := number + 64; errors.Is(err, fs.ErrExist) && number < last; number++ { // the name is in use
		f, err = newfile.Create(format.SegmentName(s.base.Name(), number+1))
	}
	if err != nil {
		return nil, err
	}
	b := format.AppendSegmentHeader(nil, &format.SegmentHeader{Number: number, ID: s.id, Part: uint32(part), Chunks: uint32(s.chunks)})
	st, err := f.Stat()
	if err == nil {
		_, err = newfile.WriteAt(f, b, 0)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	s.files[part] = &segment{f, st, number}
	return f, nil
}

// remove deletes the existing files.
func (s *segments) remove() {
	for _, g := range s.files {
		if g != nil && g.there() {
			os.Remove(g.f.Name())
		}
	}
}
