package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// SegmentHeader is the beginning of a segment: a file with a part of a ring's
// chunks. The chunks of the places from Place on follow at ChunkSize.
//
//	+0  segmentMagic
//	+8  u32 version, u32 number
//	+16 the trace's ID
//	+32 u32 slot, u32 chunks
//	+60 u32 CRC-32C of the 60 bytes before it
type SegmentHeader struct {
	Number uint32 // numbers the trace's segments in order of creation, from 1 on
	ID     [16]byte
	Part   uint32 // number of the ring's equal part in this file
	Chunks uint32 // in each part
}

// Parts of a segment.
const (
	segmentMagic      = "SCOPESEG"
	segmentVersion    = 1
	SegmentHeaderSize = 64

	segmentCRCOffset = 60
)

// errNotSegment is the error for a file that is not a valid segment.
var errNotSegment = errors.New("not a segment of a scopeview trace")

// Place returns the place of the segment's first chunk in the trace.
func (h *SegmentHeader) Place() int64 { return 1 + int64(h.Part)*int64(h.Chunks) }

// SegmentName returns the path of a segment of the trace at path.
func SegmentName(path string, number uint32) string { return fmt.Sprintf("%s.%06d", path, number) }

// SegmentNumber splits the name of a segment. ok is false for other names.
func SegmentNumber(name string) (path string, number uint32, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return "", 0, false
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 32)
	if err != nil || n == 0 || SegmentName(name[:i], uint32(n)) != name {
		return "", 0, false
	}
	return name[:i], uint32(n), true
}

// AppendSegmentHeader appends the header, SegmentHeaderSize bytes.
func AppendSegmentHeader(b []byte, h *SegmentHeader) []byte {
	le := binary.LittleEndian
	n := len(b)
	b = append(b, segmentMagic...)
	b = le.AppendUint32(b, segmentVersion)
	b = le.AppendUint32(b, h.Number)
	b = append(b, h.ID[:]...)
	b = le.AppendUint32(b, h.Part)
	b = le.AppendUint32(b, h.Chunks)
	b = append(b, make([]byte, n+segmentCRCOffset-len(b))...)
	return le.AppendUint32(b, crc32.Checksum(b[n:], castagnoli))
}

// DecodeSegmentHeader reads the beginning of a segment. Errors wrap errNotSegment,
// or ErrNewer.
func DecodeSegmentHeader(b []byte) (h SegmentHeader, err error) {
	if len(b) < SegmentHeaderSize || string(b[:len(segmentMagic)]) != segmentMagic {
		return h, errNotSegment
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v != segmentVersion {
		return h, fmt.Errorf("%w (segment version %d, this tool reads %d)", ErrNewer, v, segmentVersion)
	}
	if got, want := crc32.Checksum(b[:segmentCRCOffset], castagnoli), le.Uint32(b[segmentCRCOffset:]); got != want {
		return h, fmt.Errorf("%w: checksum %08x, want %08x", errNotSegment, got, want)
	}
	h.Number, h.Part, h.Chunks = le.Uint32(b[12:]), le.Uint32(b[32:]), le.Uint32(b[36:])
	copy(h.ID[:], b[16:32])
	return h, nil
}
