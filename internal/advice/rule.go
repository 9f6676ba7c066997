package advice

import (
	"math"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Groups of diagnostics.
const (
	Containers    = "containers"
	Algorithms    = "algorithms"
	Strings       = "strings"
	Allocations   = "allocations"
	InputOutput   = "io"
	Multithreaded = "multithreaded"
	Locality      = "locality"
)

// Rule is a diagnostic.
type Rule struct {
	ID       string // "slice-too-small"
	Original string // what GCC's Profile Mode called it: "VECTOR_TOO_SMALL"; "" if it had none
	Group    string
	Kinds    []row.Kind // of the rows that it judges
	Rest     bool       // it judges only what no other rule has advice for at the same place
	// Judge judges a row. What it returns without a gain is no advice.
	Judge func(r *Row, w Weights) Judgement
}

// Judgement is what a rule finds in a row.
type Judgement struct {
	NS    float64 // that the alternative saves
	Bytes float64 // of memory that it saves: allocated over time, or kept
	Ops   float64 // small operations that it saves, as words copied: the improvement is their log10

	Advice   string   // what to do, with numbers
	Evidence []string // what was seen
	Stoppers []string // what in the observed use speaks against it
	Fix      Fix      // how it may be done by a machine
}

// Fix is a mechanical change.
type Fix struct {
	What string `json:"what"` // "capacity": a make, or a var, gets a capacity; "": there is none
	N    int64  `json:"n"`
}

// Row is what runs have counted of a kind and a call stack.
type Row struct {
	row.Row
	Runs int     // it is in so many
	NS   float64 // how long all of them were counted
	root string  // where the standard library's files lie, with a slash behind it; "": their paths begin with their package's
}

// V is a value of a row, as a float.
func (r *Row) V(v row.Value) float64 { return float64(r.Stats.V[v]) }

// Mean is a value for each instance or use.
func (r *Row) Mean(v row.Value) float64 {
	if r.Stats.V[row.Made] == 0 {
		return 0
	}
	return r.V(v) / r.V(row.Made)
}

// P is a quantile of a distribution, not above the largest value where that is known.
func (r *Row) P(h row.Hist, q float64) int64 {
	n := r.Quantile(h, q)
	if most := r.Stats.V[row.MaxLen]; h == row.Len && most > 0 {
		n = min(n, most)
	}
	if most := r.Stats.V[row.MaxCap]; h == row.Cap && most > 0 {
		n = min(n, most)
	}
	return n
}

// Site is the frame that advice is shown at: the innermost one that is not of the standard library.
func (r *Row) Site() string {
	for _, f := range r.Stack {
		if !r.standard(f) {
			return f
		}
	}
	if len(r.Stack) > 0 {
		return r.Stack[0]
	}
	return ""
}

// standard reports whether a frame is of the standard library. Its file tells: what is inlined of it may
// bear the name of a function of the program.
func (r *Row) standard(frame string) bool {
	_, file, _ := strings.Cut(frame, " ")
	if r.root != "" {
		return strings.HasPrefix(file, r.root)
	}
	first, _, slash := strings.Cut(file, "/")
	return slash && stdTop[first] // as -trimpath has it
}

// Improvement is the gain on a log10 scale, as the original has it: that of small operations, negative
// where the alternative does more.
func (j *Judgement) Improvement() int {
	switch {
	case j.Ops >= 1:
		return int(math.Log10(j.Ops))
	case j.Ops <= -1:
		return -int(math.Log10(-j.Ops))
	}
	return 0
}
