package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// magic is the beginning of the line tables of Go 1.20 and later, in the program's byte
// order (internal/abi.Go120PCLnTabMagic).
const magic = 0xfffffff1

// table is a line table. Its format is in runtime/symtab.go (pcHeader, _func) and
// cmd/link/internal/ld/pcln.go; debug/gosym reads it too.
type table struct {
	order   binary.ByteOrder
	quantum uint64
	text    uint64 // the address that functions are relative to

	count                           int // number of functions
	names, units, files, steps, tab []byte

	texts map[uint32]string // names of files that were read
	size  int64
	left  int64 // remaining steps: a hostile table could have steps without end
}

// entry has the offsets of a function's tables.
type entry struct {
	pcfile, pcline, unit uint32
	pcsp                 uint32 // values by PC: the distance of the stack pointer below the return address
	inlined              uint32 // values by PC: an index into the tree of inlined calls
	tree                 uint32 // offset of that tree in go:func.*
	flag                 uint8  // internal/abi.FuncFlag
}

// The flags of a function that are used.
const (
	flagTop   = 1 << 0 // it has no caller
	flagMoves = 1 << 1 // it writes the stack pointer, which the table does not cover
)

// none is the offset of a missing table.
const none = ^uint32(0)

var errTable = errors.New("its table of functions and lines is damaged")

// search finds a line table by its first bytes, in executables without a section for it.
func search(sections [][]byte) ([]byte, error) {
	for _, d := range sections {
		for _, head := range []string{"\xf1\xff\xff\xff\x00\x00", "\xff\xff\xff\xf1\x00\x00"} {
			for from := 0; ; {
				i := bytes.Index(d[from:], []byte(head))
				if i < 0 {
					break
				}
				from += i
				if t, err := newTable(d[from:], 0); err == nil && t.count > 0 {
					return d[from:], nil
				}
				from++
			}
		}
	}
	return nil, ErrNoTable
}

// newTable parses a table's header.
func newTable(b []byte, text uint64) (*table, error) {
	t := &table{text: text, texts: map[uint32]string{}, size: int64(len(b))}
	if len(b) < 8 {
		return nil, ErrNoTable
	}
	switch {
	case binary.LittleEndian.Uint32(b) == magic:
		t.order = binary.LittleEndian
	case binary.BigEndian.Uint32(b) == magic:
		t.order = binary.BigEndian
	default:
		return nil, ErrNoTable
	}
	word := int(b[7])
	t.quantum = uint64(b[6])
	if t.quantum != 1 && t.quantum != 2 && t.quantum != 4 || word != 4 && word != 8 || len(b) < 8+8*word {
		return nil, errTable
	}
	number := func(i int) uint64 {
		at := b[8+i*word:]
		if word == 4 {
			return uint64(t.order.Uint32(at))
		}
		return t.order.Uint64(at)
	}
	for i, to := range []*[]byte{&t.names, &t.units, &t.files, &t.steps, &t.tab} {
		from := number(3 + i)
		if from > uint64(len(b)) {
			return nil, errTable
		}
		*to = b[from:]
	}
	n := number(0)
	if n > uint64(len(t.tab))/8 || 8*n+4 > uint64(len(t.tab)) {
		return nil, errTable
	}
	t.count = int(n)
	return t, nil
}

// functions lists the functions.
func (t *table) functions() ([]Func, error) {
	t.refill()
	list := make([]Func, 0, t.count)
	for i := range t.count {
		at := t.tab[8*i:]
		entryOff, info, end := t.order.Uint32(at), t.order.Uint32(at[4:]), t.order.Uint32(at[8:])
		// struct _func: entryOff, nameOff, args, deferreturn, pcsp, pcfile, pcln, npcdata,
		// cuOffset, startLine
		const size = 40
		if uint64(info)+size+2 > uint64(len(t.tab)) || end < entryOff {
			return nil, fmt.Errorf("%w: function %d", errTable, i)
		}
		word := func(k int) uint32 { return t.order.Uint32(t.tab[int(info)+4*k:]) }
		f := Func{
			Name: cstring(t.names, word(1)), Entry: t.text + uint64(entryOff), End: t.text + uint64(end), Line: int(int32(word(9))),
			info: entry{pcsp: word(4), pcfile: word(5), pcline: word(6), unit: word(8), inlined: none, tree: none, flag: t.tab[int(info)+size+1]},
		}
		t.inlining(&f.info, uint64(info), word(7))
		if n := len(list); n > 0 && f.Entry < list[n-1].Entry {
			return nil, fmt.Errorf("%w: function %d is out of order", errTable, i)
		}
		t.lines(&f, func(_, _ uint64, file string, _ int) bool {
			f.File = file
			return false
		})
		list = append(list, f)
	}
	return list, nil
}

