package hot

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// Dir is the directory of hot files.
var Dir = "/dev/shm"

// State is the state of a trace's hot part.
type State int

const (
	None    State = iota // there is none: the trace file is complete
	Joined               // it is read with the trace file
	Missing              // it was not found: the newest second may be missing
)

// File is a trace file joined with its hot part, if it has one. Its methods may be
// called from several goroutines.
type File struct {
	file *os.File

	mu      sync.RWMutex // for the fields below; held while part is read
	part    *part        // nil: the trace file is read as it is
	headed  bool         // the header was read
	state   State
	settled bool // state only changes if the trace file is completed
	looked  bool // the hot file was searched everywhere

	segments *segments // nil: the trace has none
	unpacked *Unpacked // nil: the trace is not packed
}

// Open opens the trace at path and joins it. For anything but a regular file it
// returns an error that wraps format.ErrNotTrace, without opening it, since that
// could block.
func Open(path string) (*File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w; it is not a regular file", path, format.ErrNotTrace)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := notSegment(f); err != nil {
		f.Close()
		return nil, err
	}
	return Join(f)
}

// Join joins an open trace. The File takes ownership of f, also if there is an
// error. It returns an error if the file can't be read. A file that is not a trace,
// or needs no hot part, is read as it is.
func Join(f *os.File) (*File, error) {
	j := &File{file: f}
	err := j.unpack()
	if err == nil {
		err = j.look()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// Trace returns the trace file itself, for its lock and its control words.
func (j *File) Trace() *os.File { return j.file }

// Name returns the trace file's name.
func (j *File) Name() string { return j.file.Name() }

// State returns the current state of the hot part. A trace that is being written may
// be closed meanwhile, and its hot part removed.
func (j *File) State() State {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.state
}

// Close closes the File and the trace file.
func (j *File) Close() error {
	j.mu.Lock()
	j.drop(j.state)
	if j.segments != nil {
		j.segments.close()
	}
	if j.unpacked != nil {
		j.unpacked.Close()
		j.unpacked = nil // from now on reading fails as it does from the file
	}
	j.mu.Unlock()
	return j.file.Close()
}

// drop closes the hot file; j.mu is held.
func (j *File) drop(s State) {
	if j.part != nil {
		j.part.file.Close()
		j.part = nil
	}
	j.state = s
}

// look updates the state of the hot part.
func (j *File) look() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.lookForSegments(); err != nil {
		return err
	}
	if j.part != nil {
		over, err := j.over()
		if over {
			j.drop(None)
		}
		return err
	}
	if j.settled {
		return nil
	}
	for again := false; ; again = true {
		h, needed, err := j.head()
		switch {
		case err != nil:
			return err
		case !needed:
			j.state = None
			return nil
		case again:
			j.state = Missing
			return nil
		}
		first := !j.looked
		j.looked = true
		if p := find(j.file, &h, first); p != nil {
			j.part, j.state, j.settled = p, Joined, true
			return nil
		}
		// The hot file may have been removed just now by Stop: then the trace file
		// is closed, and complete.
	}
}

// lookForSegments updates the list of segments.
func (j *File) lookForSegments() error {
	if !j.headed {
		var b [format.StateOffset + format.StateSize]byte
		n, err := j.file.ReadAt(b[:], 0)
		if err != nil && err != io.EOF {
			return err
		}
		h, _, bad := format.DecodeHeader(b[:n])
		if bad != nil {
			return nil
		}
		j.headed, j.segments = true, segmentsOf(j.file, &h, os.O_RDONLY)
	}
	if j.segments == nil {
		return nil
	}
	return j.segments.scan()
}

// over reports whether the trace file is marked as complete.
func (j *File) over() (bool, error) {
	var words [format.StateSize]byte
	if _, err := j.file.ReadAt(words[:], format.StateOffset); err != nil && err != io.EOF {
		return false, err
	}
	s := format.DecodeState(words[:])
	return s.Closed || s.Joined, nil
}

// head reads the trace file's header; needed reports whether the trace file needs
// its hot part.
func (j *File) head() (h format.Header, needed bool, err error) {
	var b [format.StateOffset + format.StateSize]byte
	n, err := j.file.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return h, false, err
	}
	h, s, bad := format.DecodeHeader(b[:n])
	if bad != nil {
		// The header of a file that was just created is written later.
		j.settled = n > 0 && b[0] != 0
		return h, false, nil
	}
	needed = h.Backing == format.BackingShm && h.ChunkSize == format.ChunkSize && !s.Closed && !s.Joined
	j.settled = !needed
	return h, needed, nil
}

// Size returns the size of the joined trace.
func (j *File) Size() (int64, error) {
	st, err := j.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Stat returns the trace file's FileInfo with the size of the joined trace. To
// compare files with os.SameFile, use Trace.
func (j *File) Stat() (fs.FileInfo, error) {
	if err := j.look(); err != nil {
		return nil, err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	var end int64
	if j.part != nil {
		t := j.part.table(j.onDisk) // before the size, or data written meanwhile would be in neither
		defer t.free()
		if t.err != nil {
			return nil, t.err
		}
		end = t.end
	}
	st, err := j.file.Stat()
	if err != nil {
		return nil, err
	}
	if j.unpacked != nil {
		return &joinedInfo{st, j.unpacked.Size}, nil
	}
	if end = max(end, j.segments.size(st.Size())); end <= st.Size() {
		return st, nil
	}
	return &joinedInfo{st, end}, nil
}

// onDisk returns the size of the trace without its hot part; j.mu is held.
func (j *File) onDisk() (int64, error) {
	st, err := j.file.Stat()
	if err != nil {
		return 0, err
	}
	return j.segments.size(st.Size()), nil
}

// joinedInfo is a FileInfo with another size.
type joinedInfo struct {
	fs.FileInfo
	size int64
}

func (i *joinedInfo) Size() int64 { return i.size }
