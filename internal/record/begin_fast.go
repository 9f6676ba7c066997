//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race && !scope_off

package record

import "github.com/scopeview/scopeview/internal/sys"

// These begin a scope by the assembly, which calls begin where it can't. Were the kind an
// argument, Task would cost more than the compiler inlines.
func BeginTask(name string, args []any) Handle    { return sys.Begin(headTask, name, args) }
func BeginTaskf(name string, args []any) Handle   { return sys.Begin(headTaskf, name, args) }
func BeginPending(name string, args []any) Handle { return sys.Begin(headPending, name, args) }

// Handle is a scope that was begun. Its End is the assembly's too.
type Handle = sys.Handle

func init() { sys.OnMiss(begin, endNow) }

// Enter begins the scope of a function that is called, if it is to be recorded.
func Enter(f *sys.FuncState) Handle { return sys.Enter(f) }

// onEnter has Enter call us for what it can't do: so programs without functions that are
// scopes don't contain what is for these.
func onEnter() { sys.OnEnter(enter, entered) }

// entered begins the scope of a call that was counted.
//
// With the assembly it leaves the table of names alone. Thousands of functions would make it so
// long that Go's collector would run more often for it, in a program whose heap is small.
func entered(f *Func) Handle {
	r := current.Load()
	if r.fast == nil {
		return begin(headTask, f.Name, nil)
	}
	id := r.names.lookup(f.Name)
	if id&nameOut != 0 {
		return Handle{}
	}
	return r.begin(headTask|id&nameID<<48, nil)
}
