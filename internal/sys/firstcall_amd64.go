package sys

import "encoding/binary"

// FirstCall returns the address of the first function that the code at pc calls directly, and
// the return address; 0 if there is none. is reports whether a function begins at an address,
// and so whether bytes that look like a call are one. It does not read beyond the function's
// code.
func FirstCall(pc uintptr, is func(pc uintptr) bool) (to, back uintptr) {
	const call, most = 0xe8, 512
	for at := pc; at < pc+most; at++ {
		if at != pc && is(at) {
			return 0, 0 // the next function
		}
		b := bytesAt(at, 5)
		if b[0] != call {
			continue
		}
		if to = at + 5 + uintptr(int32(binary.LittleEndian.Uint32(b[1:]))); is(to) {
			return to, at + 5
		}
	}
	return 0, 0
}
