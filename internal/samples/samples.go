// Package samples has the model of a program's use of time and memory: call stacks with a
// weight in one or more metrics. Recordings, plain Go execution traces and pprof profiles
// are converted to it, and every view of functions, lines and instructions is made from it.
//
// # Design
//
//  1. A source is read once, as a stream, and summed up by stack: memory grows with the
//     different stacks and not with the samples. To keep samples separate by goroutine,
//     thread, row or scope, set Selection.Split.
//  2. CPU time is sampled. Waits are not: the Go execution trace has each with its stack
//     and its length, so waits are exact, and wall-clock time needs no sampling.
//  3. A goroutine's samples belong to the go statement that created it: its stacks continue with
//     those of its creators (Selection.Imputed), the rule that Sun's Analyzer applies to
//     the bodies of parallel loops. Otherwise main.main would have no time.
//  4. An unknown function is a frame of its own, <Unknown>, and never the nearest guess.
package samples

import (
	"cmp"
	"errors"
	"iter"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Unit is the unit of a metric.
type Unit string

// The units. Profiles of other programs may have others.
const (
	Nanoseconds Unit = "nanoseconds"
	Bytes       Unit = "bytes"
	Count       Unit = "count"
)

// Metric is a quantity that samples have a weight in.
type Metric struct {
	Name    string // for selecting it: cpu, lock
	Title   string // description for people
	Unit    Unit
	Sampled bool // estimated from samples; otherwise each event was recorded
	// Level marks a metric that is a state at the end of the range: the last value of each
	// stack. The values of parts of the range don't add up to it.
	Level bool
	// Of has the indexes of the metrics that this one is the sum of; nil: it is not a sum.
	Of []int
	// Whole is the value that shares refer to if values are negative: their absolute sum, or
	// that of the profile that was subtracted; WholeOf names it. 0: the total.
	Whole   int64
	WholeOf string
}

// ErrOverflow reports that values add up to more than 63 bits hold.
var ErrOverflow = errors.New("the values add up to more than 9223372036854775807")

// Names of frames that are not the program's.
const (
	UnknownName = "<Unknown>" // the function is not known
	TotalName   = "<Total>"   // caller of everything without a caller
	// UnknownCallerName stands for callers that are known not to be the next frame, and
	// TruncatedName for those that were dropped because the stack was too deep.
	UnknownCallerName = format.UnknownCaller
	TruncatedName     = "<truncated>"
)

// Labels identify the origin of samples, as far as Selection.Split requires it.
type Labels struct {
	Goid   uint64
	PID    uint32 // of the process; 0: not known
	Thread uint32
	State  states.State
	Slow   bool   // in one of the slowest executions (Selection.Slowest)
	Track  string // name of the goroutine's row
	Scope  string
}

// Stack is a call stack, and its value of each metric.
type Stack struct {
	// Frames are leaf first; equal frames are the same pointer. Their Func is never empty, and
	// unique to a function.
	Frames []*symbols.Frame
	Values []int64 // by Profile.Metrics; 0 for sums
	Labels Labels
}

// Profile is the content of a source.
type Profile struct {
	Metrics []Metric
	Preset  string // name of the metric to show first
	Stacks  []Stack
	Samples int64 // number of samples read
	// Notes are sentences about missing data, and the reliability of the rest.
	Notes []string
	// Damage are those of Notes that report damaged bytes of the source.
	Damage []string
	// Missing explains why the source is incomplete; "": it is complete, as far as can be
	// seen.
	Missing string
	// Binary is the path of the program's executable, and BuildID its id; "": not known.
	Binary, BuildID string
	From, To        int64 // ns from the source's begin, of the selected range
	Executions      Executions
	// ByScope has the executions of each scope by its name in the trace, if
	// Selection.Enclosing was set.
	ByScope map[uint16]Executions
	// Aliases are the other names of functions, by the one that they have here, which is the
	// last in alphabetical order.
	Aliases map[string][]string
	Inlined bool // frames have Inlined; otherwise the executable may have it

	objects map[string]Executable     // by the objects' names in frames
	symbols map[*symbols.Frame]string // names of Func in the object, where several functions have that name
}

// Symbol returns the name of a frame's function in its object, which other functions may have too.
func (p *Profile) Symbol(f *symbols.Frame) string { return cmp.Or(p.symbols[f], f.Func) }

// Executions counts the executions of the selected scopes.
type Executions struct {
	Slow, Rest int64
	Limit      int64 // ns; slow ones are at least as long
}

// Metric returns the index of a metric by its name, or -1.
func (p *Profile) Metric(name string) int {
	for i := range p.Metrics {
		if p.Metrics[i].Name == name {
			return i
		}
	}
	return -1
}

// Value returns the value of metric m in values, which are by Profile.Metrics.
func (p *Profile) Value(values []int64, m int) (v int64) {
	if p.Metrics[m].Of == nil {
		return values[m]
	}
	for _, i := range p.Metrics[m].Of {
		v += values[i]
	}
	return v
}

// Total returns the sum over all stacks of each metric that is not a sum.
func (p *Profile) Total() []int64 {
	all := make([]int64, len(p.Metrics))
	for i := range p.Stacks {
		for m, v := range p.Stacks[i].Values {
			all[m] += v
		}
	}
	return all
}

// Frames yields the frames of all stacks, each once.
func (p *Profile) Frames() iter.Seq[*symbols.Frame] {
	return func(yield func(*symbols.Frame) bool) {
		seen := map[*symbols.Frame]bool{}
		for i := range p.Stacks {
			for _, f := range p.Stacks[i].Frames {
				if seen[f] {
					continue
				}
				if seen[f] = true; !yield(f) {
					return
				}
			}
		}
	}
}

// Own reports whether a function is the program's own, or one of a module that it uses: such
// a frame shows the place of a wait, others its mechanism. The first element of a package's
// path has no dot in the standard library, and should have one in modules.
func Own(function string) bool {
	if function == UnknownName || gotrace.Functions.Waiting.Has(function) {
		return false
	}
	first, _, more := strings.Cut(function, "/")
	if !more {
		first, _, _ = strings.Cut(function, ".")
	}
	return first == "main" || strings.Contains(first, ".")
}
