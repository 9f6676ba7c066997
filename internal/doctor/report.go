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

// Verdicts lists all that there are, in the order of the table of rules. The names
// false-sharing and shared-atomic are kept free for what needs other data.
var Verdicts = []Verdict{
	lockContention, fatCriticalSection, serialization, workInflation, memoryBandwidth, loadImbalance, tooFine,
	oversubscription, notEnoughParallelism, gc, channel, convoy, spinning, pageFaults, blockingUnderLock,
}

// Finding is one problem that a trace shows.
type Finding struct {
	Verdict    Verdict  `json:"verdict"`
	Text       string   `json:"text"`       // a sentence or two for people, safe to show
	Object     string   `json:"object"`     // the lock, the channel's place, the group; "" where there is none
	Scopes     []string `json:"scopes"`     // names of the scopes concerned, the most concerned first
	Share      float64  `json:"share"`      // 0 to 1, of what the rule says: its threshold is compared with this or grows with it
	Gain       Gain     `json:"gain"`       // the part of the run time that mending it would save: an estimate
	Confidence float64  `json:"confidence"` // 0 to 1
	FromNS     int64    `json:"from_ns"`    // where it is seen best, ns from the trace's start
	ToNS       int64    `json:"to_ns"`
	Evidence   []string `json:"evidence"` // sentences with the numbers, safe to show
	Goids      []uint64 `json:"goids"`    // the rows to look at, at most a few
	Worst      *Worst   `json:"worst"`    // the longest wait that it is about; null: it is about none

	// weight is what Gain is, or where that is unknown how much is at stake at least: by
	// it findings are put in order, and told at all.
	weight float64
	spared float64 // of the core time: work of the program that would not be done any more
	facts  facts   // what the rule found: words.go makes the sentences of it
	said   words   // these, with marks
	use    *use    // of the lock that it is about; nil: none
	places []Place // where in the source it is, what matters most first
	holder string  // of that lock, as a sentence has it; "": not known
}

// Worst is the longest of the waits that a finding is about: what shows best what is wrong.
type Worst struct {
	Goid   uint64 `json:"goid"` // who waited
	FromNS int64  `json:"from_ns"`
	ToNS   int64  `json:"to_ns"`
}

// worse takes in a wait that the finding is about.
func (f *Finding) worse(g *gor, from, to int64) {
	if f.Worst == nil || to-from > f.Worst.ToNS-f.Worst.FromNS {
		f.Worst = &Worst{g.id, from, to}
	}
}

// Gain is a part of the run time, 0 to 1, or negative where it is unknown, which is null
// in JSON.
type Gain float64

// unknownGain is the gain of what a trace can't tell: how much work the caches would spare,
// or whether what is done one after the other could be done at once.
const unknownGain Gain = -1

// MarshalJSON writes a number, or null.
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

// Report is what the doctor has to say about a trace. Times are ns.
type Report struct {
	Findings     []Finding     `json:"findings"` // best first; empty, not nil, where there is nothing to say
	FromNS       int64         `json:"from_ns"`  // what was looked at
	ToNS         int64         `json:"to_ns"`
	Cores        Cores         `json:"cores"`
	End          *analysis.End `json:"end"`         // null: the program ended well, or goes on, or that is not known
	Starved      *Starved      `json:"starved"`     // null: the program had the CPUs that it wanted, or that is not known
	Speedup      []Slice       `json:"speedup"`     // the parts add up to Cores.Count; empty: not known
	Parallelism  []float64     `json:"parallelism"` // share of the time in which so many goroutines ran at once; empty: not known
	CriticalPath []Path        `json:"critical_path"`
	Unexamined   []Unexamined  `json:"unexamined"`
	Notes        []string      `json:"notes"` // what limits all of the above: losses, checks that failed

	marked []string // the notes, with marks
}

// Cores is how many CPUs the program could use.
type Cores struct {
	Count float64 `json:"count"` // 0: not known
	Why   string  `json:"why"`   // what bounds it
}

// Slice is a part of the speed-up stack: how many cores' time went there.
type Slice struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"`
}

// Path is the critical path of the run, or of the scopes of a name: what their time
// consisted of, found by walking back from the end along who woke whom.
type Path struct {
	Of     string   `json:"of"`    // a scope's name; "": the run
	Count  int64    `json:"count"` // how many were walked
	All    int64    `json:"all"`   // of so many
	Time   int64    `json:"ns"`    // their time together
	Parts  []Part   `json:"parts"` // longest first
	WhatIf []WhatIf `json:"what_if"`
	// Steps, of the run alone and if Options.Drawn, are whose time the path consists of: a
	// goroutine, and from when to when. Of AllSteps these are the longest, by time.
	Steps    [][3]int64 `json:"steps,omitempty"`
	AllSteps int        `json:"all_steps,omitempty"`
}

// Part is what was on a critical path.
type Part struct {
	Name  string  `json:"name"`  // a scope's name; "": in no scope
	State string  `json:"state"` // what the goroutine did there, by states.Names
	Time  int64   `json:"ns"`
	Share float64 `json:"share"`
}

// WhatIf is what the time would be if the scopes of a name took none of their own.
type WhatIf struct {
	Name string  `json:"name"`
	Gain float64 `json:"gain"` // 0 to 1 of the time
	// Partly, if Options.Drawn and of the run alone, is the gain if they took 3/4, 1/2 and
	// 1/4 of their own.
	Partly []float64 `json:"partly,omitempty"`
}

// Unexamined tells of rules that could not look.
type Unexamined struct {
	Verdicts []Verdict `json:"verdicts"`
	Why      string    `json:"why"`
	How      string    `json:"how"` // what to do to have them examined
}

// Options say what is to be examined.
type Options struct {
	// Selection is the part of the trace. Names and Tracks choose the scopes and rows
	// that findings are about; the cores are shared with all others.
	analysis.Selection
	// State is whether the trace is still written; "": not known, and nothing is said of it.
	State analysis.State
	// Bandwidth is, if it is not nil, what was measured about the machine's memory.
	Bandwidth *Bandwidth
	// Spares is, if it is not empty, advice that spares the program memory, safe to show: findings of the
	// collector and of page faults cite it.
	Spares string
	// Drawn asks for what a picture shows besides: the steps of the critical path, and what is
	// gained where the scopes of a name take a part of their time.
	Drawn   bool
	Context context.Context // ends the examination; nil: nothing does
}

// Bandwidth is what scopeview membench measured: how many times longer the same work
// takes on so many cores at once than on one.
type Bandwidth struct {
	CPU    string // the machine's processor; "" not known
	Points []BandwidthPoint
}

// BandwidthPoint is the measurement with so many cores.
type BandwidthPoint struct {
	Cores   int
	Memory  float64 // of work that only moves memory
	Compute float64 // of work that needs none
}
