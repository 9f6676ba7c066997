//go:build scope_off

package hooks

// With the tag scope_off, everything compiles to nothing.

// Func is a function of the program: its name.
type Func struct{ Name string }

// Handle holds nothing.
type Handle struct{ Loc, Start int64 }

// Enter does nothing.
func (f *Func) Enter() Handle { return Handle{} }

// EnterArgs does nothing.
func (f *Func) EnterArgs(args ...any) Handle { return Handle{} }

// End does nothing.
func (h Handle) End() {}

// Arg holds nothing.
type Arg struct{}

// KV does nothing.
func KV(key string, value any) Arg { return Arg{} }

// LeftOut does nothing.
func LeftOut(text string) {}
