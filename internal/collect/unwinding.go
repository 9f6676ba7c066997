package collect

import "sync/atomic"

// Unwinding says whether Go's execution tracer checks the frame pointers that it follows, which it does
// in programs that scopeview has built: "", or why it does not. nil: the program was built without scopeview.
// A package-level variable of scope/hooks sets it, before a recording begins.
var Unwinding atomic.Pointer[string]

// SetUnwinding sets Unwinding. It returns a value, so that a variable's initializer can call it.
func SetUnwinding(why string) bool {
	Unwinding.Store(&why)
	return true
}
