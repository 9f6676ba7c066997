package sys

import "encoding/binary"

// FirstCall returns the address of the first function that the code at pc calls directly, and
// the return address; 0 if there is none. is reports whether a function begins at an address.
// It does not read beyond the function's code.
func FirstCall(pc uintptr, is func(pc uintptr) bool) (to, back uintptr) {
	const most = 512
	for at := pc; at < pc+most; at += 4 {
		if at != pc && is(at) {
			return 0, 0 // the next function
		}
		word := binary.LittleEndian.Uint32(bytesAt(at, 4))
		if word>>26 != 0b100101 { // BL
			continue
		}
		if to = at + uintptr(int64(int32(word<<6)>>6)*4); is(to) {
			return to, at + 4
		}
	}
	return 0, 0
}
