package format

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// HotHeader is the beginning of a hot file: memory that outlives its process, in which the shm
// backing keeps the chunks that are not written to the trace file yet. It identifies that
// trace. The table follows it, with a word for each slot, which identifies the chunk in the
// slot; then come the slots of ChunkSize bytes.
//
//	+0    hotMagic
//	+8    u32 version, u32 slots
//	+16   the trace's ID
//	+32   u32 length of the path
//	+60   u32 CRC-32C of the 60 bytes before it and the path
//	+64   the path
//	+4160 the origin, HotOrigin
//	+8192 the table: u64 for each slot; 0: it holds nothing, else the chunk's place
//	      in the trace file (its offset / ChunkSize) + 1
//
// The version is hotVersion if header and table fit into one chunk, else hotVersionLarge.
type HotHeader struct {
	Slots uint32 // from 1 to MaxHotSlots
	ID    [16]byte
	Path  string // of the trace file, absolute
}

// HotOrigin identifies the trace of a hot file, and the system as its maker saw it: other
// containers may share the memory, and have another disk at the same path. Unknown words are
// 0, as in hot files of earlier versions:
//
//	0  the first 16 bytes of the kernel's boot_id, as text
//	2  the inode of the namespace of mounts
//	3  the root of the file systems, a FileID
//	6  the trace's directory, a FileID
//	9  the trace, a FileID
//	12 when it was first found without a writer, in ns since 1970
//	13 the directory's disk, by the number that the kernel gives each one that is attached
type HotOrigin [14]uint64

// FileID identifies a file while its file system is mounted: device, inode, and birth in ns
// since 1970. The birth is 0 if the file system does not provide it; all words are 0 if
// nothing is known.
type FileID [3]uint64

// System identifies the system as the hot file's maker saw it.
func (o *HotOrigin) System() [6]uint64 { return [6]uint64(o[:6]) }

// Dir identifies the directory in which the trace was created.
func (o *HotOrigin) Dir() FileID { return FileID(o[6:]) }

// Trace identifies the trace.
func (o *HotOrigin) Trace() FileID { return FileID(o[9:]) }

// Append appends the words as at HotOriginOffset.
func (o *HotOrigin) Append(b []byte) []byte {
	for _, w := range o {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// Decode reads the words.
func (o *HotOrigin) Decode(b *[HotOriginSize]byte) {
	for i := range o {
		o[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// Parts of a hot file.
const (
	hotMagic       = "SCOPEHOT"
	hotPathOffset  = 64 // of the path, in the header
	HotTableOffset = 8192
	maxHotPath     = 4096
	MaxHotSlots    = 1 << 16

	hotVersion      = 1
	hotVersionLarge = 2 // readers of version 1 accept at most fewHotSlots, and expect slots at ChunkSize
	fewHotSlots     = (ChunkSize - HotTableOffset) / 8

	hotCRCOffset = 60

	HotOriginOffset = hotPathOffset + maxHotPath
	HotOriginSize   = 14 * 8
	HotSeenOffset   = HotOriginOffset + 12*8
)

// ErrNotHot is the error for a file that is not a valid hot file.
var ErrNotHot = errors.New("not a hot file of scopeview")

// A hot file's name is the trace's ID in hexadecimal between these.
const (
	hotPrefix = "scopeview-"
	hotSuffix = ".hot"
)

// HotName returns the name of the hot file of the trace with that ID.
func HotName(id [16]byte) string { return hotPrefix + hex.EncodeToString(id[:]) + hotSuffix }

// IsHotName reports whether a file's name is that of a hot file.
func IsHotName(name string) bool {
	return len(name) == len(hotPrefix)+32+len(hotSuffix) && strings.HasPrefix(name, hotPrefix) && strings.HasSuffix(name, hotSuffix)
}

// HotSlot returns the offset of slot i in a hot file with that many slots.
func HotSlot(slots, i int) int64 {
	table := int64(HotTableOffset) + 8*int64(slots)
	return (table+ChunkSize-1)/ChunkSize*ChunkSize + int64(i)*ChunkSize
}

// HotSize returns the size of a hot file with that many slots.
func HotSize(slots int) int64 { return HotSlot(slots, slots) }

// hotVersionOf returns the version of a hot file with that many slots.
func hotVersionOf(slots uint32) uint32 {
	if slots > fewHotSlots {
		return hotVersionLarge
	}
	return hotVersion
}

// AppendHotHeader appends the header with its path, without the table.
func AppendHotHeader(b []byte, h *HotHeader) ([]byte, error) {
	if h.Slots == 0 || h.Slots > MaxHotSlots {
		return b, fmt.Errorf("a hot file of %d slots, where there can be 1 to %d", h.Slots, MaxHotSlots)
	}
	if h.Path == "" || len(h.Path) > maxHotPath {
		return b, fmt.Errorf("a hot file's path of %d bytes, where there can be 1 to %d", len(h.Path), maxHotPath)
	}
	le := binary.LittleEndian
	var p [hotPathOffset]byte
	copy(p[:], hotMagic)
	le.PutUint32(p[8:], hotVersionOf(h.Slots))
	le.PutUint32(p[12:], h.Slots)
	copy(p[16:], h.ID[:])
	le.PutUint32(p[32:], uint32(len(h.Path)))
	crc := crc32.Checksum(p[:hotCRCOffset], castagnoli)
	le.PutUint32(p[hotCRCOffset:], crc32.Update(crc, castagnoli, []byte(h.Path)))
	return append(append(b, p[:]...), h.Path...), nil
}

// DecodeHotHeader reads the beginning of a hot file: hotPathOffset bytes and the
// path, at most HotTableOffset. Errors wrap ErrNotHot, or ErrNewer.
func DecodeHotHeader(b []byte) (h HotHeader, err error) {
	if len(b) < hotPathOffset || string(b[:len(hotMagic)]) != hotMagic {
		return h, ErrNotHot
	}
	le := binary.LittleEndian
	v := le.Uint32(b[8:])
	if v < hotVersion || v > hotVersionLarge {
		return h, fmt.Errorf("%w (hot file version %d, this tool reads %d)", ErrNewer, v, hotVersionLarge)
	}
	slots, n := le.Uint32(b[12:]), le.Uint32(b[32:])
	if slots == 0 || slots > MaxHotSlots || hotVersionOf(slots) != v {
		return h, fmt.Errorf("%w: %d slots", ErrNotHot, slots)
	}
	if n == 0 || n > maxHotPath || int(n) > len(b)-hotPathOffset {
		return h, fmt.Errorf("%w: a path of %d bytes", ErrNotHot, n)
	}
	path := b[hotPathOffset : hotPathOffset+int(n)]
	crc := crc32.Update(crc32.Checksum(b[:hotCRCOffset], castagnoli), castagnoli, path)
	if want := le.Uint32(b[hotCRCOffset:]); crc != want {
		return h, fmt.Errorf("%w: checksum %08x, want %08x", ErrNotHot, crc, want)
	}
	h.Slots, h.Path = slots, string(path)
	copy(h.ID[:], b[16:32])
	return h, nil
}
