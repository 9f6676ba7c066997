package format

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Link is the position of a scope in a request, as the ids of W3C Trace Context.
type Link struct {
	Trace  [16]byte // the request's id; zero: no link
	Span   [8]byte  // the scope's own id; zero: unknown or none
	Parent [8]byte  // the parent scope's id; zero: unknown or none
	Flags  byte     // of the trace: FlagSampled, FlagRandom; not recorded
	State  string   // the header tracestate, valid or empty; not recorded
}

// Flags of a trace defined by W3C Trace Context. Others are reserved, and not passed on.
const (
	FlagSampled = 1 << iota // the trace is sampled, as decided where it began
	FlagRandom              // at least the last 56 bits of its id are random
)

// LinkSlots is the number of consecutive slots of type SlotAddr that make up a link.
const LinkSlots = 4

// Valid reports whether the link is set.
func (l *Link) Valid() bool { return l.Trace != [16]byte{} }

// Words returns the values of the link's slots.
func (l *Link) Words() [LinkSlots]uint64 {
	return [LinkSlots]uint64{word(l.Trace[:8]), word(l.Trace[8:]), word(l.Span[:]), word(l.Parent[:])}
}

// LinkAt returns the index of an extension's link, -1 if it has none. A lock's address is
// a single slot.
func LinkAt(slots []Slot) int {
	for i := 0; i+LinkSlots <= len(slots); i++ {
		s := slots[i : i+LinkSlots]
		if s[0].Type == SlotAddr && s[1].Type == SlotAddr && s[2].Type == SlotAddr && s[3].Type == SlotAddr && s[0].Value|s[1].Value != 0 {
			return i
		}
	}
	return -1
}

// LinkOf returns the link of an extension.
func LinkOf(slots []Slot) (l Link, ok bool) {
	i := LinkAt(slots)
	if i < 0 {
		return l, false
	}
	putWord(l.Trace[:8], slots[i].Value)
	putWord(l.Trace[8:], slots[i+1].Value)
	putWord(l.Span[:], slots[i+2].Value)
	putWord(l.Parent[:], slots[i+3].Value)
	return l, true
}

// word and putWord convert eight bytes of an id to a slot's value, and back: the first
// byte is the highest, so that the value in hexadecimal looks like the id.
func word(b []byte) uint64       { return bits.ReverseBytes64(binary.LittleEndian.Uint64(b)) }
func putWord(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, bits.ReverseBytes64(v)) }

// traceparentLen is the length of a traceparent header of version 00.
const traceparentLen = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

// Traceparent returns the link as a traceparent header, by which the receiver's scopes
// become children of the scope Span; "" if Trace or Span is zero.
func (l Link) Traceparent() string {
	if !l.Valid() || l.Span == [8]byte{} {
		return ""
	}
	var b [traceparentLen]byte
	copy(b[:], "00-")
	hex.Encode(b[3:], l.Trace[:])
	b[35] = '-'
	hex.Encode(b[36:], l.Span[:])
	b[52] = '-'
	hex.Encode(b[53:], []byte{l.Flags & (FlagSampled | FlagRandom)})
	return string(b[:])
}

// ParseTraceparent parses a traceparent header: Span is the sender's scope. ok is false if
// it does not conform to W3C Trace Context. Flags and fields of later versions are
// ignored.
func ParseTraceparent(s string) (l Link, ok bool) {
	if len(s) < traceparentLen || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return l, false
	}
	var version, flags [1]byte
	ok = unhex(version[:], s[:2]) && unhex(l.Trace[:], s[3:35]) && unhex(l.Span[:], s[36:52]) && unhex(flags[:], s[53:55])
	switch {
	case !ok, version[0] == 0xff, !l.Valid(), l.Span == [8]byte{},
		len(s) > traceparentLen && (version[0] == 0 || s[traceparentLen] != '-'):
		return Link{}, false
	}
	l.Flags = flags[0] & (FlagSampled | FlagRandom)
	return l, true
}

// unhex parses lower-case hexadecimal digits, two for each byte of dst.
func unhex(dst []byte, s string) bool {
	bad := byte(0)
	for i := range dst {
		hi, lo := digits[s[2*i]]-1, digits[s[2*i+1]]-1
		bad |= hi | lo
		dst[i] = hi<<4 | lo
	}
	return bad < 16
}

// digits holds the values of digits plus 1; 0 for other characters.
var digits = [256]byte{'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '5': 6, '6': 7, '7': 8, '8': 9, '9': 10,
	'a': 11, 'b': 12, 'c': 13, 'd': 14, 'e': 15, 'f': 16}
