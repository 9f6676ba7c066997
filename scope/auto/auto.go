// Package auto starts a recording when the environment says so, without a
// change to the program but its import:
//
//	import _ "github.com/scopeview/scopeview/scope/auto"
//
//	SCOPEVIEW=traces/ ./program
//
// SCOPEVIEW is a directory or a file, as scope.Start takes it. SCOPEVIEW_FILTER
// is a filter as scope.SetFilter takes it. The last 256 MiB are kept, as by
// scope.WithRing, or as many bytes as SCOPEVIEW_RING says (67108864, 64M, 4G). With
// SCOPEVIEW_LIMIT instead, what comes first is kept, up to so many bytes; none is
// no limit. SCOPEVIEW_BUFFER is how many bytes may wait in memory for the disk, as by
// scope.WithBuffer. SCOPEVIEW_BACKING (disk, heap or shm) is as scope.WithBacking,
// SCOPEVIEW_CPU (auto, off or always) as scope.WithCPU, and SCOPEVIEW_SAMPLED=1 as
// scope.WithSampled. Without SCOPEVIEW nothing is recorded.
//
// The recording is not stopped when the program ends: Go has no hook for that,
// and a trace needs no Stop. A child process that inherits the variable gets a
// file of its own: in a directory by its name, else beside the one that exists.
//
// Where SCOPEVIEW is set and recording can't start, one line on standard error
// says why, and the program runs on. Another one lists the variables that begin
// with SCOPEVIEW_ and do not exist, as SCOPEVIEW_RNG. They are the only lines that
// this module's libraries ever print.
package auto

import (
	"fmt"
	"os"
	"strings"

	"github.com/scopeview/scopeview/internal/fromenv"
)

func init() {
	if os.Getenv("SCOPEVIEW") == "" {
		return
	}
	if unknown := fromenv.Unknown(); len(unknown) > 0 {
		fmt.Fprintf(os.Stderr, "scopeview: without effect, as no such variable exists: %s\n", strings.Join(unknown, ", "))
	}
	if _, err := fromenv.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
	}
}
