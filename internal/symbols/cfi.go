package symbols

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/unwind"
)

// This file parses call frame information (DWARF 5, section 6.4) in .eh_frame, which stripped
// files have too. Only the registers of the frame pointer and the return address are used. Go's
// library has no reader of it; Delve's is a part of a debugger, without promises to importers, and
// has the rules of all registers, of which an unwind.Rule would still have to be made.

// cfi is a file's call frame information.
type cfi struct {
	machine elf.Machine
	order   binary.ByteOrder
	list    []cfiEntry // by from
}

// cfiEntry is the information on a function's code.
type cfiEntry struct {
	from, to uint64
	common   *cfiCommon
	code     []byte
}

// cfiCommon is the common part of several entries.
type cfiCommon struct {
	codeUnit uint64
	dataUnit int64
	returns  uint64 // the register number of the return address
	encoding uint8  // of addresses
	augments bool
	signal   bool // the frame of a signal handler, which nothing called
	code     []byte
}

// newCFI parses a section .eh_frame at address addr. It skips damaged entries and unknown
// kinds.
func newCFI(machine elf.Machine, order binary.ByteOrder, addr uint64, section []byte) *cfi {
	f := &cfi{machine: machine, order: order}
	commons := map[int]*cfiCommon{}
	for at := 0; at+8 <= len(section); {
		size := int(order.Uint32(section[at:]))
		if size < 4 || size > len(section)-at-4 { // the end, or a section of more than 4 GiB
			break
		}
		body := section[at+8 : at+4+size]
		if back := int(order.Uint32(section[at+4:])); back == 0 {
			commons[at] = f.common(body)
		} else if c := commons[at+4-back]; c != nil {
			f.entry(c, body, addr+uint64(at)+8)
		}
		at += 4 + size
	}
	slices.SortStableFunc(f.list, func(a, b cfiEntry) int { return cmp.Compare(a.from, b.from) })
	return f
}

// common parses the common part of several entries. It returns nil for an unknown kind.
func (f *cfi) common(b []byte) *cfiCommon {
	if len(b) == 0 || b[0] != 1 && b[0] != 3 && b[0] != 4 {
		return nil
	}
	version := b[0]
	augmentation, rest, ok := bytes.Cut(b[1:], []byte{0})
	r := reader{b: rest, order: f.order}
	if !ok || version == 4 && len(rest) < 2 {
		return nil
	}
	if version == 4 { // the sizes of addresses and segments
		r.take(2)
	}
	c := &cfiCommon{codeUnit: r.uleb(), dataUnit: r.sleb()}
	if version == 1 {
		c.returns = uint64(r.byte())
	} else {
		c.returns = r.uleb()
	}
	for i, a := range augmentation {
		switch {
		case a == 'z' && i == 0:
			c.augments = true
			r.uleb()
		case a == 'R':
			c.encoding = r.byte()
		case a == 'L':
			r.byte()
		case a == 'P':
			r.pointer(r.byte(), 0)
		case a == 'S':
			c.signal = true
		case a == 'B', a == 'G': // arm64's signed return addresses, tagged stacks
		default:
			return nil
		}
	}
	if c.code = r.b; r.bad {
		return nil
	}
	return c
}

// entry parses the information on a function, at address addr.
func (f *cfi) entry(c *cfiCommon, b []byte, addr uint64) {
	r := reader{b: b, order: f.order}
	from := r.pointer(c.encoding, addr)
	size := r.pointer(c.encoding&0x0f, 0)
	if c.augments {
		r.take(int(min(r.uleb(), 1<<30)))
	}
	if r.bad || size == 0 || from+size < from {
		return
	}
	f.list = append(f.list, cfiEntry{from, from + size, c, r.b})
}

// at returns the entry of an address, or nil.
func (f *cfi) at(pc uint64) *cfiEntry {
	i := sort.Search(len(f.list), func(k int) bool { return f.list[k].from > pc })
	if i == 0 || pc >= f.list[i-1].to {
		return nil
	}
	return &f.list[i-1]
}

// reader parses numbers of DWARF.
type reader struct {
	b     []byte
	order binary.ByteOrder
	bad   bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uleb() uint64 {
	v, n := binary.Uvarint(r.b)
	r.take(max(n, -1))
	r.bad = r.bad || n <= 0
	return v
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if r.bad || shift > 63 {
			r.bad = true
			return 0
		}
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift < 57 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// pointer parses an address (DW_EH_PE_…) stored at addr.
func (r *reader) pointer(encoding uint8, addr uint64) (v uint64) {
	const relative, forms, applied = 0x10, 0x0f, 0x70
	switch encoding & forms {
	case 0x00, 0x04, 0x0c:
		if b := r.take(8); b != nil {
			v = r.order.Uint64(b)
		}
	case 0x03:
		if b := r.take(4); b != nil {
			v = uint64(r.order.Uint32(b))
		}
	case 0x0b:
		if b := r.take(4); b != nil {
			v = uint64(int64(int32(r.order.Uint32(b))))
		}
	default:
		r.bad = true
	}
	switch encoding & applied {
	case 0:
	case relative:
		v += addr
	default:
		r.bad = true
	}
	return v
}

// cfiRules are the rules at one address.
type cfiRules struct {
	base      uint64 // the register relative to which the frame is found
	offset    int64  // of the frame's upper end (CFA) relative to it
	computed  bool   // the frame is found in another way
	pointer   int64  // offset of the caller's frame pointer from the CFA; 0: it is in its register
	returns   int64  // offset of the return address from the CFA
	undefined bool   // there is no return address: the function has no caller
}

// registers returns the numbers of the stack pointer and the frame pointer.
func (f *cfi) registers() (stack, pointer uint64) {
	if f.machine == elf.EM_AARCH64 {
		return 31, 29
	}
	return 7, 6
}

// run executes the instructions of an entry; visit is called with the rules and their first address.
func (f *cfi) run(e *cfiEntry, visit func(from uint64, now cfiRules)) bool {
	var now cfiRules
	x := cfiMachine{cfi: f, entry: e, now: &now}
	if !x.execute(e.common.code, nil) {
		return false
	}
	x.first = now
	return x.execute(e.code, visit)
}

// rule returns how to find the caller of the code at pc.
func (f *cfi) rule(e *cfiEntry, pc uint64) unwind.Rule {
	if e.common.signal {
		return unwind.Rule{}
	}
	stack, pointer := f.registers()
	var at cfiRules
	usesPointer := false // after pc the frame is found by the frame pointer
	if !f.run(e, func(from uint64, now cfiRules) {
		if from <= pc {
			at = now
		} else if now.base == pointer && !now.computed {
			usesPointer = true
		}
	}) || at.computed {
		return unwind.Rule{}
	}
	switch {
	case at.undefined:
		return unwind.Rule{How: unwind.Outermost}
	case f.machine == elf.EM_AARCH64 && at.returns == 0:
		return unwind.Rule{How: unwind.InLink}
	case f.machine == elf.EM_AARCH64:
		return unwind.Rule{}
	case at.base == pointer && at.offset == 16:
		return unwind.Rule{How: unwind.ByPointer}
	case at.base != stack || at.offset < 8:
		return unwind.Rule{}
	}
	kept := at.pointer != 0 && at.offset+at.pointer >= 0
	return unwind.Rule{How: unwind.OnStack, Offset: uint64(at.offset - 8), Clobbered: kept && !usesPointer}
}
