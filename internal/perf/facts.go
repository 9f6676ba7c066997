package perf

// The facts that a recording gets.
const (
	// FactSwitches is "on", or "off: " and why.
	FactSwitches = "thread_switches"
	// FactLost is how many records the kernel says that it had to throw away.
	FactLost = "thread_switches_lost"
	// FactClockBegin and FactClockEnd are two numbers with a blank between them: ns of
	// the monotonic clock, and the CPU time of all threads then. Between the two every
	// switch was recorded, so that what readers make of them can be checked.
	FactClockBegin = "thread_clock_begin"
	FactClockEnd   = "thread_clock_end"
)