// inlining finds a function's tables of inlined calls, after the struct that begins at at.
func (t *table) inlining(e *entry, at uint64, pcdata uint32) {
	// internal/abi: PCDATA_InlTreeIndex, FUNCDATA_InlTree
	const index, tree, size = 2, 3, 44
	if at+size > uint64(len(t.tab)) || pcdata <= index || pcdata > 16 {
		return
	}
	funcdata := t.tab[at+size-1] // the number of them
	from := at + size
	if need := from + 4*uint64(pcdata) + 4*uint64(funcdata); funcdata <= tree || need > uint64(len(t.tab)) {
		return
	}
	e.inlined = t.order.Uint32(t.tab[from+4*index:])
	e.tree = t.order.Uint32(t.tab[from+4*uint64(pcdata)+4*tree:])
}

// value returns the value of a table of values by PC at pc; ok is false if it has none.
func (t *table) value(off uint32, fn *Func, pc uint64) (v int64, ok bool) {
	if off == none || off == 0 || uint64(off) >= uint64(len(t.steps)) {
		return 0, false
	}
	w := walk{b: t.steps[off:], value: -1, to: fn.Entry, first: true}
	for t.next(&w) {
		if pc < w.to {
			return w.value, true
		}
	}
	return 0, false
}

// refill resets the limit of steps, to more than any sound table has.
func (t *table) refill() { t.left = 64 * t.size }

// longest limits the length of a name of a function or a file.
const longest = 1 << 16

// cstring returns the zero-terminated text at an offset.
func cstring(b []byte, at uint32) string {
	if uint64(at) >= uint64(len(b)) {
		return ""
	}
	b = b[at:min(len(b), int(at)+longest)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// file returns the name of a file of a compilation unit.
func (t *table) file(unit uint32, n int64) string {
	at := 4 * (int64(unit) + n)
	if n < 0 || at+4 > int64(len(t.units)) {
		return ""
	}
	off := t.order.Uint32(t.units[at:])
	if off == ^uint32(0) {
		return ""
	}
	text, ok := t.texts[off]
	if !ok {
		text = cstring(t.files, off)
		t.texts[off] = text
	}
	return text
}

// walk is the state of a walk over one table of values by PC.
type walk struct {
	b     []byte
	value int64
	to    uint64 // value holds up to here
	first bool
}

// next goes to the next value; it reports whether there is one.
func (t *table) next(w *walk) bool {
	delta, n := binary.Uvarint(w.b)
	if n <= 0 || delta == 0 && !w.first {
		return false
	}
	w.b = w.b[n:]
	w.first = false
	if delta&1 != 0 {
		w.value += int64(^(delta >> 1))
	} else {
		w.value += int64(delta >> 1)
	}
	more, n := binary.Uvarint(w.b)
	if n <= 0 || more > 1<<32 {
		return false
	}
	w.b = w.b[n:]
	w.to += more * t.quantum
	t.left--
	return t.left > 0
}

// lines calls f with the stretches of a function's code that are of one line, by address,
// until f returns false. Line 0 means unknown.
func (t *table) lines(fn *Func, f func(from, to uint64, file string, line int) bool) {
	if uint64(fn.info.pcfile) >= uint64(len(t.steps)) || uint64(fn.info.pcline) >= uint64(len(t.steps)) || fn.info.pcline == 0 {
		return
	}
	file := walk{b: t.steps[fn.info.pcfile:], value: -1, to: fn.Entry, first: true}
	line := walk{b: t.steps[fn.info.pcline:], value: -1, to: fn.Entry, first: true}
	fileOK, lineOK := t.next(&file), t.next(&line)
	for pc := fn.Entry; fileOK && lineOK && pc < fn.End; {
		to := min(file.to, line.to, fn.End)
		if to > pc && !f(pc, to, t.file(fn.info.unit, file.value), int(max(line.value, 0))) {
			return
		}
		pc = max(pc, to)
		if file.to <= to {
			fileOK = t.next(&file)
		}
		if line.to <= to {
			lineOK = t.next(&line)
		}
	}
}
