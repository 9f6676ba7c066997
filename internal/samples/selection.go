package samples

import (
	"context"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/states"
)

// Selection says which samples are wanted, and how far apart they are kept.
type Selection struct {
	*analysis.Selection // of it the range of time, the rows, the objects and Progress
	Goroutines          []uint64
	Threads             []uint32
	CPUs                []uint32       // of samples, where the source tells it; nil: all
	States              []states.State // of waits; nil: all
	// Scopes has the names of scopes in whose executions something is to have happened; nil:
	// anywhere. Slowest is the share of the executions, 0.01 of all, that are Labels.Slow.
	Scopes  *glob.Filter
	Slowest float64
	// Imputed has the stack of a goroutine go on with that of the go statement.
	Imputed bool
	Split   Split
	// Enclosing asks for all scopes around each sample (Sample.Scopes), with Split.Scope.
	Enclosing bool
	// Each, if there is one, is called with each sample before it is summed up; the frames
	// are good for as long as the Profile is.
	Each func(*Sample)
	// With takes part in the reading of the Go execution trace that OfTrace does, if there
	// is one and nothing is wrong before.
	With []states.Handler
}

// Split says by what samples are kept apart.
type Split struct{ Goroutine, Process, Thread, Row, Scope, State bool }

// Sample is one sample, or one wait.
type Sample struct {
	Time, Dur int64  // ns from the source's begin; Dur 0: it has none
	CPU       int32  // -1: not known
	Metric    uint16 // of Profile.Metrics
	// OnCPU says that it is one of CPU time: of Go's CPU profile or, if that had none until
	// then, of the counter task-clock. Those of both would be the same time twice.
	OnCPU  bool
	Value  int64
	Frames []*Frame
	Stack  [2]uint32 // the same for samples with the same frames
	Labels Labels    // all that is known, whatever Split says
	// Scopes are those around it, the outermost first, as far as they were asked for
	// (Selection.Enclosing). They are good until Each returns.
	Scopes []Scope
}

// Scope is the execution of a scope that a sample was in.
type Scope struct {
	Name uint16 // the trace's
	Slow bool   // it is one of the slowest executions of its name, or in one
}

// to is the end of the range of time.
func (s *Selection) to() int64 {
	if s.To <= 0 {
		return math.MaxInt64
	}
	return s.To
}

// wants reports whether something of a goroutine in a state is wanted at all.
func (s *Selection) wants(goid uint64, state states.State) bool {
	return (len(s.Goroutines) == 0 || slices.Contains(s.Goroutines, goid)) && (s.States == nil || slices.Contains(s.States, state))
}

// onThread reports whether what a thread did is wanted.
func (s *Selection) onThread(thread uint32) bool {
	return len(s.Threads) == 0 || slices.Contains(s.Threads, thread)
}

// onCPU reports whether what was sampled on a CPU is wanted.
func (s *Selection) onCPU(cpu uint32) bool {
	return len(s.CPUs) == 0 || slices.Contains(s.CPUs, cpu)
}

// anytime reports whether nothing is asked that only a recording can tell: when it was,
// and whose.
func (s *Selection) anytime() bool {
	return s.From == 0 && s.To == 0 && s.anyone()
}

// anyone reports whether nothing is asked of whose something was.
func (s *Selection) anyone() bool {
	return len(s.Goroutines) == 0 && len(s.Threads) == 0 && len(s.CPUs) == 0 && s.States == nil && s.Scopes == nil && s.allRows()
}

func (s *Selection) allRows() bool { return s.Tracks.All() }

// watch returns what looks up from reading now and then; it reports whether to go on.
func (s *Selection) watch(ctx context.Context) func(ns int64) bool {
	w := s.Watch()
	return func(ns int64) bool { return w.Look(ctx, ns) == nil }
}
