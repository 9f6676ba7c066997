package samples

import (
	"context"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Selection selects samples, and how they are kept separate.
type Selection struct {
	*analysis.Selection // its range of time, rows, objects and Progress are used
	Goroutines          []uint64
	Threads             []uint32
	CPUs                []uint32       // of samples, if the source has it; nil: all
	States              []states.State // of waits; nil: all
	// Scopes matches the names of scopes: only what happens in their executions is selected;
	// nil: everything. Slowest is the share of the executions, 0.01 for the slowest
	// hundredth, that are Labels.Slow.
	Scopes  *glob.Filter
	Slowest float64
	// Imputed continues a goroutine's stack with that of the go statement.
	Imputed bool
	Split   Split
	// Enclosing requests all scopes around each sample (Sample.Scopes), with Split.Scope.
	Enclosing bool
	// Each, if not nil, is called with each sample before it is summed up; the frames are
	// valid as long as the Profile.
	Each func(*Sample)
	// With are handlers for OfTrace's reading of the Go execution trace, if there is one and
	// no error occurs before.
	With []states.Handler
}

// Split selects the labels by which samples are kept separate.
type Split struct{ Goroutine, Process, Thread, Track, Scope, State bool }

// Sample is one sample, or one wait.
type Sample struct {
	Time, Dur int64  // ns from the source's begin; Dur 0: none
	CPU       int32  // -1: not known
	Metric    uint16 // index of Profile.Metrics
	// OnCPU marks samples of CPU time: of Go's CPU profile or, if that has none, of the
	// counter task-clock. Using both would count the same time twice.
	OnCPU  bool
	Value  int64
	Frames []*symbols.Frame
	Stack  [2]uint32 // the same for samples with the same frames
	Labels Labels    // all that are known, whatever Split selects
	// Scopes are those around it, the outermost first, if Selection.Enclosing is set. They
	// are valid until Each returns.
	Scopes []Scope
}

// Scope is an execution of a scope that a sample was in.
type Scope struct {
	Name uint16 // the trace's id
	Slow bool   // one of the slowest executions of its name, or in one
}

// to returns the end of the range of time.
func (s *Selection) to() int64 {
	if s.To <= 0 {
		return math.MaxInt64
	}
	return s.To
}

// wants reports whether a goroutine's state is selected.
func (s *Selection) wants(goid uint64, state states.State) bool {
	return (len(s.Goroutines) == 0 || slices.Contains(s.Goroutines, goid)) && (s.States == nil || slices.Contains(s.States, state))
}

// onThread reports whether a thread is selected.
func (s *Selection) onThread(thread uint32) bool {
	return len(s.Threads) == 0 || slices.Contains(s.Threads, thread)
}

// onCPU reports whether a CPU is selected.
func (s *Selection) onCPU(cpu uint32) bool {
	return len(s.CPUs) == 0 || slices.Contains(s.CPUs, cpu)
}

// anytime reports whether the selection uses nothing that only a recording has: times,
// goroutines, threads, rows, scopes.
func (s *Selection) anytime() bool {
	return s.From == 0 && s.To == 0 && s.anyone()
}

// anyone reports whether the selection includes all goroutines, threads, CPUs, states,
// scopes and rows.
func (s *Selection) anyone() bool {
	return len(s.Goroutines) == 0 && len(s.Threads) == 0 && len(s.CPUs) == 0 && s.States == nil && s.Scopes == nil && s.allTracks()
}

func (s *Selection) allTracks() bool { return s.Tracks.All() }

// watch returns a function that reports progress now and then, and whether to continue.
func (s *Selection) watch(ctx context.Context) func(ns int64) bool {
	w := s.Watch()
	return func(ns int64) bool { return w.Look(ctx, ns) == nil }
}
