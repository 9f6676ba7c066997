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

	// Name is what its scopes are called.
	Name string
}

// Handle is a call that is recorded. The zero Handle is of one that is not.
type Handle struct{ Loc, Start int64 }

// End ends the call's scope.
func (h Handle) End() { record.Handle(h).End() }

// Enter begins a call's scope, which Handle.End ends. Without a recording it costs a load
// and a branch. Calls that cost more than their share of the budget are counted only, in
// some 2 ns. Where that is too much they are counted now and then, and cost two loads.
func (f *Func) Enter() Handle {
	if atomic.LoadUint32(&sys.Live.On) <= atomic.LoadUint32(&f.state.Hidden) {
		return Handle{}
	}
	return Handle(record.Enter(&f.state))
}

// EnterArgs is Enter with the call's arguments, which are recorded as scope.Task does.
func (f *Func) EnterArgs(args ...any) Handle {
	if atomic.LoadUint32(&sys.Live.On) <= atomic.LoadUint32(&f.state.Hidden) {
		return Handle{}
	}
	return Handle(record.EnterArgs(&f.state, args))
}

// Arg is an argument with its parameter's name; see KV.
type Arg = record.Arg

// KV is an argument with its parameter's name.
func KV(key string, value any) Arg { return record.KV(key, value) }

// LeftOut tells the recording which of the program's functions are left out of it: a line for
// each reason, with how many, the reason, and their names where they are few.
func LeftOut(text string) { record.LeftOut(text) }

func init() {
	if err := start(); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
	}
}
