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
	Verdict    Verdict  `json:"verdict" says:"one of those of 'doctor --help'; names are never used again for something else"`
	Text       string   `json:"text" says:"a sentence or two"`
	Object     string   `json:"object" says:"the lock, the place of the channel, the group; may be empty"`
	Scopes     []string `json:"scopes" says:"names, the most affected first"`
	Share      float64  `json:"share" unit:"0 to 1" says:"share of the cores' or the run's time that the problem takes, as in 'text'"`
	Gain       Gain     `json:"gain" unit:"0 to 1" says:"the part of the run time that fixing it would save: an estimate; null: not known"`
	Confidence float64  `json:"confidence" unit:"0 to 1" says:"confidence of the rule"`
	FromNS     int64    `json:"from_ns" unit:"ns" says:"begin of the part that shows it best"`
	ToNS       int64    `json:"to_ns" unit:"ns"`
	Evidence   []string `json:"evidence" says:"sentences with the numbers"`
	Goids      []uint64 `json:"goids" unit:"number" says:"the goroutines concerned"`
	Worst      *Worst   `json:"worst" says:"the longest of the waits concerned; null: the finding is not about waits"`

	// weight is Gain, or where that is unknown a lower bound of the time at stake. Findings
	// are sorted and dropped by it.
	weight    float64
	savedWork float64 // part of the core time: work of the program that would not be needed any more
	facts     facts   // the rule's result; words.go makes its sentences
	sentences words   // sentences, with marks
	use       *use    // of the lock that it is about; nil: none
	places    []Place // places in the source, most important first
	holder    string  // description of that lock's holder; "": not known
}

// Worst is the longest of the waits that a finding is about.
type Worst struct {
	Goid   uint64 `json:"goid" unit:"number" says:"the goroutine that waited"`
	FromNS int64  `json:"from_ns" unit:"ns"`
	ToNS   int64  `json:"to_ns" unit:"ns"`
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
	FromNS       int64         `json:"from_ns" unit:"ns" says:"begin of the examined part"`
	ToNS         int64         `json:"to_ns" unit:"ns"`
	Cores        Cores         `json:"cores"`
	End          *analysis.End `json:"end" says:"how the program failed; null: it ended normally, still runs, or that is not known"`
	Starved      *Starved      `json:"starved" says:"null: less than a tenth of the CPUs that the program wanted was taken by others, or that is not known"`
	Speedup      []Slice       `json:"speedup"` // the parts add up to Cores.Count; empty: not known
	Parallelism  []float64     `json:"parallelism" unit:"0 to 1" says:"shares of the time with no goroutine running, one, two, …"`
	CriticalPath []Path        `json:"critical_path"`
	Slow         []Slow        `json:"slow"` // names with most time first; empty: none is known
	Unexamined   []Unexamined  `json:"unexamined"`
	Notes        []string      `json:"notes" says:"limits of the whole report: losses, failed checks"`

	markedNotes []string // Notes, with marks
}

// Cores is the number of CPUs that the program could use.
type Cores struct {
	Count float64 `json:"count" unit:"CPUs" says:"CPUs that the program could use; 0: not known"`
	Why   string  `json:"why" says:"the limit that sets their number"`
}

// Slice is a part of the speed-up stack, in cores.
type Slice struct {
	Name  string  `json:"name" says:"where the time of the cores went"`
	Cores float64 `json:"cores" unit:"CPUs" says:"average number of cores used; they add up to 'cores.count'"`
}

// Path is the critical path of the run, or the sum of those of the scopes of a name, found
// by walking back from the end along the wake-ups.
type Path struct {
	Of     string   `json:"of" says:"name of the scopes; empty: the run"`
	Count  int64    `json:"count" unit:"scopes" says:"number that was examined; 1 for the run"`
	All    int64    `json:"all" unit:"scopes" says:"number of scopes of that name"`
	Time   int64    `json:"ns" unit:"ns" says:"their total time"`
	Parts  []Part   `json:"parts"` // longest first
	WhatIf []WhatIf `json:"what_if"`
	// Steps, set for the run's path alone and only if Options.Drawn, holds the longest of the
	// path's AllSteps steps, by time: a goroutine, and the begin and end of its step in ns.
	Steps    [][3]int64 `json:"steps,omitempty" unit:"ns" says:"for the page only: goroutine, from and to of the longest steps of the run's path, by time"`
	AllSteps int        `json:"all_steps,omitempty" unit:"steps" says:"for the page only: number of steps of the path"`
}

// Part is a scope and a state on a critical path.
type Part struct {
	Name  string  `json:"name" says:"a scope; empty: outside any"`
	State string  `json:"state" says:"the goroutine's state there, as in 'states'"`
	Time  int64   `json:"ns" unit:"ns" says:"longest first"`
	Share float64 `json:"share" unit:"0 to 1" says:"of the path"`
}

// WhatIf is the gain if the scopes of a name took no time of their own.
type WhatIf struct {
	Name string  `json:"name"`
	Gain float64 `json:"gain" unit:"0 to 1" says:"the part of the time saved if scopes of the name took no time"`
	// Partly, if Options.Drawn and of the run alone, is the gain if they took 3/4, 1/2 and
	// 1/4 of their own.
	Partly []float64 `json:"partly,omitempty" unit:"0 to 1" says:"for the page only: the gain if they took 3/4, 1/2 and 1/4 of their time"`
}

// Unexamined lists rules that lacked data.
type Unexamined struct {
	Verdicts []Verdict `json:"verdicts" says:"rules that lacked data"`
	Why      string    `json:"why"`
	How      string    `json:"how" says:"how to record the data"`
}

// Options select what is examined.
type Options struct {
	// Selection is the part of the trace. Names and Tracks choose the scopes and rows of
	// findings; the cores are shared with all others.
	analysis.Selection
	// State says whether the trace is still being written; "": not known, and the report does
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
