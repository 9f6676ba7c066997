package hot

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// Unpacked is the contents of a packed trace.
type Unpacked struct {
	io.ReaderAt
	Size     int64
	Missing  int64                 // segments that were missing when it was packed
	NextData func(off int64) int64 // as for File
	Lost     func() int64          // number of chunks that could not be unpacked so far
	Close    func()                // releases its resources; the file stays open
}

// openPacked is set by UsePacked.
var openPacked atomic.Pointer[func(f *os.File) (*Unpacked, error)]

// UsePacked sets the function that reads packed traces. Programs that don't call it do not
// contain the code for them.
func UsePacked(open func(f *os.File) (*Unpacked, error)) { openPacked.Store(&open) }

// unpack opens the trace for unpacking, if it is packed. A packed trace includes its hot part,
// so no hot file is searched.
func (j *File) unpack() error {
	open := openPacked.Load()
	var magic [len(format.PackedMagic)]byte
	if open == nil {
		return nil
	}
	if n, _ := j.file.ReadAt(magic[:], 0); string(magic[:n]) != format.PackedMagic {
		return nil
	}
	u, err := (*open)(j.file)
	if err != nil {
		return err
	}
	j.unpacked, j.headed, j.settled = u, true, true
	return nil
}

// Packed reports whether the trace is packed, and how many of its chunks could not be unpacked
// so far. These read as written by format.PutLostChunk.
func (j *File) Packed() (lost int64, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.unpacked == nil {
		return 0, false
	}
	return j.unpacked.Lost(), true
}
