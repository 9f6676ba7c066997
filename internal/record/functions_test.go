//go:build !scope_off

package record_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// TestReadersKnowFunctions: readers recognize the recorder's functions by name. A
// function that is renamed here but not in their table would be taken for one of the
// program's.
func TestReadersKnowFunctions(t *testing.T) {
	start(t)
	defer stop(t)
	begin := make(chan string)
	scope.Go("worker", func() {
		var pcs [64]uintptr
		frames, root := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])]), ""
		for f, more := frames.Next(); ; f, more = frames.Next() {
			if f.Function != "runtime.goexit" && f.Function != "" {
				root = f.Function
			}
			if !more {
				break
			}
		}
		begin <- root
	})
	if f := <-begin; !gotrace.Functions.Begin.Has(f) {
		t.Errorf("Go begins a goroutine with %s", f)
	}

	name := func(f any) string { return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() }
	for _, f := range []any{record.Lock, record.Held.Unlock, (*record.LockState).Wait, (*record.LockState).Release, (*scope.Mutex).Lock, (*scope.RWMutex).Lock} {
		if f := name(f); !gotrace.Functions.Lock.Has(f) || !record.LockMethod(f) {
			t.Errorf("%s: of a lock for readers %v, for the recorder %v", f, gotrace.Functions.Lock.Has(f), record.LockMethod(f))
		}
	}
	for _, f := range []any{record.Stop, (*record.Recorder).Gen} {
		if f := name(f); !gotrace.Functions.Background.Has(f) {
			t.Errorf("%s is the program's", f)
		}
	}
}
