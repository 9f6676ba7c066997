package perf

import (
	"fmt"
	"strings"
)

// Counter is what takes samples of threads: a name, and after how much of it.
type Counter struct {
	Name  string
	Every uint64 // of task-clock ns of CPU time, of others events
}

// FactCounter and a counter's name is "on", or "off: " and why.
const FactCounter = "counter_"

// taskClock is the counter of CPU time.
const taskClock = "task-clock"

// leastTaskClock is how often a thread may be sampled, in ns of its CPU time: a sample takes
// some µs.
const leastTaskClock = 50_000

// known is a counter that the kernel has a number for.
type known struct {
	name     string
	hardware bool   // of the processor: virtual machines often lack it
	config   uint64 // linux/perf_event.h
	inKernel bool   // it counts nothing where the kernel may not be watched
}

var allCounters = []known{
	{taskClock, false, 1, false}, {"page-faults", false, 2, false}, {"minor-faults", false, 5, false}, {"major-faults", false, 6, false},
	{"context-switches", false, 3, true}, {"cpu-migrations", false, 4, true},
	{"cycles", true, 0, false}, {"instructions", true, 1, false}, {"cache-references", true, 2, false}, {"cache-misses", true, 3, false},
	{"branches", true, 4, false}, {"branch-misses", true, 5, false},
}

// find returns what the kernel knows a counter by. The error says what is wrong with it.
func (c Counter) find() (known, error) {
	var names []string
	for _, k := range allCounters {
		if k.name == c.Name {
			switch {
			case c.Every == 0 || c.Every >= 1<<63:
				return k, fmt.Errorf("after %d there can't be a sample", c.Every)
			case k.name == taskClock && c.Every < leastTaskClock:
				return k, fmt.Errorf("a sample after %d ns would cost much of them; the least is %d", c.Every, leastTaskClock)
			}
			return k, nil
		}
		names = append(names, k.name)
	}
	return known{}, fmt.Errorf("there is no counter of this name; there are %s", strings.Join(names, ", "))
}

// unit is what a counter counts.
func (c Counter) unit() string {
	if c.Name == taskClock {
		return "nanoseconds"
	}
	return "count"
}
