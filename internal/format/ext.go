package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// SlotType is the type of one value in an extension.
type SlotType uint8

const (
	SlotEnd      SlotType = 0  // no further slot
	SlotInt      SlotType = 1  // int64
	SlotUint     SlotType = 2  // uint64
	SlotFloat    SlotType = 3  // float64, IEEE bits
	SlotBool     SlotType = 4  // 0 or 1
	SlotDuration SlotType = 5  // int64 ns
	SlotString   SlotType = 6  // a word: bytes kept (0-31), original bytes (32-63); then the bytes, padded to 8
	SlotType_    SlotType = 7  // like SlotString: the name of a type whose value is not recorded
	SlotKey      SlotType = 8  // name id: the key of the next slot
	SlotLoc      SlotType = 9  // file offset of a record
	SlotGoid     SlotType = 10 // goroutine id
	SlotUser     SlotType = 11 // process CPU time in user mode, ns
	SlotSystem   SlotType = 12 // process CPU time in the kernel, ns
	SlotAddr     SlotType = 13 // address of an object
	SlotBegin    SlotType = 14 // word 2 of the record that an end apart ends
	SlotCut      SlotType = 15 // number of further arguments, which did not fit
)

// SlotNames are the types' names in the text form; empty: not used in this version.
var SlotNames = [16]string{"", "int", "uint", "float", "bool", "duration", "string", "type", "key", "loc", "goid", "user", "system", "addr", "begin", "cut"}

// Limits of an extension.
const (
	MaxSlots    = 12  // a key is a slot of its own
	MaxExtUnits = 255 // of RecordSize bytes, header word included
	extTag      = 7   // the top four bits of a header word; times have 0 there
)

// ExtHeader packs an extension's header word: units of 32 bytes, header
// included, and the slots' types, four bits each, first slot lowest.
//
//	units (0-7) | 0 (8-11) | 12 slot types (12-59) | 7 (60-63)
func ExtHeader(units int, types uint64) uint64 {
	return uint64(units)&0xff | types<<12&(1<<60-1) | extTag<<60
}

// IsExt distinguishes an extension's header word from a record's start.
func IsExt(word uint64) bool { return word>>60 == extTag && word&0xff != 0 }

// ExtUnits returns the length in units of RecordSize given in a header word.
func ExtUnits(word uint64) int { return int(word & 0xff) }

// Slot is one decoded value of an extension. Str aliases the bytes decoded.
type Slot struct {
	Type  SlotType
	Value uint64 // of types without bytes
	Str   []byte // for SlotString and SlotType_
	Full  int    // length of Str before it was cut to MaxString
}

// Renamed marks, at the end of a task, a key that is not an argument's but the task's final name.
// scopeotel writes it: a span may get its name long after its begin.
const Renamed = "scopeotel.renamed"

// RenamedAt returns the index of the last slot, in an end's slots, that is a name followed by
// Renamed; -1: none.
func RenamedAt(slots []Slot) int {
	for i := len(slots) - 1; i > 0; i-- {
		if slots[i].Type == SlotType_ && slots[i-1].Type == SlotKey && string(slots[i].Str) == Renamed {
			return i - 1
		}
	}
	return -1
}

// spanKind is the prefix of the type names that scopeotel records without a key: the kind of a span
// follows it.
const spanKind = "scopeotel."

// SpanKind returns the kind of a span as text, such as server, if a slot without a key holds one.
func (s *Slot) SpanKind() (kind []byte, ok bool) {
	if s.Type != SlotType_ {
		return nil, false
	}
	return bytes.CutPrefix(s.Str, []byte(spanKind))
}

// Int and Float return Value according to its type.
func (s *Slot) Int() int64     { return int64(s.Value) }
func (s *Slot) Float() float64 { return math.Float64frombits(s.Value) }

// DecodeExt appends the slots of the extension at the beginning of b, which must hold all its
// units. On an error it returns the slots before the invalid one.
func DecodeExt(dst []Slot, b []byte) ([]Slot, error) {
	if len(b) < RecordSize {
		return dst, fmt.Errorf("%w: extension of %d bytes", ErrCorrupt, len(b))
	}
	le := binary.LittleEndian
	h := le.Uint64(b)
	if !IsExt(h) {
		return dst, fmt.Errorf("%w: extension header %016x", ErrCorrupt, h)
	}
	n := ExtUnits(h) * RecordSize
	if n > len(b) {
		return dst, fmt.Errorf("%w: extension of %d units in %d bytes", ErrCorrupt, ExtUnits(h), len(b))
	}
	b = b[:n]
	at := 8
	for i := range MaxSlots {
		t := SlotType(h >> (12 + 4*i) & 15)
		if t == SlotEnd {
			break
		}
		if at+8 > n {
			return dst, fmt.Errorf("%w: slot %d is beyond its extension", ErrCorrupt, i)
		}
		v := le.Uint64(b[at:])
		at += 8
		s := Slot{Type: t, Value: v}
		if t == SlotString || t == SlotType_ {
			if uint32(v) > MaxString || int(uint32(v)) > n-at {
				return dst, fmt.Errorf("%w: slot %d: string of %d bytes", ErrCorrupt, i, uint32(v))
			}
			kept := int(uint32(v))
			s.Value, s.Full = 0, int(min(v>>32, math.MaxInt32)) // also if int has 32 bits
			s.Str = b[at : at+kept]
			at += (kept + 7) &^ 7
		}
		dst = append(dst, s)
	}
	return dst, nil
}

// AppendExt appends an extension with the given slots. It is the simple form of what the recorder
// does in place; slots beyond MaxSlots are an error.
func AppendExt(b []byte, slots []Slot) ([]byte, error) {
	if len(slots) > MaxSlots {
		return b, fmt.Errorf("%d slots, at most %d fit", len(slots), MaxSlots)
	}
	le := binary.LittleEndian
	start := len(b)
	b = append(b, make([]byte, 8)...)
	var types uint64
	for i, s := range slots {
		types |= uint64(s.Type) << (4 * i)
		if s.Type == SlotString || s.Type == SlotType_ {
			b = le.AppendUint64(b, uint64(uint32(len(s.Str)))|uint64(max(s.Full, len(s.Str)))<<32)
			b = append(b, s.Str...)
			b = append(b, make([]byte, -len(s.Str)&7)...)
			continue
		}
		b = le.AppendUint64(b, s.Value)
	}
	b = append(b, make([]byte, -(len(b)-start)&(RecordSize-1))...)
	units := (len(b) - start) / RecordSize
	if units > MaxExtUnits {
		return b[:start], fmt.Errorf("extension of %d units, at most %d fit", units, MaxExtUnits)
	}
	le.PutUint64(b[start:], ExtHeader(units, types))
	return b, nil
}
