package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Sizes of the format's fixed parts, in bytes.
const (
	ChunkSize       = 64 << 10 // of this version's writer; readers use Header.ChunkSize
	ChunkHeaderSize = 64       // offset of records and blocks in a chunk
	HeaderSize      = 96       // the checked part of the file header, without its CRC
	StateOffset     = 128      // the mutable words of the file header
	StateSize       = 64
	ControlOffset   = 192 // requests from outside, see Request
)

// Versions. A reader refuses a larger major version and reads all minor versions.
const (
	Major = 1
	Minor = 7
)

// Magic is the first eight bytes of every trace.
const Magic = "SCOPEVW\x01"

// Clock is the unit of a trace's ticks.
type Clock uint32

const (
	ClockTSC       Clock = 1 // the processor's time-stamp counter, invariant
	ClockMonotonic Clock = 2 // nanoseconds of the system's monotonic clock
)

func (c Clock) String() string {
	switch c {
	case ClockTSC:
		return "tsc"
	case ClockMonotonic:
		return "monotonic"
	}
	return fmt.Sprintf("clock(%d)", uint32(c))
}

// Path is the method by which records were written: by assembly, by Go, or without any assembly.
type Path uint32

const (
	PathAssembly Path = 1
	PathGo       Path = 2
	PathPure     Path = 3
)

func (p Path) String() string {
	switch p {
	case PathAssembly:
		return "assembly"
	case PathGo:
		return "go"
	case PathPure:
		return "pure"
	}
	return fmt.Sprintf("path(%d)", uint32(p))
}

// Backing is the kind of memory or file that held the recorder's chunks.
type Backing uint32

const (
	BackingDisk Backing = 1 // mapped pages of the file itself
	BackingHeap Backing = 2 // the Go heap, copied to the file by the flusher
	BackingShm  Backing = 3 // a hot file (HotHeader), copied to the file by the flusher
)

func (b Backing) String() string {
	switch b {
	case BackingDisk:
		return "disk"
	case BackingHeap:
		return "heap"
	case BackingShm:
		return "shm"
	}
	return fmt.Sprintf("backing(%d)", uint32(b))
}

// Witness bits: what the recorder could verify and therefore used.
const (
	WitnessGoid   = 1 << 0 // goroutine ids are known
	WitnessYield  = 1 << 1 // thread, processor, schedtick and trackingSeq show whether a goroutine yielded
	WitnessSwitch = 1 << 2 // rseq shows whether a thread left the CPU
)

// Header is the checked part of the file header: what is known at the start.
type Header struct {
	Major, Minor uint16
	ChunkSize    uint32
	PageSize     uint32
	PID          uint32
	Clock        Clock
	Path         Path
	Backing      Backing
	Witness      uint32   // 16 bits in the file
	Segments     uint16   // equal parts of a ring that are in a file each (SegmentHeader); 0: all in this file
	ID           [16]byte // random; identifies the trace
	StartTicks   int64    // ticks at Start
	StartMono    int64    // ns of the monotonic clock at StartTicks
	StartWall    int64    // ns since 1970 UTC at StartTicks
	TickRate     int64    // ticks per second, fixed at Start for CPU anchors
	Limit        int64    // maximum bytes of the trace, or of all its segments together; 0: no limit
	Ring         uint32   // chunks that are reused, oldest first; 0: not a ring
}

// State is the mutable part of the file header, whose words the flusher stores atomically. It
// may lag behind the chunks by one tick.
type State struct {
	Closed bool  // Stop has completed
	Tick   int64 // ticks of the flusher's last round
	End    int64 // file offset of the end of the chunks that had been handed out at that tick
	Lost   int64 // records lost so far, all reasons

	// Of a ring: the number of overwritten records, and the tick before which they began.
	// Everything that began at or after it is there.
	Overwritten int64
	Until       int64

	// Of the shm backing: the writer is gone, and the contents of its hot file were copied into
	// this file, or the reader of this file joins the two.
	Joined bool

	Files int64 // minimum number of segments
}

