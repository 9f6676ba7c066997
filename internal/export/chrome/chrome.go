// Package chrome writes a trace as Chrome Trace Event JSON, for chrome://tracing, Perfetto,
// Speedscope and other readers of that format.
//
// A goroutine is a thread of the process; what can't be drawn on its row is on further
// threads behind it: see package rows. The fields ts and dur are microseconds from the
// trace's start. Rounded to three decimals they are exact to the nanosecond; they have more
// decimals because they are multiples of 1/4096, so that ts + dur, or the difference of two
// ts, has no rounding error in a reader's doubles. The args are as in package args, with
// those of package rows before them; integers beyond 2^53, which readers would round, are
// strings.
//
//	X    task, process, wait, hold (by cat): tdur is the thread's CPU time,
//	     if that is exact or likely; it is missing if unknown, and an
//	     upper bound is args.cpu_max_ns. A process scope's CPU time is the whole
//	     process's, so it has no tdur but args.user_ns and args.sys_ns. An open scope
//	     ends at the end of the known time, with args.open
//	     cat state: a goroutine's states, on a thread behind its own, if requested
//	i    event, pending: when it happened, or, with args.open, when it was announced
//	C    counter: args.value; heartbeat: CPU in cores, RSS, heap, goroutines
//	s f  cat go: from the call of scope.Go to the new goroutine's first scope;
//	     cat lock: from the hold that was released to the wait that it ended. Readers
//	     bind them to the enclosing slices, so a lock's are 1 ns before those ends
//	M    process_name, process_labels (losses), thread_name, thread_sort_index
//	P    samples of CPU time with their stacks, as V8's profiles: one Profile, and a
//	     ProfileChunk for each sample, on its goroutine's thread, with the new nodes
//	     of the call tree
//
// Perfetto reads samples only in V8's form. (Chrome's own page does too, and puts them all
// on one row.) With stackFrames and samples beside the events Speedscope would show nothing
// else, and also if the first event had a category: without one it ignores P.
//
// displayTimeUnit is ns. otherData has tool, program, start (RFC 3339), losses and other
// facts about the whole. notes describes the reliability of the samples.
package chrome

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Size is the amount of data written.
type Size struct{ Events, Bytes int64 }

// Chrome's own page reads a file as one string and fails at about 256 MB, and its tab
// crashes at 1 to 1.5 million events; Perfetto handles more of both.
const (
	maxEvents = 1_000_000
	maxBytes  = 256_000_000
)

// Large reports whether the file is probably too large for Chrome's own page.
func (s Size) Large() bool { return s.Events > maxEvents || s.Bytes > maxBytes }

// Write writes t to w. It stops with ctx's error once ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o rows.Options) (Size, error) {
	s := newWriter(w, t)
	s.head(rows.FactsOf(t, &o))
	if err := rows.Lay(ctx, t, s, o, false, false); err != nil {
		return s.size(), err
	}
	s.B = append(s.B, "\n]"...)
	if s.notes != "" {
		s.B = args.AppendString(append(s.B, `,"notes":`...), s.notes)
	}
	s.B = append(s.B, "}\n"...)
	s.Flush()
	return s.size(), s.Full()
}

// head writes the facts about the whole, and begins the events.
func (s *writer) head(f *rows.Facts) {
	s.B = append(s.B, `{"displayTimeUnit":"ns","otherData":{`...)
	for i, v := range f.All {
		if i > 0 {
			s.B = append(s.B, ',')
		}
		s.B = args.AppendString(s.B, v[0])
		s.B = append(s.B, ':')
		s.B = args.AppendString(s.B, v[1])
	}
	s.B = append(s.B, `},"traceEvents":[`...)
	s.meta("process_name", s.pid, "name", f.Program)
	if f.Losses != "" {
		s.meta("process_labels", s.pid, "labels", f.Losses)
	}
}

// categories are the names of the kinds in the CSV.
var categories = func() (names [128]string) {
	for _, s := range format.Specs {
		names[s.Kind] = s.CSV
	}
	return names
}()
