package perf

// The keys of facts that a recording gets.
const (
	// FactSwitches is "on", or "off: " and the reason.
	FactSwitches = "thread_switches"
	// factLost is the number of records that the kernel had to discard.
	factLost = "thread_switches_lost"
	// FactPaused is the time for which the recording of switches was paused, because it took
	// more than its share of the recording's budget: "now and then", or at the end "82% of the
	// time".
	FactPaused = "thread_switches_paused"
	// factClockBegin and factClockEnd are two numbers separated by a blank: ns of the monotonic
	// clock, and the CPU time of all threads at that time. Between the two every switch was
	// recorded, except those that were lost or fell into a pause, so that sums computed from
	// switches can be checked.
	factClockBegin = "thread_clock_begin"
	factClockEnd   = "thread_clock_end"
)
