//go:build !scope_off

package hooks

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Func is a function of the program: its name, and what recordings know of it.
type Func record.Func

// Handle is a call that is recorded. The zero Handle is of one that is not.
type Handle = record.Handle

// Enter begins a call's scope, which Handle.End ends. Without a recording it costs a load
// and a branch. Calls that cost more than their share of the budget are counted only, in
// some 2 ns.
func (f *Func) Enter() Handle {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return Handle{}
	}
	return record.Enter((*record.Func)(f))
}

// EnterArgs is Enter with the call's arguments, which are recorded as scope.Task does.
func (f *Func) EnterArgs(args ...any) Handle {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return Handle{}
	}
	return record.EnterArgs((*record.Func)(f), args)
}

// LeftOut tells the recording which of the program's functions are left out of it: a line for
// each reason, with how many, the reason, and their names where they are few.
func LeftOut(text string) { record.LeftOut(text) }

func init() {
	if err := start(); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
	}
}
