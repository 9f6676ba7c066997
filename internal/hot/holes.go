package hot

import (
	"errors"
	"math"
	"runtime"
	"syscall"
)

const seekData = 3 // Linux's SEEK_DATA, which package io does not have

// NextData returns the offset of the next byte at or after off that is not in a hole of
// the file. It returns off if that is unknown, and math.MaxInt64 if there is none.
func (j *File) NextData(off int64) int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.unpacked != nil {
		return j.unpacked.NextData(off)
	}
	if runtime.GOOS != "linux" || j.part != nil || j.segments != nil {
		return off // a hole in this file may have its data in another one
	}
	data, err := j.file.Seek(off, seekData)
	if errors.Is(err, syscall.ENXIO) {
		return math.MaxInt64
	}
	if err != nil {
		return off // the file system has no holes
	}
	return data
}
