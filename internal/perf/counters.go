package perf

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Counter configures samples: the name of an event, and the number of events after which a sample
// is taken.
type Counter struct {
	Name  string
	Every uint64 // ns of CPU time for task-clock, events for others
}

// factCounter, followed by a counter's name, is the key of a fact: "on", "on, but" and the
// limits, or "off: " and the reason.
const factCounter = "counter_"

// taskClock is the counter of CPU time.
const taskClock = "task-clock"

// leastTaskClock is the smallest interval of task-clock samples, in ns of CPU time: in a virtual
// machine a sample takes some 20,000 ns.
const leastTaskClock = 50_000

// known is a counter with its number in linux/perf_event.h.
type known struct {
	name     string
	hardware bool // of the processor: virtual machines often lack it
	config   uint64
	inKernel bool   // it counts nothing if monitoring the kernel is not allowed
	every    uint64 // default interval
}

var allCounters = []known{
	{taskClock, false, 1, false, 10_000_000},
	{"page-faults", false, 2, false, 1}, {"minor-faults", false, 5, false, 1}, {"major-faults", false, 6, false, 1},
	{"context-switches", false, 3, true, 1}, {"cpu-migrations", false, 4, true, 1},
	{"cycles", true, 0, false, 1_000_000}, {"instructions", true, 1, false, 1_000_000},
	{"cache-references", true, 2, false, 1_000_000}, {"cache-misses", true, 3, false, 1_000_000},
	{"branches", true, 4, false, 1_000_000}, {"branch-misses", true, 5, false, 1_000_000},
}

// Counters lists the names of counters; those that every machine has come first.
func Counters() (names []string) {
	for _, k := range allCounters {
		names = append(names, k.name)
	}
	return names
}

// find returns the kernel's description of the counter. The error states what is wrong with the
// name or the interval.
func (c Counter) find() (known, error) {
	for _, k := range allCounters {
		if k.name == c.Name {
			switch {
			case c.Every == 0 || c.Every >= 1<<63:
				return k, fmt.Errorf("the interval %d is invalid", c.Every)
			case k.name == taskClock && c.Every < leastTaskClock:
				return k, fmt.Errorf("an interval of %d ns is too short; the minimum is %d", c.Every, leastTaskClock)
			}
			return k, nil
		}
	}
	return known{}, fmt.Errorf("unknown counter; known are %s", strings.Join(Counters(), ", "))
}

// Unit returns the unit of a counter's values.
func (c Counter) Unit() string {
	if c.Name == taskClock {
		return "nanoseconds"
	}
	return "count"
}

// ParseCounter parses NAME or NAME:EVERY; for task-clock EVERY is a duration.
func ParseCounter(text string) (Counter, error) {
	name, every, given := strings.Cut(text, ":")
	c := Counter{name, 1}
	for _, k := range allCounters {
		if k.name == name {
			c.Every = k.every
		}
	}
	var err error
	switch {
	case !given:
	case name == taskClock:
		var d time.Duration
		d, err = time.ParseDuration(every)
		c.Every = uint64(max(d, 0))
	default:
		c.Every, err = strconv.ParseUint(every, 10, 64)
	}
	if err != nil {
		return c, fmt.Errorf("%q: the interval follows the colon, as in page-faults:100 or task-clock:1ms", text)
	}
	if _, err = c.find(); err != nil {
		return c, fmt.Errorf("%q: %w", text, err)
	}
	return c, nil
}
