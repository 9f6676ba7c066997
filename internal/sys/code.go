package sys

import (
	"runtime"
	"unsafe"
)

// Code returns n bytes of the program's code, which must not be written; nil unless they lie
// between addresses that Go's runtime knows as functions. Code stays mapped while the program
// runs, so reading it can't fail.
func Code(pc uintptr, n int) []byte {
	if n <= 0 || runtime.FuncForPC(pc) == nil || runtime.FuncForPC(pc+uintptr(n)-1) == nil {
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&pc)), n)
}
