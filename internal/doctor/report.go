package doctor

import (
	"context"
	"encoding/json"

	"github.com/scopeview/scopeview/internal/analysis"
)

// Verdict names a problem. Names are never reused.
type Verdict string

// Verdicts.
const (
	lockContention       Verdict = "lock-contention"
	fatCriticalSection   Verdict = "fat-critical-section"
	serialization        Verdict = "serialization"
	workInflation        Verdict = "work-inflation"
	memoryBandwidth      Verdict = "memory-bandwidth" // work inflation whose cause a measurement confirms
	loadImbalance        Verdict = "load-imbalance"
	tooFine              Verdict = "too-fine"
	oversubscription     Verdict = "oversubscription"
	notEnoughParallelism Verdict = "not-enough-parallelism"
	gc                   Verdict = "gc"
	channel              Verdict = "channel"
	convoy               Verdict = "convoy"
	spinning             Verdict = "spinning"
	pageFaults           Verdict = "page-faults"
	blockingUnderLock    Verdict = "blocking-under-lock"
)

// Verdicts lists all verdicts, in the order of the table of rules. The names false-sharing
// and shared-atomic are reserved: they need other data.
var Verdicts = []Verdict{
	lockContention, fatCriticalSection, serialization, workInflation, memoryBandwidth, loadImbalance, tooFine,
	oversubscription, notEnoughParallelism, gc, channel, convoy, spinning, pageFaults, blockingUnderLock,
}

// Finding is a problem that a trace shows.
type Finding struct {
	Verdict    Verdict  `json:"verdict"`
	Text       string   `json:"text"`       // one or two sentences, safe to show
	Object     string   `json:"object"`     // the lock, the channel's place, the group; "": none
	Scopes     []string `json:"scopes"`     // names of the scopes concerned, most concerned first
	Share      float64  `json:"share"`      // 0 to 1, as its rule defines it; the rule's threshold applies to this or to a value that grows with it
	Gain       Gain     `json:"gain"`       // part of the run time that fixing it would save: an estimate
	Confidence float64  `json:"confidence"` // 0 to 1
	FromNS     int64    `json:"from_ns"`    // stretch that shows it best, ns from the trace's start
	ToNS       int64    `json:"to_ns"`
	Evidence   []string `json:"evidence"` // sentences with the numbers, safe to show
	Goids      []uint64 `json:"goids"`    // rows to look at, at most a few
	Worst      *Worst   `json:"worst"`    // longest wait that it is about; null: none

	// weight is Gain, or where that is unknown a lower bound of the time at stake. Findings
	// are sorted and dropped by it.
	weight float64
	spared float64 // part of the core time: work of the program that would not be needed any more
	facts  facts   // the rule's result; words.go makes its sentences
	said   words   // sentences, with marks
	use    *use    // of the lock that it is about; nil: none
	places []Place // places in the source, most important first
	holder string  // description of that lock's holder; "": not known
}

// Worst is the longest of the waits that a finding is about.
type Worst struct {
	Goid   uint64 `json:"goid"` // the waiter
	FromNS int64  `json:"from_ns"`
	ToNS   int64  `json:"to_ns"`
}

// worse keeps a wait that the finding is about if it is the longest so far.
func (f *Finding) worse(g *gor, from, to int64) {
	if f.Worst == nil || to-from > f.Worst.ToNS-f.Worst.FromNS {
		f.Worst = &Worst{g.id, from, to}
	}
}

// Gain is a part of the run time, 0 to 1. It is negative if unknown, which is null in JSON.
type Gain float64

// unknownGain is the gain that a trace can't show: the work that caches would save, or
// whether serial work could be done in parallel.
const unknownGain Gain = -1

// MarshalJSON writes a number, or null if the gain is unknown.
func (g Gain) MarshalJSON() ([]byte, error) {
	if g < 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(g))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Gain) UnmarshalJSON(b []byte) error {
	*g = unknownGain
	if string(b) == "null" {
		return nil
	}
	return json.Unmarshal(b, (*float64)(g))
}

