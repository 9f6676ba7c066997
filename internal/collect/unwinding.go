package collect

import "sync/atomic"

// Unwinding is "" if Go's execution tracer checks the frame pointers that it follows, as it does in
// programs built by scopeview, or else the reason why it does not. It is nil if the program was
// built without scopeview. A package-level variable of scope/hooks sets it, before a recording
// begins.
var Unwinding atomic.Pointer[string]

// SetUnwinding sets Unwinding. It returns a value, so that a variable's initializer can call it.
func SetUnwinding(why string) bool {
	Unwinding.Store(&why)
	return true
}
