package outside

import (
	"io"
	"time"

	"github.com/scopeview/scopeview/internal/perf"
)

// Options say what is recorded.
type Options struct {
	Command    []string // a program and its arguments
	Path       string   // of the trace, which must not exist
	Counters   []perf.Counter
	NoSwitches bool // don't record when threads are on a CPU: each switch costs a microsecond
	In         io.Reader
	Out, Err   io.Writer
	Full       func(error) // is told why nothing more is kept, while the program goes on
}

// Result is what came of it.
type Result struct {
	Exit    int // the program's exit code; -1: a signal ended it
	Signal  string
	Samples int64
	Lost    int64
	CPU     time.Duration // that the program, and those that it waited for, had by the system's account
	// Unsampled is how much of CPU the counter task-clock has not counted, so that no sample
	// tells of it: mostly that of switching threads. 0: it is about a hundredth or less, or not known.
	Unsampled time.Duration
}
