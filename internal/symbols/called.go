package symbols

import (
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// Calls reports whether the call that returns to ret can have called the given function, as
// Frames and Entry name it. It is false for a direct call of another function's entry: then
// the apparent caller called a function without a frame, which called the given one. It is
// true where the target is unknown: for indirect calls, stubs of other files, and processors
// other than amd64 and arm64.
func (im *Image) Calls(ret uint64, function string) bool {
	to, ok := unwind.Target(im.code, ret)
	if !ok {
		return true
	}
	name := im.Entry(to)
	return name == "" || name == strings.TrimSuffix(function, ".cold")
}
