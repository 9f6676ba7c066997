package collect

import "sync/atomic"

// Part is something that a collector does, which costs the program CPU time, and which can be
// switched off by itself where the recording has a budget.
type Part struct {
	// Name says in the trace what it is.
	Name string
	// Most is which part of the budget it may take.
	Most float64
	// Spent returns what it has cost the program since the recording began, in ns, beyond a
	// collector's methods and Work, and whether it is on. Off is also what is not to be had.
	Spent func() (ns int64, on bool)
	// Switch switches it on or off. Why it is off is for the trace, and says since when.
	Switch func(on bool, why string)
}

// Parts returns the parts of the collector that runs: what is to go first stands first. Neither
// it nor what a part has is called while a method of the collector runs. nil: it has none.
var Parts atomic.Pointer[func() []Part]
