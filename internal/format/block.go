package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// BlockType is what a block tells. Blocks are written off the hot path.
type BlockType uint16

const (
	BlockName   BlockType = 1  // u32 id, u32 0, the name's bytes
	BlockCalib  BlockType = 2  // Calib
	BlockBeat   BlockType = 3  // i64 ticks, then pairs u64 field id, i64 value
	BlockThread BlockType = 4  // i64 ticks, then triples i64 thread id, i64 CPU ns, i64 run-queue wait ns (-1: unknown)
	BlockInfo   BlockType = 5  // u16 key length, the key, the value
	BlockGap    BlockType = 6  // Gap
	BlockStop   BlockType = 7  // i64 ticks: Stop was called; the last block of a closed trace
	BlockBreak  BlockType = 8  // i64 ticks before, i64 ticks after: durations across are unknown
	BlockNote   BlockType = 9  // i64 ticks, text: what the operator changed (filter, …)
	BlockFrame  BlockType = 10 // Frame
	BlockStack  BlockType = 11 // Stack
	BlockCount  BlockType = 12 // i64 ticks, then Counts
	BlockCarry  BlockType = 13 // Carry

	BlockGoTrace BlockType = 14 // u32 stream, u32 part, bytes of a Go execution trace
	BlockSwitch  BlockType = 15 // Switches
	BlockLock    BlockType = 16 // LockSums
)

// BlockTypeNames are the types' names in the text form.
var BlockTypeNames = []string{1: "name", 2: "calib", 3: "beat", 4: "thread", 5: "info", 6: "gap", 7: "stop", 8: "break", 9: "note",
	10: "frame", 11: "stack", 12: "count", 13: "carry", 14: "gotrace", 15: "switch", 16: "lock"}

// BlockHeaderSize is the size of a block's head: u32 payload length, u16 type,
// u16 0, u32 CRC-32C of those eight bytes and the payload, u32 0. The payload
// follows, padded with zeros to 8 bytes. The first eight bytes are stored last,
// so where they are zero no block begins and the chunk ends for now.
const BlockHeaderSize = 16

// AppendBlock appends one block.
func AppendBlock(b []byte, t BlockType, payload []byte) []byte {
	le := binary.LittleEndian
	n := len(b)
	b = le.AppendUint32(b, uint32(len(payload)))
	b = le.AppendUint32(b, uint32(t))
	crc := crc32.Update(crc32.Checksum(b[n:], castagnoli), castagnoli, payload)
	b = le.AppendUint64(b, uint64(crc))
	b = append(b, payload...)
	return append(b, make([]byte, -len(payload)&7)...)
}

// DecodeBlock reads the block at the head of b. size 0 with a nil error means
// that no further block was written. An error wraps ErrCorrupt; size is then
// the block's length if that can be believed, else 0.
func DecodeBlock(b []byte) (t BlockType, payload []byte, size int, err error) {
	le := binary.LittleEndian
	if len(b) < BlockHeaderSize || le.Uint64(b) == 0 {
		return 0, nil, 0, nil
	}
	n := int64(le.Uint32(b))
	t = BlockType(le.Uint16(b[4:]))
	total := BlockHeaderSize + (n+7)&^7
	if total > int64(len(b)) {
		return t, nil, 0, fmt.Errorf("%w: block of %d bytes in a space of %d", ErrCorrupt, total, len(b))
	}
	payload = b[BlockHeaderSize : BlockHeaderSize+n]
	crc := crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, payload)
	if want := le.Uint32(b[8:]); crc != want {
		return t, payload, int(total), fmt.Errorf("%w: block checksum %08x, want %08x", ErrCorrupt, crc, want)
	}
	return t, payload, int(total), nil
}

// Calib is one reading of all clocks at one moment.
type Calib struct {
	Ticks   int64
	Mono    int64 // ns
	Wall    int64 // ns since 1970 UTC
	Bracket int64 // ticks between the two readings around Mono: the uncertainty
}

// AppendCalib appends c's payload; DecodeCalib reads it.
func AppendCalib(b []byte, c *Calib) []byte {
	return appendInts(b, c.Ticks, c.Mono, c.Wall, c.Bracket)
}

// DecodeCalib reads a calibration's payload.
func DecodeCalib(p []byte) (c Calib, err error) {
	err = decodeInts(p, &c.Ticks, &c.Mono, &c.Wall, &c.Bracket)
	return c, err
}

