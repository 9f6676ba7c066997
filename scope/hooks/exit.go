//go:build !scope_off

package hooks

import (
	"os"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// patience is how long a program that ends waits for its trace to be closed. One that is
// not closed can be read too.
const patience = time.Second

// exit is called where the function main returns, and by os.Exit. A program that ends by a
// panic, or is killed, leaves a trace that is as whole.
func exit(code int) { stop(code) }

// stop ends the recording of ours, and removes its trace if it is not to be kept.
func stop(code int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if countingEnds != nil {
			_ = countingEnds() // who reads the file sees that it is not whole
		}
		path, _ := record.StopGivingWay("exit " + strconv.Itoa(code)) // the trace says what went wrong
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
