package trace_test

import (
	"encoding/binary"
	"math"
)

// slot is a value of an extension (§5).
type slot struct {
	typ   int
	value uint64
	text  []byte
}

type oRecord struct {
	loc               int64
	start, word1      int64
	goid, word3       uint64
	kind, name        int
	hasExt            bool
	slots             []slot
	thread, owner     uint32
	since, recorded   int64
	made              bool // of an overwritten chunk: from a carry, or an end
	open, good        bool
	begin, stop, time int64
	cpu               uint64
	end               *oRecord
}

func newORecord(b []byte, loc int64) *oRecord {
	head := u64(b, 16)
	return &oRecord{loc: loc, start: i64(b, 0), word1: i64(b, 8), word3: u64(b, 24),
		goid: head & (1<<40 - 1), kind: int(head >> 40 & 127), hasExt: head>>47&1 == 1, name: int(head >> 48)}
}

func isExt(word uint64) bool { return word>>60 == 7 && word&255 != 0 }

// extend reads the slots of a whole extension.
func (r *oRecord) extend(ext []byte) {
	at := 8
	for i := range 12 {
		typ := int(u64(ext, 0) >> (12 + 4*i) & 15)
		if typ == 0 || at+8 > len(ext) {
			return
		}
		s := slot{typ: typ, value: u64(ext, at)}
		at += 8
		if typ == 6 || typ == 7 {
			kept := int(uint32(s.value))
			if kept > 1024 || at+kept > len(ext) {
				return
			}
			s.text, s.value = ext[at:at+kept], min(s.value>>32, math.MaxInt32) // no text was longer
			at += (kept + 7) &^ 7
		}
		r.slots = append(r.slots, s)
	}
}

// has reports whether the slots begin with those types.
func (r *oRecord) has(types ...int) bool {
	if len(r.slots) < len(types) {
		return false
	}
	for i, t := range types {
		if r.slots[i].typ != t {
			return false
		}
	}
	return true
}

// begun returns the begin that an end apart describes, nil if it describes none.
func (r *oRecord) begun() *oRecord {
	if !r.has(9, 10, 14) || r.slots[2].value == 0 {
		return nil
	}
	var b [32]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(r.word1))
	binary.LittleEndian.PutUint64(b[8:], 1<<63)
	binary.LittleEndian.PutUint64(b[16:], r.slots[2].value)
	return newORecord(b[:], 0)
}

// walk goes over the records of a chunk (§4) that begin before end; an extension may extend to the
// limit.
func walk(c []byte, end, limit int, loc int64, f func(*oRecord)) {
	thread := uint32(0)
	for at := 64; at+32 <= end; {
		word := u64(c, at)
		switch {
		case isExt(word):
			at += 32 * int(word&255)
		case word == 0 || word >= maxTicks:
			at += 32
		default:
			r := newORecord(c[at:], loc+int64(at))
			at += 32
			if r.hasExt && at+8 <= limit && isExt(u64(c, at)) {
				n := 32 * int(c[at])
				if at+n <= limit {
					r.extend(c[at : at+n])
				} else {
					n = limit
				}
				at += n
			}
			if r.kind == kAnchor {
				thread = uint32(r.word1)
			}
			r.thread = thread
			if r.kind >= kTask && r.kind <= kMade {
				f(r)
			}
		}
	}
}
