package format

import (
	"encoding/binary"
	"sync/atomic"
)

// Record is a record as stored in a chunk.
type Record struct {
	Start int64  // word 0: ticks; 0: no record
	Stop  int64  // word 1: ticks once ended, negative while open; see Specs for other kinds
	Head  uint64 // word 2: goroutine, kind, extension bit, name
	CPU   uint64 // word 3: CPU ticks << 2 | Quality; see Specs for other kinds
}

// Loc is the position by which records refer to each other: a chunk's number × the chunk
// size + the position in it. Without a ring that is the offset in the file; in a ring the
// chunk with that number may be anywhere, and a later one may have the same number.
type Loc int64

// Limits of the fields.
const (
	RecordSize = 32
	MaxTicks   = 1 << 60 // times are below
	MaxGoid    = 1<<40 - 1
	MaxNames   = 1 << 16 // name ids are below
	MaxName    = 1 << 10 // bytes of a name that are kept
	MaxString  = 1 << 10 // bytes of a string argument that are kept
)

// Name ids with a fixed meaning.
const (
	NameEmpty = 0 // the empty name
	NameOther = 1 // stands for names beyond the table's limits: "(other names)"
	FirstName = 2
)

// OtherNames is the text of NameOther.
const OtherNames = "(other names)"

// Head packs word 2.
func Head(goid uint64, k Kind, ext bool, name uint16) uint64 {
	h := goid&MaxGoid | uint64(k)<<40 | uint64(name)<<48
	if ext {
		h |= ExtBit
	}
	return h
}

// ExtBit in word 2 means that an extension follows the record.
const ExtBit = 1 << 47

// Accessors of word 2.
func (r *Record) Goid() uint64 { return r.Head & MaxGoid }
func (r *Record) Kind() Kind   { return Kind(r.Head >> 40 & 0x7f) }
func (r *Record) Ext() bool    { return r.Head&ExtBit != 0 }
func (r *Record) Name() uint16 { return uint16(r.Head >> 48) }

// Row returns the goroutine whose row the record names, or 0.
func (r *Record) Row() uint64 {
	switch r.Kind() {
	case KindTrack, KindGo:
		return r.Goid()
	case KindMade:
		return uint64(r.Stop) & MaxGoid
	}
	return 0
}

// Open reports whether a scope has not ended.
func (r *Record) Open() bool { return r.Stop < 0 }

// CPUTicks and Quality split word 3 of an ended scope.
func (r *Record) CPUTicks() int64  { return int64(r.CPU >> 2) }
func (r *Record) Quality() Quality { return Quality(r.CPU & 3) }

// DecodeRecord reads the four words; b needs RecordSize bytes.
func DecodeRecord(b []byte) Record {
	_ = b[31]
	le := binary.LittleEndian
	return Record{
		Start: int64(le.Uint64(b)),
		Stop:  int64(le.Uint64(b[8:])),
		Head:  le.Uint64(b[16:]),
		CPU:   le.Uint64(b[24:]),
	}
}

// AppendRecord appends the four words.
func AppendRecord(b []byte, r *Record) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(r.Start))
	b = le.AppendUint64(b, uint64(r.Stop))
	b = le.AppendUint64(b, r.Head)
	return le.AppendUint64(b, r.CPU)
}

// Quality describes how exactly a scope's CPU time is known.
type Quality uint8

const (
	Unknown Quality = 0 // nothing
	Exact   Quality = 1 // the goroutine did not yield, and the scope is too short for the witness to wrap
	Likely  Quality = 2 // the goroutine did not yield, as far as an 8-bit witness can show
	AtMost  Quality = 3 // it yielded once and came back to its thread: the thread's time is an upper bound
)

// ExactBelow is the duration, in nanoseconds, below which equal witnesses prove
// that a goroutine did not yield: its counter has 8 bits and a yield and return
// takes at least 150 ns.
const ExactBelow = 20_000

// CPUSlack is the number of ticks by which a CPU time that another clock supplied may exceed a
// duration of that many ticks.
func CPUSlack(wall int64) int64 { return wall>>10 + 1 }

func (q Quality) String() string {
	return [...]string{"unknown", "exact", "likely", "at most"}[q&3]
}

