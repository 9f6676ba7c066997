// Package csv writes a trace as comma-separated values, one row a record, for
// spreadsheets, databases and scripts.
//
// The columns never change; new kinds of rows may be added. Rows are in the order of
// start_ns, a parent before its children. Times are integer nanoseconds, starts from the
// trace's start. A cell is empty if its value is unknown or does not exist.
//
//	kind         task, process, event, pending, counter, wait, hold, heartbeat, state
//	name         the scope's, counter's or lock's; of a Taskf the format; heartbeat: empty;
//	             state: its name, see package states
//	track        name of the goroutine's row
//	goroutine    number of the goroutine that began it
//	thread       number of the operating system's thread on which it began
//	depth        number of scopes of its row that enclose it
//	start_ns     its begin; event, pending, counter, heartbeat: its time (a
//	             pending event that has not happened yet: when it was announced)
//	dur_ns       its duration; instants, including a pending event that has not
//	             happened: 0; an open scope: up to the last known moment of the trace; across
//	             a step of the clock: empty
//	cpu_ns       its CPU time, if that is exact or likely. process: the whole
//	             process's, which may exceed dur_ns
//	cpu_max_ns   an upper bound of its CPU time, if only that is known
//	open         true: begun and not ended, because it is running or the
//	             process died in it; else false
//	args         a JSON object, or empty: see package args. heartbeat: the fields of
//	             format.Fields that are known. state: "reason" (Go's word for a wait), "at"
//	             (its place), "by" and "by_at" (the goroutine that woke it at its end, and
//	             that one's place)
//
// With Options.States there are rows of kind state after all others, in the order in which
// they ended: the state of each goroutine at every moment.
//
// A name or track that a spreadsheet would run as a formula (it begins with = +
// - @, a tab or a line break) gets an apostrophe in front, unless Options.Raw
// says to leave it. Each byte of broken UTF-8 becomes U+FFFD.
package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Header is the first row.
const Header = "kind,name,track,goroutine,thread,depth,start_ns,dur_ns,cpu_ns,cpu_max_ns,open,args\n"

// Options select the events and the format.
type Options struct {
	analysis.Selection
	Raw    bool // do not disarm cells that a spreadsheet would run
	States bool // also write goroutines' states, if a Go execution trace was recorded

	stretch int // as in trace.Options
	most    int // bytes of text that a part keeps until its turn; 0: mostText
}

// stretchBytes is the size of the records converted at a time: their text takes three times
// as much, and should still be in the cache when it is written.
const stretchBytes = 128 << 10

// Write writes t to w. It stops with ctx's error once ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o Options) error {
	if _, err := io.WriteString(w, Header); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	var states *stateRows
	if o.States {
		states = &stateRows{rows: newRows(t.Name, t.Breaks(), o.Raw), o: &o, tracks: map[uint64]uint16{}}
	}
	var failed, noBeats error
	written := int64(math.MinInt64) // time up to which heartbeats are written
	watch, spare := o.Watch(), sync.Pool{New: func() any { return &part{tracks: map[uint64]uint16{}} }}
	run := o.Range()
	run.Stretch, o.most = cmp.Or(o.stretch, stretchBytes), cmp.Or(o.most, mostText)
	err := trace.EachPart(t, run, func() func(*trace.Part) *part {
		r := newPartRows(t, &o)
		return func(x *trace.Part) *part {
			p := spare.Get().(*part)
			p.write(r, x, w)
			return p
		}
	}, func(p *part) bool {
		written, noBeats = p.until, errors.Join(noBeats, p.noBeats)
		if failed = cmp.Or(p.failed, watch.Up(ctx, p.until)); failed == nil {
			_, failed = w.Write(p.b)
		}
		if states != nil {
			maps.Copy(states.tracks, p.tracks)
		}
		spare.Put(p)
		return failed == nil
	})
	if failed == nil {
		r := newPartRows(t, &o)
		noBeats = errors.Join(noBeats, r.takeBeats(written, math.MaxInt64)) // if the records end early
		b := r.appendBeats(nil, math.MaxInt64)
		if states != nil && err == nil {
			b, failed, err = states.write(ctx, w, t, b)
		}
		if failed == nil {
			_, failed = w.Write(b)
		}
	}
	if failed != nil {
		return fmt.Errorf("writing CSV: %w", failed)
	}
	return errors.Join(err, noBeats)
}

// kinds are the first cells of the rows, by kind; empty: no row.
var kinds = func() (cells [128]string) {
	for _, s := range format.Specs {
		if s.CSV != "" {
			cells[s.Kind] = s.CSV + ","
		}
	}
	return cells
}()
