// Package perfetto writes a trace as Perfetto's protobuf, a stream of TrackEvents, for
// ui.perfetto.dev and its trace processor. The file is a third to a half of the size of
// package chrome's.
//
// The process has three groups of tracks: its heartbeat, the trace's own
// counters, and the goroutines. Below the last, each row of package rows is a
// track, in an explicit order; tracks are never merged, because Perfetto takes
// equal names for one row. Overflow rows follow their goroutine's.
//
//   - A scope is a SLICE_BEGIN and, unless it is open, a SLICE_END: one that has
//     no end is drawn as unfinished. Categories are task, process, wait
//     and hold; events and pending events are instants with theirs.
//   - Arguments, and the CPU time (cpu_ns, exact or likely, or cpu_max_ns), are
//     debug annotations of the begin.
//   - A goroutine's states, if requested, are slices of category state on a
//     track behind its own, after all other packets.
//   - A sample of CPU time is a PerfSample on its thread, for which Perfetto has rows of its
//     own beside the process; from a selection of these it makes a flame graph. A stack,
//     a frame, a function and a file are defined in the first packet that uses them. Frames
//     have mappings, which older readers require. The notes on the samples' reliability are
//     the trace's attribute samples.
//   - A flow leads from an instant of category lock, 1 ns before a hold's end, to the end
//     of the wait that got the lock; and from an instant of category go, where scope.Go
//     was called, to the first scope of the goroutine. Every flow that begins ends.
//
// All packets are of one sequence. Its first one clears the state, sets the clocks and
// defines the categories; names and keys are defined in the first packet that uses them.
// Timestamps are the differences to the packet before, on a clock of the sequence. Packets
// are in the order of time, except for those about something earlier, which have another
// clock: the call of scope.Go, the release of a lock, and the CPU of the stretch before a
// heartbeat. Track ids are small numbers: each file is independent.
package perfetto

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/trace"
)

// Size is the amount of data written.
type Size struct{ Packets, Bytes int64 }

// maxBytes is the largest file that Perfetto's page can be expected to load: it takes two to
// four times a file's size of the 2 GB that a page typically gets.
const maxBytes = 500_000_000

// Large reports whether the file is probably too large for Perfetto's page.
func (s Size) Large() bool { return s.Bytes > maxBytes }

// Write writes t to w. It stops with ctx's error once ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o rows.Options) (Size, error) {
	s := newWriter(w, t)
	s.head(t, rows.FactsOf(t, &o))
	if err := rows.Lay(ctx, t, s, o, true, true); err != nil {
		return s.size(), err
	}
	s.Flush()
	return s.size(), s.Full()
}
