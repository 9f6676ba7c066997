package hot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
)

// The approximate number of names that one Adopt reads in Dir, and in the directory of a
// trace.
const (
	adoptNames  = 1 << 14
	besideNames = 1 << 12
)

// unbornAfter is the age at which a file is removed that never became a hot file because its
// creator was killed first.
const unbornAfter = time.Hour

// Adopt copies the chunks in hot files without writers to their traces, and removes the files.
// It calls more before each chunk and stops if that returns false; the next call continues. It
// does not touch hot files of other users, those whose writers are alive, nor those of traces
// that it has no access to. A hot file whose trace is gone is removed. If anything fails, the
// hot file stays, and the trace is as complete as before; Adopt returns the first error.
// Changes of the files by others are not errors. Adopt takes as long as the disk does.
func Adopt(more func() bool) (a Adopted, err error) {
	d, err := os.Open(Dir)
	if err != nil {
		return a, fmt.Errorf("looking for hot files: %w", err)
	}
	defer d.Close()
	for range adoptNames / 256 {
		names, end := d.Readdirnames(256)
		for _, name := range names {
			if !format.IsHotName(name) {
				continue
			}
			if !more() {
				return a, err
			}
			if e := a.adopt(filepath.Join(Dir, name), more); e != nil && err == nil {
				err = fmt.Errorf("adopting %s: %w", name, e)
			}
		}
		if end != nil {
			break
		}
	}
	return a, err
}

// errCopy reports that the file with the trace's ID is another file. It is unknown which of
// them has which data.
var errCopy = errors.New("a copy")

// errLater reports that the hot file is left alone, without a fault.
var errLater = errors.New("later")

func (a *Adopted) adopt(path string, more func() bool) error {
	f, err := openOwn(path, os.O_RDWR)
	if err != nil {
		a.Left++
		return nil // gone by now, or not ours
	}
	defer f.Close() // and with it the lock
	err = a.bring(f, filepath.Base(path), more)
	if err == nil {
		err = removeSame(path, f)
	}
	if err != nil {
		a.Left++
	} else {
		a.Removed++
	}
	if err == errLater {
		return nil
	}
	return err
}

// Discard removes the hot file of the trace with the given ID, if it has no writer. The trace
// is about to be removed, or was. If file is known, a hot file of another trace file stays:
// copies have the same ID.
func Discard(id [16]byte, file format.FileID) {
	path := filepath.Join(Dir, format.HotName(id))
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return
	}
	defer f.Close()
	o, _, _ := originOf(f)
	if of := o.Trace(); file[1] != 0 && of[1] != 0 && of != file {
		return
	}
	if flock(f, syscall.LOCK_EX) == nil {
		_ = removeSame(path, f)
	}
}

