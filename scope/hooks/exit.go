//go:build !scope_off

package hooks

import (
	"os"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// patience is how long a program that ends waits for its trace to be closed. One that is
// not closed can be read too.
const patience = time.Second

// Main is for the function main of a program, which defers what it returns: it ends the
// recording that the environment asked for, when main returns or panics.
func Main() func() { return func() { end(panicking()) } }

// Exit is for os.Exit, before the program ends with the code.
func Exit(code int) { end(code != 0) }

// end ends the recording of ours, and removes its trace if it is not to be kept.
func end(failed bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		path, _ := record.StopGivingWay() // the trace says what went wrong
		if path != "" && kept == keepFailures && !failed {
			_ = os.Remove(path)
		}
	}()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// panicking reports whether the deferred function that calls end was called because of a
// panic, which it must not recover to find out: or the program would not end by it.
func panicking() bool {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}
