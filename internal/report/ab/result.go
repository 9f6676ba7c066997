package ab

import (
	"math"

	"github.com/scopeview/scopeview/internal/runs"
)

// names are the names of the builds.
var names = []string{"A", "B"}

// Result holds the results of the runs. Times are integer nanoseconds.
type Result struct {
	Package string   `json:"package"`
	Test    bool     `json:"test" says:"it is the package's test program"`
	Args    []string `json:"arguments" says:"of the program"`
	Runs    int      `json:"runs" unit:"runs" says:"of each build"`
	Builds  []*Build `json:"builds" says:"A and B; never null"`
	// Changed counts the packages whose compiled code differs. If there are none, Identical is set:
	// B's profile changed nothing, and nothing was run.
	Changed   int         `json:"changed" unit:"count" says:"packages whose compiled code differs"`
	Identical bool        `json:"identical" says:"both executables are the same, and nothing was run"`
	CPU       *Time       `json:"cpu" says:"null: nothing was run"`
	Wall      *Time       `json:"wall" says:"null: nothing was run"`
	Output    runs.Output `json:"output" says:"'same', 'differ', 'varies' from run to run; empty: nothing was run"`
}

// Time summarizes the durations of the runs. Changes are B against A, as shares: -0.05 is 5 % less.
type Time struct {
	A int64 `json:"a_ns" head:"A" unit:"ns" says:"the median of A's runs"`
	B int64 `json:"b_ns" head:"B" unit:"ns" says:"the median of B's runs"`
	// Change is the change of the medians, or the bound of the interval that is nearest to it.
	Change float64 `json:"change" head:"difference" unit:"share" says:"of the medians, B against A: -0.05 is 5 % less"`
	// Low and High bound the interval that contains the change with that confidence.
	Low        float64 `json:"low" unit:"share" says:"the interval's lower end"`
	High       float64 `json:"high" unit:"share" says:"the interval's upper end"`
	Confidence float64 `json:"confidence" unit:"share" says:"of the interval; 0: the system measured no time in some run"`
	Verdict    Verdict `json:"verdict" says:"'less', 'more', 'same', or, with too few or too short runs, 'unknown'"`

	What string `json:"-" head:"median"` // the kind of time
}

// Verdict is the conclusion from the runs.
type Verdict string

// Verdicts.
const (
	less    Verdict = "less"    // B needs less
	more    Verdict = "more"    // B needs more
	same    Verdict = "same"    // the runs show no difference
	unknown Verdict = "unknown" // the runs are too few, or too short
)

// conclude sets the verdicts from the runs.
func (r *Result) conclude(sides []*runs.Side) {
	a, b := sides[0], sides[1]
	r.CPU, r.Wall = timeOf("CPU time", a.CPU, b.CPU), timeOf("wall time", a.Wall, b.Wall)
	r.Output = a.Compare(b)
}

// timeOf compares the times of both sides. The interval is of differences between logarithms,
// because a profile changes times by a factor.
func timeOf(what string, a, b []int64) *Time {
	t := &Time{A: runs.Median(a), B: runs.Median(b), Verdict: unknown, What: what}
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

// logs returns the logarithms of times; ok is false if one of them is not positive.
func logs(times []int64) (list []float64, ok bool) {
	for _, t := range times {
		if t <= 0 {
			return nil, false
		}
		list = append(list, math.Log(float64(t)))
	}
	return list, true
}
