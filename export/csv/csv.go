// Package csv writes a trace as comma-separated values, one row a record, for
// spreadsheets, databases and scripts.
//
// The columns never change; new kinds of rows may come. Rows are in the order of
// start_ns, a parent before its children. Times are integer nanoseconds, starts
// from the trace's start. A cell is empty where its value is unknown or does not
// exist.
//
//	kind         task, process, event, pending, counter, wait, hold, heartbeat
//	name         the scope's, counter's or lock's; of a Taskf the format; heartbeat: empty
//	track        name of the goroutine's row
//	goroutine    number of the goroutine that began it
//	thread       number of the operating system's thread on which it began
//	depth        how many scopes of its row it lies in
//	start_ns     when it began; event, pending, counter, heartbeat: when it was (a
//	             pending event that has not come yet: when it was announced)
//	dur_ns       how long it took; instants: 0; an open scope: up to the last moment
//	             that the trace knows; across a step of the clock: empty
//	cpu_ns       its CPU time, when that is exact or likely. process: the whole
//	             process's, which may exceed dur_ns
//	cpu_max_ns   an upper bound of its CPU time, when only that is known
//	open         true: begun and not ended, be it that it runs, or that the
//	             process died in it; else false
//	args         a JSON object, or empty: see package args. heartbeat: the fields of
//	             format.Fields that are known
//
// A name or track that a spreadsheet would run as a formula (it begins with = +
// - @, a tab or a line break) gets an apostrophe in front, unless Options.Raw
// says to leave it. Broken UTF-8 becomes U+FFFD.
package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

// Header is the first row.
const Header = "kind,name,track,goroutine,thread,depth,start_ns,dur_ns,cpu_ns,cpu_max_ns,open,args\n"

// Options say what is written and how.
type Options struct {
	From, To      int64       // ns from the trace's start; To 0: no limit. Scopes that touch the range are in
	Names, Tracks glob.Filter // heartbeats have neither
	Raw           bool        // leave cells that a spreadsheet would run
	// Progress, if there is one, is called now and then with the start of the
	// event that is being written.
	Progress func(ns int64)
}

// bufferSize is how much is written at once; roomForRow is more than a row has
// in all but made-up traces.
const (
	bufferSize = 64 << 10
	roomForRow = 8 << 10
)

// Write writes t to w. It stops with ctx's error once ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o Options) error {
	choice := analysis.NewChoice(o.Names, o.Tracks, t.Name)
	rows := newRows(t.Name, t.Breaks(), o.Raw)
	beats := beatsOf(t, o, choice)
	defer beats.stop()
	b := append(make([]byte, 0, bufferSize+roomForRow), Header...)
	var failed error
	n := 0
	err := t.Events(trace.Options{From: o.From, To: o.To}, func(e *trace.Event) bool {
		if n++; n&(1<<14-1) == 0 {
			if failed = ctx.Err(); failed != nil {
				return false
			}
			if o.Progress != nil {
				o.Progress(e.Start)
			}
		}
		for beats.beat != nil && beats.beat.Time <= e.Start {
			b = rows.appendBeat(b, beats.beat)
			beats.advance()
		}
		if choice.Keep(e) {
			b = rows.appendEvent(b, e)
		}
		if len(b) >= bufferSize {
			_, failed = w.Write(b)
			b = b[:0]
		}
		return failed == nil
	})
	if failed == nil {
		for ; beats.beat != nil; beats.advance() {
			b = rows.appendBeat(b, beats.beat)
		}
		_, failed = w.Write(b)
	}
	if failed != nil {
		return fmt.Errorf("writing CSV: %w", failed)
	}
	return errors.Join(err, beats.err)
}

// beatSource hands out the heartbeats that were asked for, one by one: those of
// a recording of days would not fit into memory.
type beatSource struct {
	beat *trace.Beat // the next one, nil behind the last
	next func() (*trace.Beat, bool)
	stop func()
	err  error
}

func beatsOf(t *trace.Trace, o Options, choice *analysis.Choice) *beatSource {
	s := &beatSource{}
	s.next, s.stop = iter.Pull(func(yield func(*trace.Beat) bool) {
		if !choice.Nameless() {
			return
		}
		s.err = t.EachBeat(func(b *trace.Beat) bool {
			in := b.Time >= o.From && (o.To == 0 || b.Time <= o.To)
			return !in || yield(b)
		})
	})
	s.advance()
	return s
}

func (s *beatSource) advance() { s.beat, _ = s.next() }

// kinds are the first cells of the rows, by kind; empty: no row.
var kinds = func() (cells [128]string) {
	for _, s := range format.Specs {
		if s.CSV != "" {
			cells[s.Kind] = s.CSV + ","
		}
	}
	return cells
}()
