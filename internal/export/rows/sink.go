package rows

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options select the part that is written, and add facts about it.
type Options struct {
	analysis.Selection
	// States includes goroutines' states: after everything else, if a Go execution trace was
	// recorded. A state's name is matched by Names.
	States bool
	Tool   string // version of the tool
	State  analysis.State
}

// Scope is a scope, a wait or a hold on its row.
type Scope struct {
	*trace.Event
	Row  *Row
	Args []args.Arg // valid until the call returns
	// Link, if not nil, leads from the creator of the row's goroutine: this is the first
	// scope shown of it.
	Link *Link
}

// Link leads from one row to another.
type Link struct {
	ID       uint64
	From, To *Row
	// FromTime is the time at which the goroutine was created, or the lock released; ToTime that at
	// which the goroutine began, or the lock was granted.
	FromTime, ToTime int64
}

// End is the end of a scope.
type End struct {
	Row  *Row
	Time int64
	In   *Link // link that ends here, unless nil: it is not passed earlier, as its end was not known
}

// Sink receives the layout. It stores its own errors: Full is called after each event.
type Sink interface {
	// Row announces a row before it is used, and again when it gets another name: any bytes,
	// as the program gave it. Ranks order the rows.
	Row(r *Row, name string, rank int32)
	Scope(s *Scope)
	// End is called only if Lay's ends is set, and never for an open scope. It has the links
	// of locks; without ends these are passed by Handover.
	End(e *End)
	Handover(l *Link)
	Instant(r *Row, e *trace.Event, list []args.Arg)
	Counter(e *trace.Event, list []args.Arg)
	Gauge(g *Gauge, t int64, values []float64)
	State(s *State)
	Sample(s *Sample)
	// Notes is called once, after the samples, with notes on their reliability.
	Notes(list []string)
	// Full returns the error that is to stop Lay, or nil.
	Full() error
}