// removeSame removes f, if it still has that name.
func removeSame(path string, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(st, named) {
		return nil // another process did it
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// openOwn opens a regular file of this user.
func openOwn(path string, flags int) (*os.File, error) {
	f, err := newfile.Existing(path, flags)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && owner(st) != int64(os.Geteuid()) {
		err = fmt.Errorf("%s: it is not a file of this user's own", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// bring copies the chunks in the hot file f to its trace. If it returns nil, the hot file is
// not needed any more.
func (a *Adopted) bring(f *os.File, name string, more func() bool) error {
	if flock(f, syscall.LOCK_EX) != nil {
		return errLater
	}
	h, needed, err := left(f, name)
	if err != nil || !needed {
		return err
	}
	o, _, _ := originOf(f)
	t, err := openTrace(&h, o.Trace())
	switch {
	case err == errCopy:
		return wait(f, int64(o[12]), unknownFor)
	case err != nil:
		return err
	case t == nil:
		return gone(f, h.Path)
	}
	defer t.Close()
	if flock(t, syscall.LOCK_SH) == syscall.EWOULDBLOCK {
		return errLater
	}
	th, s, _ := readHeader(t)
	switch {
	case s.Closed || s.Joined:
		return nil
	case th.Backing != format.BackingShm || th.ChunkSize != chunk:
		return errLater // its header was changed since
	}
	x := adoption{p: &part{f, int(h.Slots)}, trace: t, b: make([]byte, chunk)}
	if err := x.openSegments(&th); err != nil {
		return err
	}
	if x.in != nil {
		defer x.in.close()
	}
	n, err := x.run(h.ID, more)
	if a.Chunks += n; err != nil {
		return err
	}
	a.Traces++
	return nil
}

// left reads the header of the hot file f, which has no writer any more. needed is false if it
// has no chunks.
func left(f *os.File, name string) (h format.HotHeader, needed bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return h, false, err
	}
	age := time.Since(st.ModTime())
	if h, err = readHot(f); err != nil {
		// The writer locks the file before it writes the header. A writer that was killed in
		// between left no chunks. The header may also be of a newer version.
		if errors.Is(err, format.ErrNotHot) && age > unbornAfter {
			return h, false, nil
		}
		return h, false, errLater
	}
	if name != format.HotName(h.ID) {
		return h, false, errLater // it was renamed
	}
	return h, true, nil
}

// openTrace opens the trace of a hot file. The trace may have been renamed, to keep it, or
// replaced by a link. If both results are nil it was not found. The error is errLater if it
// exists and can't be written: it is then read with its hot file.
func openTrace(h *format.HotHeader, file format.FileID) (t *os.File, err error) {
	path := h.Path
	at := path
	if st, e := os.Lstat(path); e == nil && st.Mode().Type() == fs.ModeSymlink && owner(st) == int64(os.Geteuid()) {
		if to, e := filepath.EvalSymlinks(path); e == nil {
			at = to
		}
	}
	t, first := openID(at, h.ID, file)
	if t != nil || first != nil && first != errCopy {
		return t, first
	}
	d, err := os.Open(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, first
	case err != nil:
		return nil, errLater
	}
	defer d.Close()
	names, _ := d.Readdirnames(besideNames)
	for _, name := range names {
		if filepath.Ext(name) != ".scope" {
			continue
		}
		switch t, err = openID(filepath.Join(filepath.Dir(path), name), h.ID, file); {
		case err == errCopy:
			first = err
		case t != nil || err != nil:
			return t, err
		}
	}
	return nil, first
}

// openID opens the file at path if it is the trace of that hot file, and this user's own,
// since no reader joins a trace with the hot file of another user. Otherwise both results are
// nil, or the error is errLater if that is unknown, or errCopy.
func openID(path string, id [16]byte, file format.FileID) (*os.File, error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, errLater
	case !st.Mode().IsRegular() || owner(st) != int64(os.Geteuid()):
		return nil, nil
	}
	f, err := openOwn(path, os.O_RDWR)
	if err != nil {
		if h, ok := headerOf(path); ok && h.ID != id {
			return nil, nil
		}
		return nil, errLater
	}
	h, _, ok := readHeader(f)
	is := ok && h.ID == id
	if is && (file[1] == 0 || file == Identity(f)) {
		return f, nil
	}
	f.Close()
	if is {
		return nil, errCopy
	}
	return nil, nil
}

// readHot reads the header of a complete hot file.
func readHot(f *os.File) (h format.HotHeader, err error) {
	var b [format.HotTableOffset]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return h, err
	}
	if h, err = format.DecodeHotHeader(b[:n]); err != nil {
		return h, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() < format.HotSize(int(h.Slots)) {
		err = format.ErrNotHot
	}
	return h, err
}

// adoption copies the chunks of a hot file to its trace.
type adoption struct {
	p     *part
	trace *os.File
	in    places // its segments; nil: all is in trace
	made  uint64 // number of segments created
	b     []byte // a chunk
}

// openSegments opens the segments of the trace with the header h, for chunks that belong to a
// segment that still exists.
func (x *adoption) openSegments(h *format.Header) error {
	if h.Segments == 0 {
		return nil
	}
	open := openSegments.Load()
	if open == nil {
		return errLater
	}
	in := (*open)(x.trace, h, os.O_RDWR)
	if err := in.list(); err != nil {
		in.close()
		return err
	}
	x.in = in
	return nil
}

// size returns the size of the trace without its hot part.
func (x *adoption) size() (int64, error) {
	st, err := x.trace.Stat()
	if err != nil {
		return 0, err
	}
	if x.in == nil {
		return st.Size(), nil
	}
	return x.in.size(st.Size()), nil
}

// run copies all chunks, and then marks the trace as joined. n is the number of chunks
// written.
func (x *adoption) run(id [16]byte, more func() bool) (n int, err error) {
	table := x.p.table(x.size)
	defer table.free()
	if table.err != nil {
		return 0, table.err
	}
	if err := newfile.Room(x.trace.Name(), table.end); err != nil {
		return 0, err // before a part of it is written
	}
	for i := range x.p.slots {
		place := int64(table.word(i)) - 1
		if place <= 0 || table.slot(place) != i { // none, chunk 0, invalid, or a duplicate
			continue
		}
		if !more() {
			return n, errLater
		}
		if err := x.p.read(x.b, format.HotSlot(x.p.slots, i)); err != nil {
			return n, err
		}
		written, err := x.write(place)
		if err != nil {
			return n, err
		}
		if written {
			n++
		}
	}
	return n, x.head(id, table.slot(0)) // last: it marks the trace as complete
}

// head copies chunk 0 from a slot, without the control words, with the trace marked as joined.
// If there is none (slot is -1), or it is not of this trace, head only marks the trace.
func (x *adoption) head(id [16]byte, slot int) error {
	head, counters := x.b[:format.ControlOffset], x.b[format.CountersOffset:]
	good := false
	if slot >= 0 {
		if err := x.p.read(x.b, format.HotSlot(x.p.slots, slot)); err != nil {
			return err
		}
		h, s, err := format.DecodeHeader(head)
		if x.made > 0 { // segments of the writer that are missing are still missing
			binary.LittleEndian.PutUint64(head[format.StateOffset+format.StateFiles:], min(uint64(s.Files)+x.made, uint64(h.Segments)))
		}
		if good = err == nil && h.ID == id; good && h.HasCounters() {
			if _, err := newfile.WriteAt(x.trace, counters, format.CountersOffset); err != nil {
				return err
			}
		}
	}
	const joined = format.StateOffset + format.StateJoined
	binary.LittleEndian.PutUint64(head[joined:], 1)
	if !good {
		_, err := newfile.WriteAt(x.trace, head[joined:joined+8], joined)
		return err
	}
	_, err := newfile.WriteAt(x.trace, head, 0)
	return err
}

// write writes the chunk in b to its place, unless both are empty.
func (x *adoption) write(place int64) (written bool, err error) {
	empty := true
	for i := range x.b {
		empty = empty && x.b[i] == 0
	}
	t, at := x.trace, place*chunk
	if x.in != nil {
		if t, _, at, _ = x.in.where(at); t == nil {
			if empty {
				return false, nil
			}
			if t, err = x.in.create(place * chunk); err != nil {
				return false, err
			}
			x.made++
		}
	}
	if empty {
		var was [format.ChunkHeaderSize]byte
		n, err := t.ReadAt(was[:], at)
		if err != nil && err != io.EOF {
			return false, err
		}
		if _, ok, err := format.DecodeChunkHeader(was[:n], place*chunk, chunk); !ok && err == nil {
			return false, nil
		}
	}
	_, err = newfile.WriteAt(t, x.b, at)
	return err == nil, err
}
