package unwind

import "encoding/binary"

// longestPrologue limits where a function of Go sets its frame pointer, in bytes. The check of
// the stack's size, and on arm64 the setup of the frame, come before it.
const longestPrologue = 96

// OfGo returns the rule for an address in a function of Go, from its code, as Go's assembler
// writes prologues and epilogues (cmd/internal/obj). depth is the distance of the stack pointer
// below the return address according to Go's table, or -1 if unknown.
func OfGo(text Text, pc uint64, depth int64) Rule {
	from, to, ok := text.Function(pc)
	if !ok {
		return Rule{}
	}
	code := text.Code(from, int(min(to-from, longestPrologue)))
	near := text.Code(pc, int(min(to-pc, 8)))
	switch text.Arch() {
	case "amd64":
		return goAMD64(pc, from, to, code, near, depth)
	case "arm64":
		if len(near) >= 4 {
			return goARM64(text, pc, from, code, binary.LittleEndian.Uint32(near))
		}
	}
	return Rule{}
}

func goAMD64(pc, from, to uint64, code, near []byte, depth int64) Rule {
	if depth == 0 {
		return Rule{How: OnStack}
	}
	set, pushed := pointerSet(code)
	if set < 0 { // it has no frame pointer
		return Rule{How: OnStack, Offset: uint64(max(depth, 0))}
	}
	at := int(min(pc-from, 1<<30))
	out := func(size int) bool { // whether a jump leaves the function
		if len(near) < size {
			return false
		}
		target := pc + uint64(size) + uint64(int64(int32(binary.LittleEndian.Uint32(near[size-4:]))))
		return target < from || target >= to
	}
	if depth > 0 {
		if at <= set || !pushed && restored(near) {
			return Rule{How: OnStack, Offset: uint64(depth)}
		}
		return Rule{How: ByPointer}
	}
	// The depth is unknown.
	switch {
	case !pushed:
		return Rule{}
	case at == set:
		return Rule{How: OnStack, Offset: 8}
	case at < set, at >= grows(code, set-1), returns(near), len(near) > 0 && near[0] == 0xe9 && out(5):
		return Rule{How: OnStack}
	}
	return Rule{How: ByPointer}
}

// pointerSet returns where a function sets its frame pointer, or -1 if it does not. pushed
// reports that it does so by PUSHQ BP; MOVQ SP, BP, as Go does from 1.21 on, and not by LEAQ
// x(SP), BP.
func pointerSet(code []byte) (at int, pushed bool) {
	for i := range max(len(code)-4, 0) {
		switch c := code[i:]; {
		case c[0] == 0x55 && c[1] == 0x48 && c[2] == 0x89 && c[3] == 0xe5:
			return i + 1, true
		case c[0] == 0x48 && c[1] == 0x8d && (c[2] == 0x6c || c[2] == 0xac) && c[3] == 0x24:
			return i, false
		}
	}
	return -1, false
}

// returns reports whether code is a return, possibly after a NOP that moves its end away from a
// multiple of 32.
func returns(code []byte) bool {
	return len(code) > 0 && code[0] == 0xc3 || len(code) > 1 && code[0] == 0x90 && code[1] == 0xc3
}

// restored reports whether code releases its frame and returns: before Go 1.21 the frame pointer
// is already the caller's there.
func restored(code []byte) bool {
	return len(code) >= 5 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 && code[4] == 0xc3 ||
		len(code) >= 8 && code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4 && code[7] == 0xc3
}

// grows returns where the code that grows the stack begins: the target of the branch before the
// prologue's end.
func grows(code []byte, end int) int {
	switch {
	case end >= 6 && code[end-6] == 0x0f && code[end-5] == 0x86: // JLS
		return end + int(int32(binary.LittleEndian.Uint32(code[end-4:])))
	case end >= 2 && code[end-2] == 0x76:
		return end + int(int8(code[end-1]))
	}
	return 1 << 30
}

// Instructions of arm64, as Go's assembler writes prologues and epilogues.
const (
	setPointer   = 0xd10023fd // SUB $8, RSP, R29
	loadPointer  = 0xf85f83fd // MOVD -8(RSP), R29
	loadBoth     = 0xa97ffbfd // LDP -8(RSP), (R29, R30)
	returnToLink = 0xd65f03c0 // RET
)

func goARM64(text Text, pc, from uint64, code []byte, now uint32) Rule {
	le := binary.LittleEndian
	for i := 0; i+4 <= len(code); i += 4 {
		if le.Uint32(code[i:]) != setPointer {
			continue
		}
		if pc <= from+uint64(i) || now == returnToLink || pc >= growsARM64(code[:i], from) {
			return Rule{How: InLink}
		}
		if b := text.Code(pc-4, 4); len(b) == 4 {
			switch le.Uint32(b) {
			case loadBoth:
				return Rule{How: InLink}
			case loadPointer:
				return Rule{How: OnStack}
			}
		}
		return Rule{How: ByPointer}
	}
	return Rule{How: InLink} // it has no frame
}

// growsARM64 returns the target of the branch (B.LS) in a prologue.
func growsARM64(code []byte, from uint64) uint64 {
	for i := 0; i+4 <= len(code); i += 4 {
		if x := binary.LittleEndian.Uint32(code[i:]); x&0xff00001f == 0x54000009 {
			return from + uint64(i) + uint64(int64(int32(x<<8)>>13)<<2)
		}
	}
	return ^uint64(0)
}
