//go:build !scope_off

package hooks

import (
	"os"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// patience is the longest wait of an ending program for its trace to be closed. An
// unclosed trace is readable too.
const patience = time.Second

// exit is called when the function main returns, and by os.Exit. The trace of a program
// that panics or is killed is just as complete.
func exit(code int) { stop(code) }

// stop ends the recording begun by this package, and removes its trace unless it is to be
// kept.
func stop(code int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if countingEnds != nil {
			_ = countingEnds() // a reader of the file sees that it is incomplete
		}
		path, _ := record.StopGivingWay("exit " + strconv.Itoa(code)) // the trace records what went wrong
		if path != "" && kept == keepFailures && code == 0 {
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