// Report is the result of an examination. Times are ns.
type Report struct {
	Findings     []Finding     `json:"findings"` // best first; empty, not nil, if there are none
	FromNS       int64         `json:"from_ns"`  // the examined range
	ToNS         int64         `json:"to_ns"`
	Cores        Cores         `json:"cores"`
	End          *analysis.End `json:"end"`         // null: the program ended well, or is running, or its end is not known
	Starved      *Starved      `json:"starved"`     // null: the program had the CPUs that it could use, or that is not known
	Speedup      []Slice       `json:"speedup"`     // parts that add up to Cores.Count; empty: not known
	Parallelism  []float64     `json:"parallelism"` // part of the time by the number of goroutines that ran at once; empty: not known
	CriticalPath []Path        `json:"critical_path"`
	Unexamined   []Unexamined  `json:"unexamined"`
	Notes        []string      `json:"notes"` // limits of the results: losses, checks that failed

	marked []string // Notes, with marks
}

// Cores is the number of CPUs that the program could use.
type Cores struct {
	Count float64 `json:"count"` // 0: not known
	Why   string  `json:"why"`   // the limit that determines it
}

// Slice is a part of the speed-up stack, in cores.
type Slice struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"`
}

// Path is the critical path of the run, or the sum of those of the scopes of a name, found
// by walking back from the end along the wake-ups.
type Path struct {
	Of     string   `json:"of"`    // a scope's name; "": the run
	Count  int64    `json:"count"` // scopes whose paths were walked
	All    int64    `json:"all"`   // all scopes of the name
	Time   int64    `json:"ns"`    // sum of the walked scopes' times
	Parts  []Part   `json:"parts"` // longest first
	WhatIf []WhatIf `json:"what_if"`
	// Steps are the longest steps of the path, by time: a goroutine, begin and end. They are
	// set for the run alone, and if Options.Drawn is. AllSteps is the number of steps before
	// the rest was left out.
	Steps    [][3]int64 `json:"steps,omitempty"`
	AllSteps int        `json:"all_steps,omitempty"`
}

// Part is a scope and a state on a critical path.
type Part struct {
	Name  string  `json:"name"`  // a scope's name; "": in no scope
	State string  `json:"state"` // the goroutine's state, by states.Names
	Time  int64   `json:"ns"`
	Share float64 `json:"share"`
}

// WhatIf is the gain if the scopes of a name took no time of their own.
type WhatIf struct {
	Name string  `json:"name"`
	Gain float64 `json:"gain"` // 0 to 1 of the path's time
	// Partly has the gains if they took 3/4, 1/2 and 1/4 of their own time. It is set for the
	// run alone, and if Options.Drawn is.
	Partly []float64 `json:"partly,omitempty"`
}

// Unexamined lists rules that lacked data.
type Unexamined struct {
	Verdicts []Verdict `json:"verdicts"`
	Why      string    `json:"why"`
	How      string    `json:"how"` // how to record that data
}

// Options select what is examined.
type Options struct {
	// Selection is the part of the trace. Names and Tracks choose the scopes and rows of
	// findings; the cores are shared with all others.
	analysis.Selection
	// State is whether the trace is still being written; "": not known, and the report does
	// not mention it.
	State analysis.State
	// Bandwidth is the measured memory bandwidth of the machine; nil: not measured.
	Bandwidth *Bandwidth
	// Spares is advice that saves the program memory, safe to show; "": none. Findings on the
	// collector and on page faults cite it.
	Spares string
	// Drawn asks for the data of a picture: the steps of the critical path, and the gains
	// where the scopes of a name take a part of their time.
	Drawn   bool
	Context context.Context // its end ends the examination; nil: none
}

// Bandwidth is the result of scopeview membench: the factor by which the same work takes
// longer on several cores at once than on one.
type Bandwidth struct {
	CPU    string // the machine's processor; "": not known
	Points []BandwidthPoint
}

// BandwidthPoint is the measurement on a number of cores.
type BandwidthPoint struct {
	Cores   int
	Memory  float64 // factor of work that only moves memory
	Compute float64 // factor of work that needs no memory
}
