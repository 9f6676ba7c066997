package sys

import "encoding/binary"

// FirstCall is the first function that the code from pc on calls by its address, and where that returns to; 0: it
// calls none. is tells whether a function begins at an address, and so whether bytes that look
// like a call are one. Code that is not a function's any more is not read.
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
