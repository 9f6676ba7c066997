package symbols

import (
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// Calls reports whether the call that returns to an address can be one of a function, as
// Places and Entry name it. A direct call of another function's entry can not: what is taken
// for the caller called somebody who called the function, and left no frame. Of indirect
// calls, of stubs that lead to other files, and of processors other than amd64 and arm64 it
// is not known, so it can.
func (im *Image) Calls(ret uint64, function string) bool {
	to, ok := unwind.Target(im.code, ret)
	if !ok {
		return true
	}
	name := im.Entry(to)
	return name == "" || name == strings.TrimSuffix(function, ".cold")
}
