package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// BlockType is the type of a block. Blocks are written off the hot path.
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
	BlockSamples BlockType = 17 // Samples
	BlockCode    BlockType = 18 // Code
	BlockFile    BlockType = 19 // FilePart
	BlockCalls   BlockType = 20 // i64 ticks, then Calls
	BlockUnseen  BlockType = 21 // i64 ticks, then Unseen
	BlockMember  BlockType = 22 // Member
	BlockObject  BlockType = 23 // Object
	BlockProgram BlockType = 24 // Program
	BlockSched   BlockType = 25 // Sched

	BlockGoroutine BlockType = 26 // Goroutine
)

// Once reports whether blocks of a type are written once and needed as long as the trace
// exists: a ring does not overwrite them. (It is not a column of the table, which programs
// that only record do not contain.)
func (t BlockType) Once() bool {
	const once = 1<<BlockName | 1<<BlockInfo | 1<<BlockFrame | 1<<BlockStack | 1<<BlockCode | 1<<BlockFile | 1<<BlockBreak | 1<<BlockStop | 1<<BlockMember | 1<<BlockObject | 1<<BlockProgram | 1<<BlockSched | 1<<BlockGoroutine
	return t < 64 && 1<<t&uint64(once) != 0
}

// BlockHeaderSize is the size of a block's header: u32 payload length, u16 type, u16 0, u32
// CRC-32C of those eight bytes and the payload, u32 0. The payload follows, padded with
// zeros to 8 bytes. The first eight bytes are stored last, so where they are zero no block
// begins, and the chunk ends for now.
const BlockHeaderSize = 16

// BlockSize returns the size of a block with a payload of n bytes.
func BlockSize(n int) int { return BlockHeaderSize + (n+7)&^7 }

// AppendBlock appends one block.
func AppendBlock(b []byte, t BlockType, payload []byte) []byte {
	var head, zeros [BlockHeaderSize]byte
	le := binary.LittleEndian
	le.PutUint32(head[0:], uint32(len(payload)))
	le.PutUint16(head[4:], uint16(t))
	le.PutUint32(head[8:], crc32.Update(crc32.Checksum(head[:8], castagnoli), castagnoli, payload))
	return append(append(append(b, head[:]...), payload...), zeros[:-len(payload)&7]...)
}

// DecodeBlock reads the block at the beginning of b. If size is 0 and the error nil, no
// further block was written. An error wraps ErrCorrupt; size is then the block's length if
// that is plausible, else 0.
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
	v, err := decode(BlockCalib, p)
	if err == nil {
		c = Calib{v[0].N, v[1].N, v[2].N, v[3].N}
	}
	return c, err
}

// Gap is a period in which records were lost.
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
	v, err := decode(BlockGap, p)
	if err == nil {
		g = Gap{v[0].N, v[1].N, v[2].N, Loss(v[3].N)}
	}
	return g, err
}

func appendInts(b []byte, vs ...int64) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// decode reads the values of a payload.
func decode(t BlockType, p []byte) ([]Value, error) { return Blocks[t].Read(nil, p) }

// AppendName appends a name block's payload.
func AppendName(b []byte, id uint16, name string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(id))
	return append(b, name...)
}

// DecodeName reads a name block's payload; name aliases p.
func DecodeName(p []byte) (id uint16, name []byte, err error) {
	v, err := decode(BlockName, p)
	if err != nil {
		return 0, nil, err
	}
	return uint16(v[0].N), v[2].B, nil
}

// AppendInfo appends an info block's payload.
func AppendInfo(b []byte, key, value string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(key)))
	b = append(b, key...)
	return append(b, value...)
}

// Loss is the reason why a record was lost.
type Loss uint8

const (
	LossWindow Loss = 1  // no room was prepared in time
	LossLimit  Loss = 2  // the trace had reached its limit
	LossSpace  Loss = 3  // the file system or the tmpfs was, or was nearly, full, or a limit of memory or of addresses was reached
	LossIO     Loss = 4  // I/O error, or the disk was too slow to provide another segment
	LossBusy   Loss = 5  // the writer was moved between processors too often
	LossStop   Loss = 6  // begun while the recording was stopping
	LossEnd    Loss = 7  // an end that found no room: its scope is there, and shown as open
	LossStack  Loss = 8  // a stack that came faster than stacks can be counted
	LossOpen   Loss = 9  // an open scope whose begin a ring overwrote, beyond those it keeps
	LossBuffer Loss = 10 // the memory in which records wait for the disk was full

	LossReasons = LossBuffer + 1 // one more than the last
)

// lossNames are the names of the reasons by number, as the tools show them.
var lossNames = []string{1: "window", 2: "limit", 3: "space", 4: "io", 5: "busy", 6: "stop", 7: "end", 8: "stack", 9: "open", 10: "buffer"}

// LossFields are the heartbeat's fields that count losses, by reason.
var LossFields = [...]Field{
	LossWindow: fieldLostWindow, LossLimit: fieldLostLimit, LossSpace: fieldLostSpace, LossIO: fieldLostIO, LossBusy: fieldLostBusy,
	LossStop: fieldLostStop, LossEnd: fieldLostEnds, LossStack: fieldLostStacks, LossOpen: fieldLostOpen, LossBuffer: fieldLostBuffer,
}

func (l Loss) String() string {
	if int(l) < len(lossNames) && l > 0 {
		return lossNames[l]
	}
	return "loss-" + itoa(int(l))
}

// AppendTicks appends a stop block's payload.
func AppendTicks(b []byte, ticks int64) []byte { return appendInts(b, ticks) }

// AppendBreak appends a break block's payload.
func AppendBreak(b []byte, before, after int64) []byte { return appendInts(b, before, after) }

// AppendNote appends a note block's payload; DecodeNote reads it.
func AppendNote(b []byte, ticks int64, text string) []byte {
	return append(appendInts(b, ticks), text...)
}
