package rows

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options say what is written, and what is said about it.
type Options struct {
	analysis.Selection
	// States tells that what goroutines did is wanted too: after all else, if a Go
	// execution trace was recorded. A state is named by its name, for Names.
	States bool
	Tool   string // its version
	State  analysis.State
}

// Scope is a scope, a wait or a hold on its row.
type Scope struct {
	*trace.Event
	Row  *Row
	Args []args.Arg // good until the call returns
	// Link, if not nil, is where the row's goroutine comes from: this is the first
	// that is shown of it.
	Link *Link
}

// Link tells that something of one row led to something of another.
type Link struct {
	ID       uint64
	From, To *Row
	// FromTime is when the goroutine was created, or the lock released; ToTime when
	// the goroutine began, or the lock was granted.
	FromTime, ToTime int64
}

// End is the end of a scope.
type End struct {
	Row  *Row
	Time int64
	In   *Link // what ends here, unless nil: it is told no earlier, as nobody knew whether it would begin
}

// Sink takes what is laid out. An error of its own it keeps for itself: Full is
// asked after each event.
type Sink interface {
	// Row tells of a row before it is used, and again when it gets another name: any bytes,
	// as the program gave it. Ranks order the rows.
	Row(r *Row, name string, rank int32)
	Scope(s *Scope)
	// End is called only if Lay is told so, and never for an open scope. Links of
	// locks come in it; otherwise by Handover.
	End(e *End)
	Handover(l *Link)
	Instant(r *Row, e *trace.Event, list []args.Arg)
	Counter(e *trace.Event, list []args.Arg)
	Gauge(g *Gauge, t int64, values []float64)
	State(s *State)
	Sample(s *Sample)
	// Notes, called once after the samples, tells how far they can be believed.
	Notes(list []string)
	// Full reports whether to stop, because of an error.
	Full() error
}
