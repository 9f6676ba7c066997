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
	Verdict    Verdict  `json:"verdict" says:"one of those of 'doctor --help'; names are never used again for something else"`
	Text       string   `json:"text" says:"a sentence or two"`
	Object     string   `json:"object" says:"the lock, the place of the channel, the group; may be empty"`
	Scopes     []string `json:"scopes" says:"names, the most concerned first"`
	Share      float64  `json:"share" unit:"0 to 1" says:"what the problem takes, of the time of the cores or of the run, as 'text' says"`
	Gain       Gain     `json:"gain" unit:"0 to 1" says:"the part of the run time that mending it would save: an estimate; null: it can't be known"`
	Confidence float64  `json:"confidence" unit:"0 to 1" says:"how sure the rule is"`
	FromNS     int64    `json:"from_ns" unit:"ns" says:"where it is seen best"`
	ToNS       int64    `json:"to_ns" unit:"ns"`
	Evidence   []string `json:"evidence" says:"sentences with the numbers"`
	Goids      []uint64 `json:"goids" unit:"number" says:"goroutines to look at"`
	Worst      *Worst   `json:"worst" says:"the longest of the waits that it is about; null: it is about none"`

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
	Goid   uint64 `json:"goid" unit:"number" says:"the goroutine that waited"`
	FromNS int64  `json:"from_ns" unit:"ns"`
	ToNS   int64  `json:"to_ns" unit:"ns"`
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
	FromNS       int64         `json:"from_ns" unit:"ns" says:"what was looked at"`
	ToNS         int64         `json:"to_ns" unit:"ns"`
	Cores        Cores         `json:"cores"`
	End          *analysis.End `json:"end" says:"how the program ended; null: well, or it goes on, or that is not known"`
	Starved      *Starved      `json:"starved" says:"null: others took less than a tenth of the CPUs that the program wanted, or that is not known"`
	Speedup      []Slice       `json:"speedup"` // the parts add up to Cores.Count; empty: not known
	Parallelism  []float64     `json:"parallelism" unit:"0 to 1" says:"of the time, by how many goroutines ran at once: none, one, …"`
	CriticalPath []Path        `json:"critical_path"`
	Unexamined   []Unexamined  `json:"unexamined"`
	Notes        []string      `json:"notes" says:"what limits all of it: losses, checks that failed"`

	marked []string // the notes, with marks
}

// Cores is how many CPUs the program could use.
type Cores struct {
	Count float64 `json:"count" unit:"CPUs" says:"that the program could use; 0: not known"`
	Why   string  `json:"why" says:"what bounds them"`
}

// Slice is a part of the speed-up stack: how many cores' time went there.
type Slice struct {
	Name  string  `json:"name" says:"where the time of the cores went"`
	Cores float64 `json:"cores" unit:"CPUs" says:"that it took; they add up to 'cores.count'"`
}

// Path is the critical path of the run, or of the scopes of a name: what their time
// consisted of, found by walking back from the end along who woke whom.
type Path struct {
	Of     string   `json:"of" says:"the scopes' name; empty: the run"`
	Count  int64    `json:"count" unit:"scopes" says:"that were walked; 1 of the run"`
	All    int64    `json:"all" unit:"scopes" says:"how many there are of that name"`
	Time   int64    `json:"ns" unit:"ns" says:"their time together"`
	Parts  []Part   `json:"parts"` // longest first
	WhatIf []WhatIf `json:"what_if"`
	// Steps, of the run alone and if Options.Drawn, are whose time the path consists of: a
	// goroutine, and from when to when. Of AllSteps these are the longest, by time.
	Steps    [][3]int64 `json:"steps,omitempty" unit:"ns" says:"of the page alone: a goroutine, from and to: the longest stretches of the path of the run, by time"`
	AllSteps int        `json:"all_steps,omitempty" unit:"steps" says:"how many steps the path has; of the page alone"`
}

// Part is what was on a critical path.
type Part struct {
	Name  string  `json:"name" says:"a scope; empty: in none"`
	State string  `json:"state" says:"what the goroutine did there, as in 'states'"`
	Time  int64   `json:"ns" unit:"ns" says:"longest first"`
	Share float64 `json:"share" unit:"0 to 1" says:"of the path"`
}

// WhatIf is what the time would be if the scopes of a name took none of their own.
type WhatIf struct {
	Name string  `json:"name"`
	Gain float64 `json:"gain" unit:"0 to 1" says:"of the time, if the scopes of the name took none"`
	// Partly, if Options.Drawn and of the run alone, is the gain if they took 3/4, 1/2 and
	// 1/4 of their own.
	Partly []float64 `json:"partly,omitempty" unit:"0 to 1" says:"of the page alone: the gain if they took 3/4, 1/2 and 1/4 of their time"`
}

// Unexamined tells of rules that could not look.
type Unexamined struct {
	Verdicts []Verdict `json:"verdicts" says:"rules that could not look"`
	Why      string    `json:"why"`
	How      string    `json:"how" says:"what to do to have them examined"`
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