// OpenStop is word 1 of an open record of the assembly path: the yield witnesses. Readers
// need only its sign and the thread.
//
//	bit 63 | ended apart (62) | thread id (40-61) | P.schedtick (8-39) | g.trackingSeq (0-7)
//
// The Go path stores the start with bit 63 set instead, which is unique to the record. Bit
// 62 means that the record's end is, or was about to be, a record of its own.
func OpenStop(tid, schedtick uint32, seq uint8) int64 {
	return int64(1<<63 | uint64(tid&0x3fffff)<<40 | uint64(schedtick)<<8 | uint64(seq))
}

// ApartBit in word 1 of an open record means that its end is a record of its own.
const ApartBit = 1 << 62

// Kind is the type of a record.
type Kind uint8

const (
	KindTask    Kind = 1
	KindProcess Kind = 2
	KindEvent   Kind = 3
	KindPending Kind = 4
	KindCounter Kind = 5
	KindWait    Kind = 6
	KindHold    Kind = 7
	KindTrack   Kind = 8
	KindGo      Kind = 9
	KindAnchor  Kind = 10
	KindEnd     Kind = 11
	KindTaskf   Kind = 12
	KindMade    Kind = 13
)

// Spec describes a kind: its names in text and CSV, the meaning of its words, and whether
// it is begun and ended.
type Spec struct {
	Kind  Kind
	Name  string // in the text form
	CSV   string // in the kind column; empty: no row of its own
	Scope bool   // begun and ended: word 1 is the stop, word 3 the CPU time
	Word1 string
	Word3 string
	Ext   string // the slots with which its extension always begins
	Doc   string
}

// Specs lists the kinds of this version, by number.
var Specs = []Spec{
	{KindTask, "task", "task", true, "stop", "cpu", "", "a scope: who did what, from when to when"},
	{KindProcess, "process", "process", true, "stop", "cpu", "user system", "a scope with the process's CPU time: its extension holds user and system ns at begin, its end's those at end; it always ends apart"},
	{KindEvent, "event", "event", false, "0", "0", "", "an instant"},
	{KindPending, "pending", "pending", true, "stop", "cpu", "", "an instant at stop; begun earlier, while open it has not happened"},
	{KindCounter, "counter", "counter", false, "value", "type", "", "a value at a time; type is the slot type of the value: int, uint or float"},
	{KindWait, "wait", "wait", true, "stop", "cpu", "addr", "waiting for a lock, from request to grant"},
	{KindHold, "hold", "hold", true, "stop", "cpu", "addr", "holding a lock, from grant to release"},
	{KindTrack, "track", "", false, "0", "0", "", "the goroutine's row is called name from now on"},
	{KindGo, "go", "", false, "creation", "creator", "", "first record of a goroutine made by scope.Go: when it was created and by which goroutine; name is its row's"},
	{KindAnchor, "anchor", "", false, "thread", "cpu_ns", "", "the records that follow in this chunk were begun on this thread, whose CPU clock was cpu_ns at start (-1: unknown)"},
	{KindEnd, "end", "", false, "begin", "cpu", "loc goid", "ends, at start (word 0), the scope that began at word 1: loc is the file offset of its record, goid the goroutine that began it (0: not known any more); the head's goroutine is the one that ended it, 0 where nobody did and its goroutine ended. Further slots: user and system of a process scope, then arguments known at the end"},
	{KindTaskf, "taskf", "task", true, "stop", "cpu", "", "a task whose name is a format for its arguments"},
	{KindMade, "made", "", false, "made", "0", "", "the goroutine of the head has made the goroutine of word 1, whose row is called name from now on: as go, recorded by the creator"},
}

// specByKind is created on first use: programs that only record do not contain the table.
var specByKind atomic.Pointer[[128]*Spec]

// Spec returns the kind's description, or nil for a kind of a later version.
func (k Kind) Spec() *Spec {
	t := specByKind.Load()
	if t == nil {
		t = new([128]*Spec)
		for i := range Specs {
			t[Specs[i].Kind] = &Specs[i]
		}
		specByKind.Store(t)
	}
	return t[k&0x7f]
}

func (k Kind) String() string {
	if s := k.Spec(); s != nil {
		return s.Name
	}
	return "kind-" + itoa(int(k))
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
