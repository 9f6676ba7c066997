package fromenv

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

// backing adds the option for SCOPEVIEW_BACKING, for containers with a small /dev/shm or little
// memory.
func backing(opts []scope.Option) ([]scope.Option, error) {
	switch s := os.Getenv("SCOPEVIEW_BACKING"); s {
	case "":
		return opts, nil
	case "disk":
		return append(opts, scope.WithBacking(scope.DiskBacking)), nil
	case "heap":
		return append(opts, scope.WithBacking(scope.HeapBacking)), nil
	case "shm":
		return append(opts, scope.WithBacking(scope.ShmBacking)), nil
	default:
		return nil, fmt.Errorf("SCOPEVIEW_BACKING=%s: write disk, heap or shm", s)
	}
}

// cpu adds the option for SCOPEVIEW_CPU. In a container whose seccomp filter blocks
// perf_event_open there are no CPU times unless it is always.
func cpu(opts []scope.Option) ([]scope.Option, error) {
	switch s := os.Getenv("SCOPEVIEW_CPU"); s {
	case "", "auto":
		return opts, nil
	case "off":
		return append(opts, scope.WithCPU(scope.CPUOff)), nil
	case "always":
		return append(opts, scope.WithCPU(scope.CPUAlways)), nil
	default:
		return nil, fmt.Errorf("SCOPEVIEW_CPU=%s: write auto, off or always", s)
	}
}

// sampled adds the option for SCOPEVIEW_SAMPLED.
func sampled(opts []scope.Option) ([]scope.Option, error) {
	switch s := os.Getenv("SCOPEVIEW_SAMPLED"); s {
	case "", "0":
		return opts, nil
	case "1":
		return append(opts, scope.WithSampled()), nil
	default:
		return nil, fmt.Errorf("SCOPEVIEW_SAMPLED=%s: write 0 or 1", s)
	}
}

// known lists the variables, without SCOPEVIEW_, of scope/auto, of programs of scopeview build,
// and of the tool, whose children inherit them.
var known = strings.Fields("FILTER RING LIMIT BUFFER BACKING CPU SAMPLED " +
	"BUDGET KEEP PROPAGATE STATES ADVISE ADVISE_SHARE ADVISE_DEPTH ADVISE_RUN ADVICE CACHE RUN")

// Unknown lists the environment variables that begin with SCOPEVIEW_ and that nothing reads.
// They are mistyped, and would be ignored silently.
func Unknown() (names []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		rest, ok := strings.CutPrefix(name, "SCOPEVIEW_")
		if ok && !slices.Contains(known, rest) && rest != "TEST" && !strings.HasPrefix(rest, "TEST_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
