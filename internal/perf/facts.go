package perf

// The facts that a recording gets.
const (
	// FactSwitches is "on", or "off: " and why.
	FactSwitches = "thread_switches"
	// factLost is how many records the kernel says that it had to throw away.
	factLost = "thread_switches_lost"
	// FactPaused is for how long the kernel was asked to tell nothing, because it took more than
	// its share of the recording's budget: "now and then", or at the end "82% of the time".
	FactPaused = "thread_switches_paused"
	// FactClockBegin and FactClockEnd are two numbers with a blank between them: ns of
	// the monotonic clock, and the CPU time of all threads then. Between the two every
	// switch was recorded that was not lost, nor while it was paused, so that what readers make
	// of them can be checked.
	factClockBegin = "thread_clock_begin"
	factClockEnd   = "thread_clock_end"
)
