package pack

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// class is the meaning of words 1 and 3 of a record, as far as the model knows it.
type class uint8

const (
	classOther class = iota
	classEnded       // a stop and a CPU time
	classOpen        // a scope that is open, or ends apart
	classEnd         // an end apart
)

// shapeKey holds what records of one shape have in common: the head without the goroutine, with
// flags in its place, and the types of the slots.
type shapeKey struct{ head, slots uint64 }

const (
	flagEnded    = 1 << 2
	flagExtended = 1 << 3
)

func (k *shapeKey) extended() bool          { return k.head&flagExtended != 0 }
func (k *shapeKey) quality() format.Quality { return format.Quality(k.head & 3) }

// shape is a shape, and the predictions for its next record.
type shape struct {
	key   shapeKey
	class class
	types []format.SlotType
	means [5]int64 // eight times the mean time: of a begin after a begin, after an end; of an end after a begin, after an end; of the slack
	words [2]uint64
	slots [format.MaxSlots]uint64
	begin uint64 // the loc of its last record
}

// head returns word 2 of the shape's records, without the goroutine.
func (s *shape) head() uint64 { return s.key.head &^ format.MaxGoid }

func (s *shape) set(k shapeKey) {
	*s = shape{key: k, types: s.types[:0]}
	head := format.Record{Head: k.head}
	kind := head.Kind()
	spec := kind.Spec()
	switch {
	case kind == format.KindEnd:
		s.class = classEnd
	case spec == nil || !spec.Scope:
	case k.head&flagEnded != 0:
		s.class = classEnded
	default:
		s.class = classOpen
	}
	for types := k.slots; types != 0 && len(s.types) < format.MaxSlots; types >>= 4 {
		s.types = append(s.types, format.SlotType(types&15))
	}
}

// addShape adds a new shape.
func (m *model) addShape(k shapeKey) {
	n := len(m.shapes)
	if n < cap(m.shapes) {
		m.shapes = m.shapes[:n+1]
	} else {
		m.shapes = append(m.shapes, shape{})
	}
	m.shapes[n].set(k)
}

// look returns the shape of the place at.
func (m *model) look(at int) int {
	start, head := m.word(at), m.word(at+16)
	if start-1 >= format.MaxTicks-1 {
		if start|m.word(at+8)|head|m.word(at+24) == 0 {
			return shapeHole
		}
		return shapeOther
	}
	k := shapeKey{head: head &^ format.MaxGoid}
	kind := format.Kind(head >> 40 & 0x7f)
	if spec := kind.Spec(); kind == format.KindEnd || spec != nil && spec.Scope && int64(m.word(at+8)) >= 0 {
		k.head |= m.word(at+24)&3 | flagEnded
	}
	if head&format.ExtBit != 0 {
		if types, ok := m.canonical(at + unit); ok {
			k.head |= flagExtended
			k.slots = types
		}
	}
	r := &m.recent[(k.head*0x9e3779b97f4a7c15^k.slots*0xc2b2ae3d27d4eb4f)>>56]
	if i := *r - firstShape; i >= 0 && i < len(m.shapes) && m.shapes[i].key == k {
		return *r
	}
	n, ok := m.known[k]
	if !ok {
		n = len(m.shapes) + firstShape
		m.known[k] = n
		m.code(colShapeHead, k.head, 0)
		m.code(colShapeSlots, k.slots, 0)
		m.addShape(k)
	}
	*r = n
	return n
}

// canonical reports whether the extension at the place at is exactly what its slots encode to, and
// returns their types.
func (m *model) canonical(at int) (types uint64, ok bool) {
	if at+unit > m.end {
		return 0, false
	}
	h := m.word(at)
	to := at + format.ExtUnits(h)*unit
	if !format.IsExt(h) || h&0xf00 != 0 || to > m.end {
		return 0, false
	}
	types = h >> 12 & (1<<48 - 1)
	pos := at + 8
	for left := types; left != 0; left >>= 4 {
		t := format.SlotType(left & 15)
		if t == format.SlotEnd || pos+8 > to {
			return 0, false // a slot behind the last
		}
		w := m.word(pos)
		pos += 8
		if isText(t) {
			n := int(uint32(w))
			if w>>32 < uint64(n) || n > to-pos || !zeros(m.b[pos+n:pos+(n+7)&^7]) {
				return 0, false
			}
			pos += (n + 7) &^ 7
		}
	}
	return types, to-pos < unit && zeros(m.b[pos:to])
}

