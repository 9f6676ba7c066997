package collect

import "sync/atomic"

// Part is an activity of a collector that costs the program CPU time, and that a recording with
// a budget can switch off separately.
type Part struct {
	// Name is the part's name in the trace.
	Name string
	// Most is the fraction of the budget that the part may take.
	Most float64
	// Spent returns the program's cost of the part since the recording began, in ns, beyond the
	// collector's methods and Work, and whether the part is on. A part that is unavailable is
	// off.
	Spent func() (ns int64, on bool)
	// Switch switches the part on or off. The trace records why it is off, and since when.
	Switch func(on bool, why string)
}

// Parts returns the parts of the running collector; the first is switched off first. Neither
// Parts nor a function of a part is called while a method of the collector runs. It is nil if
// there are no parts.
var Parts atomic.Pointer[func() []Part]
