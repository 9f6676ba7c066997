package format

import (
	"encoding/binary"
	"sync/atomic"
)

// Walk iterates over the records of a chunk, according to docs/format.md §4.
type Walk struct {
	Chunk []byte // up to the end of its records
	Off   int    // of the current record
	To    int    // after it and its extension

	// Skipped has the places without a record between the previous record and the current one, or
	// after the last.
	Skipped []span

	// Counts so far: skipped places that are zero, extensions without a record, and others; and
	// records that lack the extension they claim to have.
	Holes, Orphans, Bad, Unextended int64
}

// span is the bytes [From, To) of a chunk.
type span struct{ From, To int }

// LoadWords copies a chunk that may be written concurrently into buf, each word atomically, and
// returns the part of buf used.
func LoadWords(buf []byte, w []uint64) []byte {
	buf = buf[:min(8*len(w), len(buf))]
	for i := range len(buf) / 8 {
		binary.LittleEndian.PutUint64(buf[8*i:], atomic.LoadUint64(&w[i]))
	}
	return buf
}

// WalkRecords begins a walk over the chunk b, already cut by UsedBytes.
func WalkRecords(b []byte) Walk { return Walk{Chunk: b, To: ChunkHeaderSize} }

// Next advances to the next record.
func (w *Walk) Next() bool {
	w.Skipped = w.Skipped[:0]
	for at := w.To; at+RecordSize <= len(w.Chunk); {
		word := binary.LittleEndian.Uint64(w.Chunk[at:])
		if word-1 < MaxTicks-1 {
			w.Off, w.To = at, at+RecordSize
			if binary.LittleEndian.Uint64(w.Chunk[at+16:])&ExtBit != 0 {
				w.To += w.extension(w.To)
				if w.To == at+RecordSize || w.cut() {
					w.Unextended++
				}
			}
			return true
		}
		n := RecordSize
		switch {
		case word == 0:
			w.Holes++
		case IsExt(word):
			w.Orphans++
			n = w.extension(at)
		default:
			w.Bad++
		}
		w.Skipped = append(w.Skipped, span{at, at + n})
		at += n
		w.To = at
	}
	return false
}

// Plain is Next for the common case of a record without an extension: it is inlined. If it
// returns false, call Next.
func (w *Walk) Plain() bool {
	at := w.To
	if at+RecordSize > len(w.Chunk) || binary.LittleEndian.Uint64(w.Chunk[at:])-1 >= MaxTicks-1 ||
		binary.LittleEndian.Uint64(w.Chunk[at+16:])&ExtBit != 0 {
		return false
	}
	w.Off, w.To, w.Skipped = at, at+RecordSize, w.Skipped[:0]
	return true
}

// extension returns the length of the extension at at; 0 without one. One that does not fit
// takes all that is left.
func (w *Walk) extension(at int) int {
	if at+RecordSize > len(w.Chunk) {
		return 0
	}
	return min(ExtBytes(w.Chunk[at:]), len(w.Chunk)-at)
}

// cut reports whether the current record's extension is longer than the rest of the chunk.
func (w *Walk) cut() bool {
	at := w.Off + RecordSize
	return w.To == len(w.Chunk) && ExtBytes(w.Chunk[at:]) > w.To-at
}

// ExtBytes returns the length of the extension whose header word b begins with, 0 if it begins
// with none. b may be shorter than that.
func ExtBytes(b []byte) int {
	word := binary.LittleEndian.Uint64(b)
	if !IsExt(word) {
		return 0
	}
	return ExtUnits(word) * RecordSize
}

// ExtAt returns the extension at an offset of the chunk b, nil if none that is whole is there.
func ExtAt(b []byte, off int) []byte {
	if off+RecordSize > len(b) {
		return nil
	}
	if n := ExtBytes(b[off:]); n > 0 && off+n <= len(b) {
		return b[off : off+n]
	}
	return nil
}

