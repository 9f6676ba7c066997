package hot

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// Dir is where hot files are.
var Dir = "/dev/shm"

// State is what there is of a trace's hot part.
type State int

const (
	None    State = iota // there is none: the trace file is all there is
	Joined               // it is read with the trace file
	Missing              // it is not found: the newest second may be missing
)

// File is a trace file joined with its hot part, if it has one. Its methods may be
// called from several goroutines.
type File struct {
	file *os.File

	mu      sync.RWMutex // of what follows; held while part is read
	part    *part        // nil: the trace file is read as it is
	headed  bool         // the header was read
	state   State
	settled bool // state does not change any more, but by what the trace file says
	looked  bool // for the hot file, everywhere

	segments *segments // nil: the trace has none
	unpacked *Unpacked // nil: the trace is not packed
}

// Open opens the trace at path and joins it. What is not a regular file is an error
// that wraps format.ErrNotTrace; opening it could wait.
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

// Join joins a trace that is open, which the File owns from then on, also if there
// is an error: it is that of a file that can't be read. A file that is no trace, or
// needs no hot part, is read as it is.
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

// State returns what there is of the hot part now. A trace that is being written may
// be closed meanwhile, and its hot part gone.
func (j *File) State() State {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.state
}

// Close closes the trace file too.
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

// look finds out what there is of the hot part now.
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
		// It may have been removed just now because Stop was called: then the trace
		// file says so, and is whole.
	}
}

// lookForSegments finds out which there are now.
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

// over reports whether the trace file is whole by now, and says so of itself.
func (j *File) over() (bool, error) {
	var words [format.StateSize]byte
	if _, err := j.file.ReadAt(words[:], format.StateOffset); err != nil && err != io.EOF {
		return false, err
	}
	s := format.DecodeState(words[:])
	return s.Closed || s.Joined, nil
}

// head reads the trace file's header; needed reports whether it lacks its hot part.
func (j *File) head() (h format.Header, needed bool, err error) {
	var b [format.StateOffset + format.StateSize]byte
	n, err := j.file.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return h, false, err
	}
	h, s, bad := format.DecodeHeader(b[:n])
	if bad != nil {
		// The header of a file that was created just now is still to come.
		j.settled = n > 0 && b[0] != 0
		return h, false, nil
	}
	needed = h.Backing == format.BackingShm && h.ChunkSize == format.ChunkSize && !s.Closed && !s.Joined
	j.settled = !needed
	return h, needed, nil
}

// Size returns how long the trace is, joined.
func (j *File) Size() (int64, error) {
	st, err := j.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Stat is that of the trace file, with the size that it has joined. To compare files
// by os.SameFile takes that of Trace.
func (j *File) Stat() (fs.FileInfo, error) {
	if err := j.look(); err != nil {
		return nil, err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	var end int64
	if j.part != nil {
		t := j.part.table(j.onDisk) // before the size, or what was written meanwhile is in neither
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

// onDisk returns how long the trace is without its hot part; j.mu is held.
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
