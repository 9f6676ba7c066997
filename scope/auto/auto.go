// Package auto starts a recording if the environment asks for it. The program needs
// only the import:
//
//	import _ "github.com/scopeview/scopeview/scope/auto"
//
//	SCOPEVIEW=traces/ ./program
//
// SCOPEVIEW is a directory or a file, as for scope.Start. SCOPEVIEW_FILTER is a
// filter, as for scope.SetFilter. The trace is a ring, as with scope.WithRing, of 256
// MiB or the size in SCOPEVIEW_RING (67108864, 64M, 4G). If SCOPEVIEW_LIMIT is set
// instead, the trace keeps the first records, up to that many bytes; none means no
// limit. SCOPEVIEW_BUFFER sets how many bytes may wait in memory for the disk, as
// scope.WithBuffer does. SCOPEVIEW_BACKING (disk, heap or shm) acts as
// scope.WithBacking, SCOPEVIEW_CPU (auto, off or always) as scope.WithCPU, and
// SCOPEVIEW_SAMPLED=1 as scope.WithSampled. Without SCOPEVIEW nothing is recorded.
//
// The recording is not stopped when the program ends: Go has no hook for that, and a
// trace needs no Stop. A child process that inherits the variable gets a file of its
// own: in the directory if SCOPEVIEW is one, else beside the existing file.
//
// If SCOPEVIEW is set and recording can't start, one line on standard error reports
// why, and the program continues. Another line lists unknown variables that begin
// with SCOPEVIEW_, such as SCOPEVIEW_RNG. This module's libraries print nothing else.
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
		fmt.Fprintf(os.Stderr, "scopeview: unknown environment variables, ignored: %s\n", strings.Join(unknown, ", "))
	}
	if _, err := fromenv.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
	}
}