func isText(t format.SlotType) bool { return t == format.SlotString || t == format.SlotType_ }

func zeros(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// extension codes the extension of the record at the place at, and returns the place behind it.
func (m *model) extension(at int, sh *shape, g *goroutine) int {
	pos := at + unit + 8
	for i, t := range sh.types {
		if pos+8 > m.end {
			m.bad = true
			return m.end
		}
		w, last := m.word(pos), &sh.slots[i]
		switch {
		case isText(t):
			pos = m.text(pos, last)
			continue
		case t == format.SlotLoc:
			pred := *last
			if n := len(g.open); n > 0 && sh.class == classEnd {
				pred = m.number()*uint64(len(m.b)) + uint64(g.open[n-1])
			}
			w = m.code(colLoc, w, pred)
			m.closed(g, w)
			sh.begin = w
		case t == format.SlotGoid && sh.class == classEnd:
			w = m.code(colRef, w, g.goid)
		case t == format.SlotBegin:
			pred := *last
			if off, ok := m.here(sh.begin, at); ok {
				pred = m.word(off + 16)
			}
			w = m.code(colRef, w, pred)
		default:
			w = m.code(colArg+column(i), w, *last)
		}
		*last = w
		m.same(pos, w)
		pos += 8
	}
	to := at + unit + (pos-at-unit+unit-1)/unit*unit
	units := (to - at - unit) / unit
	if to > m.end || units > format.MaxExtUnits {
		m.bad = true
		return m.end
	}
	m.same(at+unit, format.ExtHeader(units, sh.key.slots))
	m.zero(pos, to)
	return to
}

// closed removes the scope at loc from the open ones of g, if it is the last one.
func (m *model) closed(g *goroutine, loc uint64) {
	n := len(g.open)
	if off, ok := m.here(loc, len(m.b)); ok && n > 0 && g.open[n-1] == off {
		g.open = g.open[:n-1]
	}
}

// texts holds the texts of a group's slots, each once.
type texts struct {
	known map[string]int // packing: by the slot's word and its bytes
	all   []textOf
	bytes []byte
	key   []byte
}

type textOf struct {
	at int
	n  int
	of uint64 // length before it was cut
}

func (x *texts) reset() {
	clear(x.known)
	x.all, x.bytes = x.all[:0], x.bytes[:0]
}

// text codes the slot at pos, and returns the end of its bytes. last holds the expected number of
// the text: the one behind the last number.
func (m *model) text(pos int, last *uint64) int {
	i := uint64(0)
	if m.packing {
		i = uint64(m.numberOf(pos))
	}
	i = m.code(colText, i, *last)
	*last = i + 1
	if i >= uint64(len(m.texts.all)) {
		m.bad = true
		return pos
	}
	x := m.texts.all[i]
	to := pos + 8 + (x.n+7)&^7
	if to > m.end {
		m.bad = true
		return pos
	}
	if !m.packing {
		m.put(pos, uint64(x.n)|x.of<<32)
		clear(m.b[pos+8+copy(m.b[pos+8:], m.texts.bytes[x.at:x.at+x.n]) : to])
	}
	return to
}

// numberOf returns the number of the text at pos, and adds the text if it is new.
func (m *model) numberOf(pos int) int {
	w := m.word(pos)
	b := m.b[pos+8 : pos+8+int(uint32(w))]
	x := &m.texts
	x.key = append(binary.LittleEndian.AppendUint64(x.key[:0], w), b...)
	if i, ok := x.known[string(x.key)]; ok {
		return i
	}
	n := len(x.all)
	x.known[string(x.key)] = n
	m.code(colTextLen, uint64(len(b)), 0)
	m.code(colTextCut, w>>32-uint64(len(b)), 0)
	x.all = append(x.all, textOf{len(x.bytes), len(b), w >> 32})
	x.bytes = append(x.bytes, b...)
	return n
}