// Errors of DecodeHeader.
var (
	ErrNotTrace = errors.New("not a scopeview trace")
	ErrEmpty    = errors.New("the file is empty")
	ErrNewer    = errors.New("the trace was made by a newer scopeview")
	ErrCorrupt  = errors.New("corrupt")

	errSegments = fmt.Errorf("%w: the ring's chunks don't make equal segments", ErrCorrupt)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendHeader appends the checked header and its CRC, HeaderSize+4 bytes.
func AppendHeader(b []byte, h *Header) []byte {
	le := binary.LittleEndian
	var p [HeaderSize + 4]byte
	copy(p[:], Magic)
	le.PutUint16(p[8:], h.Major)
	le.PutUint16(p[10:], h.Minor)
	le.PutUint32(p[12:], h.ChunkSize)
	le.PutUint32(p[16:], h.PageSize)
	le.PutUint32(p[20:], h.PID)
	le.PutUint32(p[24:], uint32(h.Clock))
	le.PutUint16(p[28:], uint16(h.Path))
	le.PutUint16(p[30:], uint16(h.Backing))
	le.PutUint16(p[32:], uint16(h.Witness))
	le.PutUint16(p[34:], h.Segments)
	copy(p[36:], h.ID[:])
	le.PutUint64(p[52:], uint64(h.StartTicks))
	le.PutUint64(p[60:], uint64(h.StartMono))
	le.PutUint64(p[68:], uint64(h.StartWall))
	le.PutUint64(p[76:], uint64(h.TickRate))
	le.PutUint64(p[84:], uint64(h.Limit))
	le.PutUint32(p[92:], h.Ring)
	le.PutUint32(p[HeaderSize:], crc32.Checksum(p[:HeaderSize], castagnoli))
	return append(b, p[:]...)
}

// DecodeHeader reads the beginning of a trace. b needs StateOffset+StateSize bytes; with fewer
// the error is ErrEmpty or wraps ErrNotTrace or ErrCorrupt.
func DecodeHeader(b []byte) (Header, State, error) {
	var h Header
	var s State
	if len(b) == 0 {
		return h, s, ErrEmpty
	}
	if len(b) < len(Magic) || string(b[:len(Magic)]) != Magic {
		return h, s, ErrNotTrace
	}
	le := binary.LittleEndian
	if len(b) >= 12 {
		h.Major, h.Minor = le.Uint16(b[8:]), le.Uint16(b[10:])
		if h.Major > Major {
			return h, s, fmt.Errorf("%w (format %d.%d, this tool reads up to %d)", ErrNewer, h.Major, h.Minor, Major)
		}
	}
	if len(b) < StateOffset+StateSize {
		return h, s, fmt.Errorf("%w: the file header is cut off after %d bytes", ErrCorrupt, len(b))
	}
	if got, want := crc32.Checksum(b[:HeaderSize], castagnoli), le.Uint32(b[HeaderSize:]); got != want {
		return h, s, fmt.Errorf("%w: file header checksum %08x, want %08x", ErrCorrupt, got, want)
	}
	h.ChunkSize = le.Uint32(b[12:])
	h.PageSize = le.Uint32(b[16:])
	h.PID = le.Uint32(b[20:])
	h.Clock = Clock(le.Uint32(b[24:]))
	h.Path = Path(le.Uint16(b[28:]))
	h.Backing = Backing(le.Uint16(b[30:]))
	h.Witness = uint32(le.Uint16(b[32:]))
	h.Segments = le.Uint16(b[34:])
	copy(h.ID[:], b[36:52])
	h.StartTicks = int64(le.Uint64(b[52:]))
	h.StartMono = int64(le.Uint64(b[60:]))
	h.StartWall = int64(le.Uint64(b[68:]))
	h.TickRate = int64(le.Uint64(b[76:]))
	h.Limit = int64(le.Uint64(b[84:]))
	h.Ring = le.Uint32(b[92:])
	return h, DecodeState(b[StateOffset:]), h.sound()
}

// sound returns why numbers in the header, whose checksum is right, are impossible.
func (h *Header) sound() error {
	if h.ChunkSize < 4<<10 || h.ChunkSize > 16<<20 || h.ChunkSize&(h.ChunkSize-1) != 0 {
		return fmt.Errorf("%w: chunk size %d", ErrCorrupt, h.ChunkSize)
	}
	if h.TickRate <= 0 || h.StartTicks <= 0 || h.StartTicks >= MaxTicks {
		return fmt.Errorf("%w: clock rate %d, start %d", ErrCorrupt, h.TickRate, h.StartTicks)
	}
	if n := uint32(h.Segments); n > 0 && (h.Ring == 0 || h.Ring%n != 0 || h.ChunkSize != ChunkSize) {
		return errSegments
	}
	return nil
}

// Reserved returns the unused parts of chunk 0.
func (h *Header) Reserved() [][2]int {
	end := int(h.ChunkSize)
	if h.HasCounters() {
		end = CountersOffset
	}
	return [][2]int{{HeaderSize + 4, StateOffset}, {StateOffset + StateFiles + 8, ControlOffset},
		{ControlOffset + answerHead + 8, ControlOffset + requestText}, {ControlOffset + ControlSize, end}}
}

// Within refuses a file of size bytes that is cut off within its first chunk, if the header
// gives that more than a MiB: it has no contents, and a reader that reads chunk by chunk would need
// many times its size. The error wraps ErrCorrupt.
func (h *Header) Within(size int64) error {
	if h.ChunkSize > 1<<20 && size < int64(h.ChunkSize) {
		return fmt.Errorf("%w: the file is cut off within its first chunk, of %d bytes", ErrCorrupt, h.ChunkSize)
	}
	return nil
}

// Offsets of State's words from StateOffset.
const (
	StateClosed      = 0
	StateTick        = 8
	StateEnd         = 16
	StateLost        = 24
	StateOverwritten = 32
	StateUntil       = 40
	StateJoined      = 48
	StateFiles       = 56
)

// DecodeState reads the mutable words; b needs StateSize bytes.
func DecodeState(b []byte) State {
	le := binary.LittleEndian
	return State{
		Closed: le.Uint64(b[StateClosed:]) == 1,
		Tick:   int64(le.Uint64(b[StateTick:])),
		End:    int64(le.Uint64(b[StateEnd:])),
		Lost:   int64(le.Uint64(b[StateLost:])),

		Overwritten: int64(le.Uint64(b[StateOverwritten:])),
		Until:       int64(le.Uint64(b[StateUntil:])),
		Joined:      le.Uint64(b[StateJoined:]) == 1,
		Files:       int64(le.Uint64(b[StateFiles:])),
	}
}

// PutState writes the mutable words to b, of StateSize bytes.
func PutState(b []byte, s *State) {
	word := func(at int, v int64) { binary.LittleEndian.PutUint64(b[at:], uint64(v)) }
	flag := func(at int, set bool) {
		if word(at, 0); set {
			word(at, 1)
		}
	}
	flag(StateClosed, s.Closed)
	word(StateTick, s.Tick)
	word(StateEnd, s.End)
	word(StateLost, s.Lost)
	word(StateOverwritten, s.Overwritten)
	word(StateUntil, s.Until)
	flag(StateJoined, s.Joined)
	word(StateFiles, s.Files)
}

// ChunkKind says what a chunk holds.
type ChunkKind uint8

const (
	ChunkRecords ChunkKind = 1
	ChunkBlocks  ChunkKind = 2
)

// chunkMagic begins every chunk that was handed out; it is stored last.
const chunkMagic = 0x6b6e6843 // "Chnk"

// PackedMagic is the first eight bytes of a packed trace: docs/packed.md.
const PackedMagic = "SCOPEPAK"

// lostMagic replaces the beginning of a chunk that can't be unpacked when a packed trace is
// read.
const lostMagic = 0x74736f4c // "Lost"

// ErrLost is the error for a chunk that can't be unpacked.
var ErrLost = errors.New("corrupt: the packed file is cut off or damaged where it was")

// PutLostChunk marks b as a chunk that can't be unpacked. IsLost reports whether b is one.
func PutLostChunk(b []byte) { binary.LittleEndian.PutUint32(b, lostMagic) }

// IsLost reports whether b was marked by PutLostChunk.
func IsLost(b []byte) bool { return len(b) >= 4 && binary.LittleEndian.Uint32(b) == lostMagic }

// Flags of a chunk, set by its writer before the records they describe are published.
const (
	FlagEnds  = 1 << 0 // there are ends apart in this chunk
	FlagFinal = 1 << 1 // written out: no end will complete a record in place any more
	FlagKept  = 1 << 2 // in a ring: a chunk of blocks that is never reused
)

// ChunkHeader is the first 64 bytes of a chunk.
type ChunkHeader struct {
	Kind   ChunkKind
	Path   Path   // the path of its writers
	Index  uint32 // the chunk's place in the file: offset / chunk size
	Owner  uint32 // number of the P (assembly path) or of the stripe (Go path)
	Since  int64  // ticks when it was handed out: nothing in it starts earlier
	Gen    uint32 // 1; in a ring it counts how often the numbering restarted
	Flags  uint32
	Sealed int64 // 0 while its owner may write; else the bytes used, header included

	// Number identifies a chunk of a ring, by ends apart for instance, while Index is its place.
	// Chunks are numbered in the order in which they are handed out, up to a number that the
	// writer chooses, and then from 1 again. It is 0 in kept chunks, and without a ring, where a
	// chunk's number is its index.
	Number uint32

	// Final is the tick at which a chunk of records became final: nothing in it starts later. 0:
	// unknown.
	Final int64
}

// ChunkID identifies the chunk in a place: another chunk has another ID.
type ChunkID struct {
	Since       int64
	Number, Gen uint32
	Kind        ChunkKind
}

// ID returns the chunk's ID.
func (h *ChunkHeader) ID() ChunkID { return ChunkID{h.Since, h.Number, h.Gen, h.Kind} }

// RingNumbers is the largest number of a ring's chunk.
const RingNumbers = 1<<24 - 1<<12 - 1

// Offsets of the chunk header's words that change after it is handed out.
const (
	ChunkFlagsOffset  = 28
	ChunkSealedOffset = 32
	ChunkFinalOffset  = 48
)

// PutChunkHeader writes h, including the magic, to b[:ChunkHeaderSize].
func PutChunkHeader(b []byte, h *ChunkHeader) {
	le := binary.LittleEndian
	b = b[:ChunkHeaderSize]
	clear(b)
	le.PutUint32(b[0:], chunkMagic)
	b[4] = byte(h.Kind)
	b[5] = byte(h.Path)
	le.PutUint32(b[8:], h.Index)
	le.PutUint32(b[12:], h.Owner)
	le.PutUint64(b[16:], uint64(h.Since))
	le.PutUint32(b[24:], h.Gen)
	le.PutUint32(b[28:], h.Flags)
	le.PutUint64(b[32:], uint64(h.Sealed))
	le.PutUint32(b[40:], h.Number)
	le.PutUint64(b[48:], uint64(h.Final))
}

// DecodeChunkHeader reads a chunk header. ok is false if no chunk was handed out (the magic is
// zero) or b is too short; err reports an invalid header at file offset off.
func DecodeChunkHeader(b []byte, off int64, chunkSize uint32) (h ChunkHeader, ok bool, err error) {
	if len(b) < ChunkHeaderSize {
		return h, false, nil
	}
	le := binary.LittleEndian
	switch m := le.Uint32(b); m {
	case 0:
		return h, false, nil
	case chunkMagic:
	default:
		return h, false, fmt.Errorf("%w: chunk magic %08x", ErrCorrupt, m)
	}
	h.Kind = ChunkKind(b[4])
	h.Path = Path(b[5])
	h.Index = le.Uint32(b[8:])
	h.Owner = le.Uint32(b[12:])
	h.Since = int64(le.Uint64(b[16:]))
	h.Gen = le.Uint32(b[24:])
	h.Flags = le.Uint32(b[28:])
	h.Sealed = int64(le.Uint64(b[32:]))
	h.Number = le.Uint32(b[40:])
	h.Final = int64(le.Uint64(b[48:]))
	if int64(h.Index)*int64(chunkSize) != off {
		return h, false, fmt.Errorf("%w: chunk says it is number %d", ErrCorrupt, h.Index)
	}
	if h.Sealed < 0 || h.Sealed > int64(chunkSize) {
		return h, false, fmt.Errorf("%w: chunk says %d bytes are used", ErrCorrupt, h.Sealed)
	}
	if h.Since <= 0 || h.Since >= MaxTicks {
		return h, false, fmt.Errorf("%w: chunk says it began at tick %d", ErrCorrupt, h.Since)
	}
	return h, true, nil
}
