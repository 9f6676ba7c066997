package hot

import (
	"errors"
	"math"
	"runtime"
	"syscall"
)

const seekData = 3 // Linux's SEEK_DATA, which package io does not have

// NextData returns where the next byte at or behind off lies that may not be in a hole of
// the file. That is off where it can't be told, and behind every file where there is none.
func (j *File) NextData(off int64) int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.unpacked != nil {
		return j.unpacked.NextData(off)
	}
	if runtime.GOOS != "linux" || j.part != nil || j.segments != nil {
		return off // what the file has no data of can be in another one
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
