package outside

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options say what is recorded.
type Options struct {
	Command    []string // a program and its arguments
	Path       string   // of the trace, which must not exist
	Counters   []Counter
	NoSwitches bool // don't record when threads are on a CPU: each switch costs a microsecond
	In         io.Reader
	Out, Err   io.Writer
}

// Result is what came of it.
type Result struct {
	Exit    int // the program's exit code; -1: a signal ended it
	Signal  string
	Samples int64
	Lost    int64
	CPU     time.Duration // that the program, and those that it waited for, had by the system's account
}

// Counter is what takes samples: a name, and after how much of it.
type Counter struct {
	Name  string
	Every int64 // of task-clock ns of CPU time, of others events
}

// software are the kernel's own counters, which every machine has: linux/perf_event.h.
var software = map[string]uint64{
	"task-clock": 1, "page-faults": 2, "context-switches": 3, "cpu-migrations": 4, "minor-faults": 5, "major-faults": 6,
}

// inKernel are the counters of what happens in the kernel alone.
var inKernel = map[string]bool{"context-switches": true, "cpu-migrations": true}

// hardware are counters of processors, which virtual machines often lack.
var hardware = map[string]uint64{
	"cycles": 0, "instructions": 1, "cache-references": 2, "cache-misses": 3, "branches": 4, "branch-misses": 5,
}

// unit is what a counter counts.
func (c Counter) unit() string {
	if c.Name == "task-clock" {
		return "nanoseconds"
	}
	return "count"
}

// Counters lists the names of counters, those that every machine has first.
func Counters() []string {
	return slices.Concat(slices.Sorted(maps.Keys(software)), slices.Sorted(maps.Keys(hardware)))
}

// ParseCounter reads NAME or NAME:EVERY; of task-clock EVERY is a duration. Without it there
// is a sample for each 10 ms, each event of the system's, and each million of the processor's.
func ParseCounter(text string) (c Counter, err error) {
	name, every, given := strings.Cut(text, ":")
	_, soft := software[name]
	_, hard := hardware[name]
	switch {
	case !soft && !hard:
		return c, fmt.Errorf("there is no counter %q: there is %s", name, strings.Join(Counters(), ", "))
	case name == "task-clock" && given:
		var d time.Duration
		d, err = time.ParseDuration(every)
		c = Counter{name, int64(d)}
	case given:
		c.Name = name
		c.Every, err = strconv.ParseInt(every, 10, 64)
	case name == "task-clock":
		c = Counter{name, int64(10 * time.Millisecond)}
	case hard:
		c = Counter{name, 1_000_000}
	default:
		c = Counter{name, 1}
	}
	if err != nil || c.Every <= 0 {
		return c, fmt.Errorf("%q: behind the colon stands after how many there is a sample, as in page-faults:100 or task-clock:1ms", text)
	}
	if name == "task-clock" && c.Every < int64(50*time.Microsecond) {
		return c, fmt.Errorf("%q: the least is 50µs, of which a sample takes some hundredths already", text)
	}
	return c, nil
}