// Reconcile takes back what the current record has and an earlier reading of the chunk did not:
// the end of a scope, of which the CPU time may not be whole. begun is false where the record was
// not begun then: nothing of it counts. docs/format.md §10 says why.
func (w *Walk) Reconcile(earlier []byte) (begun bool) {
	le := binary.LittleEndian
	if le.Uint64(earlier[w.Off:]) == 0 {
		return false
	}
	r := w.Record()
	if s := r.Kind().Spec(); s != nil && s.Scope && !r.Open() {
		if was := le.Uint64(earlier[w.Off+8:]); was != uint64(r.Stop) {
			le.PutUint64(w.Chunk[w.Off+8:], was|1<<63)
		}
	}
	return true
}

// Start returns the current record's start.
func (w *Walk) Start() int64 { return int64(binary.LittleEndian.Uint64(w.Chunk[w.Off:])) }

// Kind returns the current record's kind.
func (w *Walk) Kind() Kind {
	return Kind(binary.LittleEndian.Uint64(w.Chunk[w.Off+16:]) >> 40 & 0x7f)
}

// WholeExt is Ext, but empty if the extension does not fit into the chunk.
func (w *Walk) WholeExt() []byte {
	if w.To == w.Off+RecordSize || w.cut() {
		return nil
	}
	return w.Ext()
}

// Record decodes the current record.
func (w *Walk) Record() Record { return DecodeRecord(w.Chunk[w.Off:]) }

// Ext returns the current record's extension, empty if it has none.
func (w *Walk) Ext() []byte { return w.Chunk[w.Off+RecordSize : w.To] }

// Begin returns the position of the record that the current one, an end apart, ends.
func (w *Walk) Begin() (loc Loc, ok bool) { return BeginOf(w.Ext()) }

// BeginOf is Begin for an end apart with the extension ext.
func BeginOf(ext []byte) (loc Loc, ok bool) {
	if len(ext) < RecordSize || SlotType(binary.LittleEndian.Uint64(ext)>>12&15) != SlotLoc {
		return 0, false
	}
	return Loc(binary.LittleEndian.Uint64(ext[8:])), true
}

// UsedBytes returns the end of the records in the chunk b: where its owner sealed it, or else
// where only zeros follow that are not the last values of an extension.
func UsedBytes(b []byte, sealed int64) int {
	if sealed != 0 {
		return int(min(sealed, int64(len(b)))) &^ (RecordSize - 1)
	}
	n := len(b)
	for n > ChunkHeaderSize && binary.LittleEndian.Uint64(b[n-8:]) == 0 {
		n -= 8
	}
	n = min((n+RecordSize-1)&^(RecordSize-1), len(b))
	w := WalkRecords(b)
	for w.To < n && (w.Plain() || w.Next()) {
		n = max(n, w.To)
	}
	return n
}

// BlockWalk iterates over the blocks of a chunk, according to docs/format.md §7.
type BlockWalk struct {
	Chunk   []byte // up to the end of its blocks
	Off     int    // of the current block
	To      int    // after it
	Type    BlockType
	Payload []byte // nil if the block does not fit into the chunk
	Err     error  // why the block is invalid; it wraps ErrCorrupt
}

// WalkBlocks begins a walk over the blocks of the chunk b at the offset at.
func WalkBlocks(b []byte, at int) BlockWalk { return BlockWalk{Chunk: b, To: min(at, len(b))} }

// Next advances to the next block, valid or not. One that does not fit into the chunk is the
// last.
func (w *BlockWalk) Next() bool {
	if w.Err != nil && w.Payload == nil {
		return false
	}
	var size int
	w.Off = w.To
	w.Type, w.Payload, size, w.Err = DecodeBlock(w.Chunk[w.To:])
	w.To += size
	return size > 0 || w.Err != nil
}

// BlockBytes returns the part of the chunk b that may hold blocks.
func BlockBytes(b []byte, sealed int64) []byte {
	if sealed > 0 && sealed < int64(len(b)) {
		return b[:sealed]
	}
	return b
}
