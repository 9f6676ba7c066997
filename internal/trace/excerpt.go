package trace

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
)

// Facts of an excerpt: a trace that has only a range of a recording's time.
const (
	FactExcerptFrom = "excerpt_from_ns" // begin of the range, in ns from the recording's start
	FactExcerptTo   = "excerpt_to_ns"   // its end
	// FactExcerptLacks describes defects of the trace that the excerpt was made of, and losses
	// that are not known; absent: none.
	FactExcerptLacks = "excerpt_lacks"
)

// Excerpt returns the range of time that the trace has, in ns from its start; ok is false if that is
// not limited. The excerpt has everything that touches the range, as the recording has it: End
// remains that of the recording, up to which open scopes last.
func (t *Trace) Excerpt() (from, to int64, ok bool) {
	from, err1 := strconv.ParseInt(t.Lookup(FactExcerptFrom), 10, 64)
	to, err2 := strconv.ParseInt(t.Lookup(FactExcerptTo), 10, 64)
	return from, to, err1 == nil && err2 == nil && from >= 0 && from <= to
}

func (t *Trace) goroutineBlock(p []byte, _ format.Loc) error {
	g, err := format.DecodeGoroutine(p)
	if err == nil {
		t.goroutines = append(t.goroutines, g)
	}
	return err
}

// Goroutines lists what an excerpt has of the goroutines that existed when its Go execution trace
// begins.
func (t *Trace) Goroutines() []format.Goroutine { return t.goroutines }

// Ticks returns the first tick that is not before ns from the trace's start.
func (t *Trace) Ticks(ns int64) int64 { return t.clock.Ticks(ns) }

// LastTick returns the tick of End.
func (t *Trace) LastTick() int64 { return t.last }
