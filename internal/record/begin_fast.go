//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race && !scope_off

package record

import "github.com/scopeview/scopeview/internal/sys"

// These functions begin a scope in assembly, which calls begin if it can't. With the kind as an
// argument, Task would exceed the compiler's inlining budget.
func BeginTask(name string, args []any) Handle    { return sys.Begin(headTask, name, args) }
func BeginTaskf(name string, args []any) Handle   { return sys.Begin(headTaskf, name, args) }
func BeginPending(name string, args []any) Handle { return sys.Begin(headPending, name, args) }

// Handle is a scope that was begun. Its End is in assembly too.
type Handle = sys.Handle

func init() { sys.OnMiss(begin, endNow) }

// Enter begins the scope of a function call, if it is to be recorded.
func Enter(f *sys.FuncState) Handle { return sys.Enter(f) }

// onEnter registers the functions that Enter calls for what the assembly can't do. Programs
// whose functions are not instrumented so do not contain them.
func onEnter() { sys.OnEnter(enter, entered) }

// entered begins the scope of a call that was counted.
//
// On the fast path it does not use the table of names by address: thousands of functions would
// make it so large that Go's collector would run more often in a program with a small heap.
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
