package hot

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// Unpacked is the trace that a packed file has.
type Unpacked struct {
	io.ReaderAt
	Size     int64
	Missing  int64                 // segments that it lacked when it was packed
	NextData func(off int64) int64 // as File has it
	Lost     func() int64          // how many chunks could not be unpacked so far
	Close    func()                // frees what it holds; the file stays open
}

// openPacked is set by UsePacked.
var openPacked atomic.Pointer[func(f *os.File) (*Unpacked, error)]

// UsePacked has packed traces read by way of open. Programs that don't call it don't contain
// what that takes.
func UsePacked(open func(f *os.File) (*Unpacked, error)) { openPacked.Store(&open) }

// unpack has the trace read unpacked, if it is packed. What was joined when it was packed is in
// there: nothing else is looked for.
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
// so far. These read as format.PutLostChunk has it.
func (j *File) Packed() (lost int64, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.unpacked == nil {
		return 0, false
	}
	return j.unpacked.Lost(), true
}
