//go:build linux

package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// onDisk has the disk usage of a ring's file, and its limit.
type onDisk struct {
	size   int64 // of the file
	blocks int64 // bytes of its blocks, allocated and not written included
	kept   int64 // number of allocated kept chunks
	state  format.State
}

// preparedKept is the maximum number of kept chunks that are prepared for new names:
// half of four, and four more. See internal/pool.
const preparedKept = 6

// mapBytes returns the maximum size of the file system's map of the file's blocks,
// which counts as the file's: ext4 has a block of 4 KiB for each 340 extents, at
// least half full. A chunk that is zeroed and written again can be three extents.
func mapBytes(chunks int64) int64 { return (3*chunks/170 + 1) * 4096 }

// bound returns the maximum size of the blocks: the ring, the chunk of the file's header,
// the kept and the prepared chunks, and the file system's own.
func (d *onDisk) bound(ring int64) int64 {
	chunks := 1 + ring/format.ChunkSize + d.kept + preparedKept
	return chunks*format.ChunkSize + mapBytes(chunks)
}

// look examines a ring's file, which may be in use by a writer.
func look(path string) (d onDisk, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	d.size, d.blocks = st.Size, st.Blocks*512
	var b [format.StateOffset + format.StateSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return d, err
	}
	if _, d.state, err = format.DecodeHeader(b[:]); err != nil {
		return d, err
	}
	// Afterwards: their number never decreases, so the bound is not too small.
	for off := int64(format.ChunkSize); off < st.Size; off += format.ChunkSize {
		h, ok, err := headerAt(f, off)
		if err == nil && ok && h.Flags&format.FlagKept != 0 {
			d.kept++
		}
	}
	return d, nil
}

func headerAt(f io.ReaderAt, off int64) (h format.ChunkHeader, ok bool, err error) {
	var b [format.ChunkHeaderSize]byte
	if n, err := f.ReadAt(b[:], off); n < len(b) {
		return h, false, err
	}
	return format.DecodeChunkHeader(b[:], off, format.ChunkSize)
}

// countRecords counts the records in a file without a writer, by section 4 of docs/format.md
// and without the reader's code: ends and anchors do not count.
func countRecords(path string) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, format.ChunkSize)
	for off := int64(format.ChunkSize); off < st.Size(); off += format.ChunkSize {
		if h, ok, err := headerAt(f, off); err != nil {
			return 0, err
		} else if !ok || h.Kind != format.ChunkRecords {
			continue
		}
		got, err := f.ReadAt(chunk, off)
		if err != nil && err != io.EOF {
			return 0, err
		}
		n += recordsIn(chunk[:got])
	}
	return n, nil
}

// recordsIn counts the records of a chunk.
func recordsIn(chunk []byte) (n int64) {
	for at := format.ChunkHeaderSize; at+format.RecordSize <= len(chunk); at += format.RecordSize {
		r := format.DecodeRecord(chunk[at:])
		switch word := uint64(r.Start); {
		case word == 0:
			continue // a hole
		case format.IsExt(word):
			at += (format.ExtUnits(word) - 1) * format.RecordSize
			continue
		case r.Start < 0 || r.Start >= format.MaxTicks:
			continue // corrupt, which verify reports
		}
		if k := r.Kind(); k != format.KindEnd && k != format.KindAnchor {
			n++
		}
	}
	return n
}
