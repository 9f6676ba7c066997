package unwind

import "encoding/binary"

// proof grades how certain it is that a call called a function.
type proof uint8

const (
	refuted  proof = iota // it called another function, or is not a call
	possible              // an indirect call, or a call of a stub
	direct
)

// link describes the call before a return address.
type link struct {
	proof proof
	jump  uint64 // address in the function that was called of its jump to this one; 0: none
}

// linked determines whether the call that returns to ret can have called the function at
// callee; if callee is 0, whether it can be a call of any function.
func linked(text Text, ret, callee uint64) link {
	to, kind := target(text, ret)
	if kind == refuted && text.Rule(ret).How == Outermost { // goroutines return to an address that follows no call
		return link{proof: possible}
	}
	if kind != direct || callee == 0 {
		return link{proof: min(kind, possible)}
	}
	from, end, ok := text.Function(callee)
	if ok && to >= from && to < end {
		return link{proof: direct}
	}
	if text.Stub(to) {
		return link{proof: possible}
	}
	if first, last, known := text.Function(to); ok && known {
		if at := jump(text, first, last, from, end); at != 0 {
			return link{direct, at}
		}
	}
	return link{}
}

// Target returns the target of the direct call before an address; ok is false if there is none.
func Target(text Text, ret uint64) (to uint64, ok bool) {
	to, kind := target(text, ret)
	return to, kind == direct
}

// target returns the target of the call before an address.
func target(text Text, ret uint64) (to uint64, kind proof) {
	switch text.Arch() {
	case "amd64":
		return target86(text, ret)
	case "arm64":
		b := text.Code(ret-4, 4)
		if len(b) < 4 {
			return 0, refuted
		}
		const link, mask = 0x94000000, 0xfc000000 // BL, whose 26 bits count words
		switch i := binary.LittleEndian.Uint32(b); {
		case i&mask == link:
			return ret - 4 + uint64(int64(int32(i<<6)>>4)), direct
		case i>>16 == 0xd63f || i>>16 == 0xd73f: // BLR, and its variants that check the address
			return 0, possible
		}
	}
	return 0, refuted
}

// target86 returns the target of a call of amd64. Several instructions may end at an address: a
// direct call counts if there is no other, or if its target is a function's first instruction.
func target86(text Text, ret uint64) (to uint64, kind proof) {
	const longest = 8
	b := text.Code(ret-longest, longest)
	if len(b) < longest {
		return 0, refuted
	}
	const near = 0xe8 // CALL rel32
	indirect := indirect86(b)
	if b[longest-5] == near {
		to = ret + uint64(int64(int32(binary.LittleEndian.Uint32(b[longest-4:]))))
		if from, _, ok := text.Function(to); !indirect || ok && from == to {
			return to, direct
		}
	}
	if indirect {
		return 0, possible
	}
	return 0, refuted
}

// indirect86 reports whether code ends with an indirect call: FF /2.
func indirect86(b []byte) bool {
	for n := 2; n <= 7; n++ {
		op := b[len(b)-n:]
		if op[0] != 0xff || op[1]>>3&7 != 2 {
			continue
		}
		size, mode, base := 2, op[1]>>6, op[1]&7
		if mode != 3 && base == 4 { // SIB
			size++
			if n > 2 && mode == 0 && op[2]&7 == 5 {
				size += 4
			}
		}
		switch {
		case mode == 1:
			size++
		case mode == 2, mode == 0 && base == 5:
			size += 4
		}
		if size == n {
			return true
		}
	}
	return false
}

// mostJumps limits the code that is searched for a jump, in bytes.
const mostJumps = 1 << 16

// jump returns the address of a jump from the code [from, end) into [to, toEnd), or 0 if there
// is none.
func jump(text Text, from, end, to, toEnd uint64) uint64 {
	code := text.Code(from, int(min(end-from, mostJumps)))
	into := func(at uint64, rel int64) bool { return at+uint64(rel) >= to && at+uint64(rel) < toEnd }
	switch text.Arch() {
	case "amd64":
		for i := 0; i+5 <= len(code); i++ {
			conditional := i > 0 && code[i-1] == 0x0f && code[i]>>4 == 8
			if code[i] != 0xe9 && !conditional {
				continue
			}
			if into(from+uint64(i)+5, int64(int32(binary.LittleEndian.Uint32(code[i+1:])))) {
				return from + uint64(i)
			}
		}
	case "arm64":
		for i := 0; i+4 <= len(code); i += 4 {
			if x := binary.LittleEndian.Uint32(code[i:]); x>>26 == 5 && into(from+uint64(i), int64(int32(x<<6)>>4)) { // B
				return from + uint64(i)
			}
		}
	}
	return 0
}
