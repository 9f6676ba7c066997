package ab

import (
	"math"

	"github.com/scopeview/scopeview/internal/runs"
)

// names are those of the builds.
var names = []string{"A", "B"}

// Result is what the runs have shown. Times are integer nanoseconds.
type Result struct {
	Package string   `json:"package"`
	Test    bool     `json:"test"`
	Args    []string `json:"arguments"`
	Runs    int      `json:"runs"`   // of each build
	Builds  []*Build `json:"builds"` // A and B
	// Changed is how many packages the compiler has made another thing of. Identical says that
	// there are none: B's profile has changed nothing, and nothing was run.
	Changed   int         `json:"changed"`
	Identical bool        `json:"identical"`
	CPU       *Time       `json:"cpu"` // null if nothing was run, as is Wall
	Wall      *Time       `json:"wall"`
	Output    runs.Output `json:"output"` // "" if nothing was run
}

// Time is what the runs took. Changes are those of B against A, as shares: -0.05 is 5 % less.
type Time struct {
	A int64 `json:"a_ns"` // the median of its runs
	B int64 `json:"b_ns"`
	// Change is that of the medians, or the bound of the interval that is nearest to it.
	Change float64 `json:"change"`
	// Low and High bound the interval in which the change is with that confidence.
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // 0: some run took no time that the system can tell
	Verdict    Verdict `json:"verdict"`
}

// Verdict is what the runs show.
type Verdict string

// Verdicts.
const (
	less    Verdict = "less"    // B needs less
	more    Verdict = "more"    // B needs more
	same    Verdict = "same"    // no difference can be told
	unknown Verdict = "unknown" // the runs are too few, or too short
)

// conclude sets what the runs show.
func (r *Result) conclude(sides []*runs.Side) {
	a, b := sides[0], sides[1]
	r.CPU, r.Wall = timeOf(a.CPU, b.CPU), timeOf(a.Wall, b.Wall)
	r.Output = a.Compare(b)
}

// timeOf compares runs. The interval is that of differences between logarithms, since a
// profile changes times by a factor.
func timeOf(a, b []int64) *Time {
	t := &Time{A: runs.Median(a), B: runs.Median(b), Verdict: unknown}
	la, okA := logs(a)
	lb, okB := logs(b)
	if !okA || !okB {
		return t
	}
	low, high, confidence := runs.Intervals{}.Of(la, lb)
	t.Low, t.High, t.Confidence = math.Expm1(low), math.Expm1(high), confidence
	t.Change = min(max(float64(t.B)/float64(t.A)-1, t.Low), t.High)
	switch {
	case confidence < runs.Wanted:
	case t.High < 0:
		t.Verdict = less
	case t.Low > 0:
		t.Verdict = more
	default:
		t.Verdict = same
	}
	return t
}

// logs returns logarithms of times; ok is false if one is not positive.
func logs(times []int64) (list []float64, ok bool) {
	for _, t := range times {
		if t <= 0 {
			return nil, false
		}
		list = append(list, math.Log(float64(t)))
	}
	return list, true
}