// Gap is a stretch of time in which records were lost.
type Gap struct {
	From, To int64 // ticks
	Count    int64 // records lost in it
	Reason   Loss
}

// AppendGap appends g's payload.
func AppendGap(b []byte, g *Gap) []byte {
	return appendInts(b, g.From, g.To, g.Count, int64(g.Reason))
}

// DecodeGap reads a gap's payload.
func DecodeGap(p []byte) (g Gap, err error) {
	var r int64
	err = decodeInts(p, &g.From, &g.To, &g.Count, &r)
	g.Reason = Loss(r)
	return g, err
}

func appendInts(b []byte, vs ...int64) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeInts(p []byte, vs ...*int64) error {
	if len(p) < 8*len(vs) {
		return fmt.Errorf("%w: payload of %d bytes, want %d", ErrCorrupt, len(p), 8*len(vs))
	}
	for i, v := range vs {
		*v = int64(binary.LittleEndian.Uint64(p[8*i:]))
	}
	return nil
}

// AppendName appends a name block's payload.
func AppendName(b []byte, id uint16, name string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(id))
	return append(b, name...)
}

// DecodeName reads a name block's payload; name aliases p.
func DecodeName(p []byte) (id uint16, name []byte, err error) {
	if len(p) < 8 || len(p) > 8+MaxName {
		return 0, nil, fmt.Errorf("%w: name block of %d bytes", ErrCorrupt, len(p))
	}
	v := binary.LittleEndian.Uint32(p)
	if v >= MaxNames {
		return 0, nil, fmt.Errorf("%w: name id %d", ErrCorrupt, v)
	}
	return uint16(v), p[8:], nil
}

// AppendInfo appends an info block's payload.
func AppendInfo(b []byte, key, value string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(key)))
	b = append(b, key...)
	return append(b, value...)
}

// DecodeInfo reads an info block's payload.
func DecodeInfo(p []byte) (key, value string, err error) {
	if len(p) < 2 || int(binary.LittleEndian.Uint16(p)) > len(p)-2 {
		return "", "", fmt.Errorf("%w: info block of %d bytes", ErrCorrupt, len(p))
	}
	n := 2 + int(binary.LittleEndian.Uint16(p))
	return string(p[2:n]), string(p[n:]), nil
}

// Loss is why a record was not kept.
type Loss uint8

const (
	LossWindow Loss = 1 // the writers were faster than the flusher could extend the file
	LossLimit  Loss = 2 // the trace had reached its limit
	LossSpace  Loss = 3 // the file system was, or was nearly, full
	LossIO     Loss = 4 // an I/O error
	LossBusy   Loss = 5 // the writer was moved between processors too often to get a place
	LossStop   Loss = 6 // begun while the recording stopped
	LossEnd    Loss = 7 // an end that found no place: its scope is there, and shows as open
	LossStack  Loss = 8 // a stack that came faster than stacks are counted
	LossOpen   Loss = 9 // a scope that was open when a ring overwrote its begin, which was one too many to be kept
)

// LossNames are the reasons by number, as the tools show them.
var LossNames = []string{1: "window", 2: "limit", 3: "space", 4: "io", 5: "busy", 6: "stop", 7: "end", 8: "stack", 9: "open"}

func (l Loss) String() string {
	if int(l) < len(LossNames) && l > 0 {
		return LossNames[l]
	}
	return "loss-" + itoa(int(l))
}

// AppendTicks appends a stop block's payload; DecodeTicks reads it.
func AppendTicks(b []byte, ticks int64) []byte { return appendInts(b, ticks) }

// DecodeTicks reads a payload that is one time.
func DecodeTicks(p []byte) (ticks int64, err error) {
	err = decodeInts(p, &ticks)
	return ticks, err
}

// AppendBreak appends a break block's payload; DecodeBreak reads it.
func AppendBreak(b []byte, before, after int64) []byte { return appendInts(b, before, after) }

// DecodeBreak reads a break block's payload.
func DecodeBreak(p []byte) (before, after int64, err error) {
	err = decodeInts(p, &before, &after)
	return before, after, err
}

// AppendNote appends a note block's payload; DecodeNote reads it.
func AppendNote(b []byte, ticks int64, text string) []byte {
	return append(appendInts(b, ticks), text...)
}

// DecodeNote reads a note block's payload.
func DecodeNote(p []byte) (ticks int64, text string, err error) {
	if err = decodeInts(p, &ticks); err != nil {
		return 0, "", err
	}
	return ticks, string(p[8:]), nil
}
