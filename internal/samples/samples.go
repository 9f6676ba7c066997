// Package samples has one model of what a program's time and memory went to: call stacks
// with a weight in one or more metrics. Recordings, plain Go execution traces and pprof
// profiles become it, and every view of functions, lines and instructions is made of it.
//
// # Design
//
//  1. A source is read once, as a stream, and summed up by stack: memory grows with the
//     different stacks and not with the samples. Who wants samples apart by goroutine,
//     thread, row or scope asks for that first (Selection.Split).
//  2. CPU time is sampled. Waits are not: the Go execution trace has each with its stack
//     and its length, so waits are exact, and wall-clock time needs no sampling.
//  3. What a goroutine did belongs to the go statement that made it: its stacks go on with
//     those of its creators (Selection.Imputed), the rule by which Sun's Analyzer treats
//     the bodies of parallel loops. Otherwise main.main would have done nothing.
//  4. What is not known is a frame of its own, <Unknown>, and never the nearest guess.
package samples

import (
	"cmp"
	"errors"
	"iter"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// Unit is what a metric counts.
type Unit string

// The units. A profile of another program may have any other.
const (
	Nanoseconds Unit = "nanoseconds"
	Bytes       Unit = "bytes"
	Count       Unit = "count"
)

// Metric is something that samples have a weight in.
type Metric struct {
	Name    string // as one asks for it: cpu, lock
	Title   string // for people: what it is
	Unit    Unit
	Sampled bool // it is an estimate of samples; otherwise each event was recorded
	// Level says that it is of the end of what was chosen: what was told of a stack last. So it
	// can't be had of a part of that by adding up samples.
	Level bool
	// Of has the metrics that this one is the sum of, by index; nil: it is none.
	Of []int
	// Whole is what shares are of where values are negative: their absolute sum, or that of the
	// profile that others were subtracted from; WholeOf names it. 0: shares are of the total.
	Whole   int64
	WholeOf string
}

// ErrOverflow says that values add up to more than 63 bits hold.
var ErrOverflow = errors.New("the values add up to more than 9223372036854775807")

// Names of frames that are none of the program's.
const (
	UnknownName = "<Unknown>" // nobody knows the function
	TotalName   = "<Total>"   // the caller of all that nobody called
	// UnknownCallerName stands for callers of which it is known that they are not the next frame,
	// and TruncatedName for those that a stack lacks because it was too deep to be kept.
	UnknownCallerName = format.UnknownCaller
	TruncatedName     = "<truncated>"
)

// Frame is a function on a stack, and where in it.
type Frame struct {
	Func, File string // Func is never empty, and of one function; File "": not known
	Line       int    // 0: not known
	Start      int    // the function's first line; 0: not known
	PC         uint64 // an address inside the call, of a leaf the instruction's; 0: not known
	Inlined    bool   // it is known to be inlined into the frame behind it
	Object     string // the file whose code it is, or [kernel]; "": the program's own

	symbol string // Func as the object has it, where several functions have that name; "": it is Func
}

// Symbol returns the function's name as its object has it, which other functions may have too.
func (f *Frame) Symbol() string { return cmp.Or(f.symbol, f.Func) }

// Labels tell whose samples they are, as far as Selection.Split asks for it.
type Labels struct {
	Goid   uint64
	PID    uint32 // of the process; 0: not known
	Thread uint32
	State  states.State
	Slow   bool // the slowest executions did it (Selection.Slowest)
	Row    string
	Scope  string
}

// Stack is a call stack, and what it had of each metric.
type Stack struct {
	Frames []*Frame // the leaf first; equal frames are the same
	Values []int64  // by Profile.Metrics; of sums 0
	Labels Labels
}

// Profile is what a source told.
type Profile struct {
	Metrics []Metric
	Preset  string // the name of the metric that one looks at first
	Stacks  []Stack
	Samples int64 // how many were read
	// Notes are sentences about what is not known, and how far the rest can be believed.
	Notes []string
	// Damage are those of them that say that bytes of the source are not as they were written.
	Damage []string
	// Missing is why the source is not whole; "": it is, as far as one can see.
	Missing string
	// Binary is the path of the program's executable, and BuildID its id; "": not known.
	Binary, BuildID string
	From, To        int64 // ns from the source's begin, of what was asked for
	Executions      Executions
	// ByScope has the executions of each scope by its name in the trace, if all scopes
	// around samples were asked for.
	ByScope map[uint16]Executions
	// Aliases are the other names of functions, by the one that they have here, which is the
	// last by the alphabet.
	Aliases map[string][]string
	Inlined bool // frames tell whether they were inlined; otherwise the executable may

	objects map[string]Executable // by the names that frames have
}

// Executions is how many executions of the scopes that were asked for were looked at.
type Executions struct {
	Slow, Rest int64
	Limit      int64 // ns; the slow ones are as long as that or longer
}

// Metric returns the index of a metric by its name; -1: there is none.
func (p *Profile) Metric(name string) int {
	for i := range p.Metrics {
		if p.Metrics[i].Name == name {
			return i
		}
	}
	return -1
}

// Value returns what values, by Profile.Metrics, have of metric m.
func (p *Profile) Value(values []int64, m int) (v int64) {
	if p.Metrics[m].Of == nil {
		return values[m]
	}
	for _, i := range p.Metrics[m].Of {
		v += values[i]
	}
	return v
}

// Total returns what all stacks have of each metric that is no sum.
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
func (p *Profile) Frames() iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) {
		seen := map[*Frame]bool{}
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

// Own reports whether a function is the program's own, or a module's that it uses: where one
// waits, and not how. The first element of a package's path has no dot in the standard
// library, and those of modules should have one.
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
