package outside

import (
	"io"
	"time"

	"github.com/scopeview/scopeview/internal/perf"
)

// Options configure a recording.
type Options struct {
	Command    []string // a program and its arguments
	Path       string   // of the trace, which must not exist
	Counters   []perf.Counter
	NoSwitches bool // don't record when threads are on a CPU: each switch costs a microsecond
	In         io.Reader
	Out, Err   io.Writer
	Full       func(error) // called with the reason when nothing more is kept, while the program goes on
}

// Result is the result of a recording.
type Result struct {
	Exit    int // the program's exit code; -1: a signal ended it
	Signal  string
	Samples int64
	Lost    int64
	CPU     time.Duration // of the program, and of the processes that it waited for, by the system's account
	// Unsampled is the part of CPU that the counter task-clock has not counted, so that no sample
	// covers it: mostly the time of switching threads. It is 0 if it is about a hundredth or less,
	// or unknown.
	Unsampled time.Duration
}
