//go:build !scope_off

package hooks

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Func is a function of the program.
type Func struct {
	state sys.FuncState // see sys.FuncOf

	// Name is the name of its scopes.
	Name string
}

// Handle is a recorded call. The zero Handle is a call that is not recorded.
type Handle struct{ Loc, Start int64 }

// End ends the call's scope.
func (h Handle) End() { record.Handle(h).End() }

// Enter begins a call's scope, which Handle.End ends. Without a recording it costs a load and
// a branch. Functions whose calls exceed their share of the budget are only counted, in some
// 2 ns. If even that is too much, they are counted only now and then, at the cost of two
// loads.
func (f *Func) Enter() Handle {
	if atomic.LoadUint32(&sys.Live.On) <= atomic.LoadUint32(&f.state.Hidden) {
		return Handle{}
	}
	return Handle(record.Enter(&f.state))
}

// EnterArgs is Enter with the call's arguments, recorded as by scope.Task.
func (f *Func) EnterArgs(args ...any) Handle {
	if atomic.LoadUint32(&sys.Live.On) <= atomic.LoadUint32(&f.state.Hidden) {
		return Handle{}
	}
	return Handle(record.EnterArgs(&f.state, args))
}

// Arg is an argument with its parameter's name; see KV.
type Arg = record.Arg

// KV returns an argument with its parameter's name.
func KV(key string, value any) Arg { return record.KV(key, value) }

// LeftOut records which of the program's functions are not instrumented. text has a line per
// reason: the number of functions, the reason, and their names if there are few.
func LeftOut(text string) { record.LeftOut(text) }

func init() {
	if err := start(); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
	}
}
