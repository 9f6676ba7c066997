// Package chrome writes a trace as Chrome Trace Event JSON, for chrome://tracing,
// Perfetto, Speedscope and whatever else reads it.
//
// A goroutine is a thread of the process; what can't be drawn on its row is on
// threads of their own behind it: see package rows. Of every event ts and dur are
// microseconds from the trace's start, which have the nanosecond when they are rounded
// to three decimals: they have more, because they are multiples of 1/4096, so that
// ts + dur, or ts less another one, has no rounding error in a reader's doubles. Its
// args are as in package args, with those of package rows before them; integers beyond
// 2^53, which its readers round, are strings.
//
//	X    task, process, wait, hold (cat says which): tdur is the thread's CPU time,
//	     where that is exact or likely; there is none where it is unknown, and an
//	     upper bound is args.cpu_max_ns. A process scope's CPU time is the whole
//	     process's, so it has no tdur but args.user_ns and args.sys_ns. What was open
//	     goes to the end of what is known, with args.open
//	     cat state: what a goroutine did, on a thread behind its own, where that is
//	     asked for
//	i    event, pending: when it came, or, with args.open, when it was announced
//	C    counter: args.value; heartbeat: CPU in cores, RSS, heap, goroutines
//	s f  cat go: from where scope.Go was called to the new goroutine's first scope;
//	     cat lock: from the hold that was released to the wait that it ended. They
//	     are bound to what they lie in, so a lock's are told 1 ns before those ends
//	M    process_name, process_labels (losses), thread_name, thread_sort_index
//	P    samples of CPU time with their stacks, as V8's profiles: one Profile, and a
//	     ProfileChunk for each sample, on its goroutine's thread, with the nodes of the
//	     tree of calls that are new
//
// Perfetto reads samples in no other form than V8's. (Chrome's own page does too, and puts
// them all on one row.) With stackFrames and samples beside the events Speedscope would show
// nothing else, and so it would if the first event had a category: it ignores P then.
//
// displayTimeUnit is ns. otherData has tool, program, start (RFC 3339), losses and
// what else there is to say about the whole. notes tells how far samples can be believed.
package chrome

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Size is how much was written.
type Size struct{ Events, Bytes int64 }

// Chrome's own page, which reads a file as one string, gives up at about 256 MB,
// and its tab dies at 1 to 1.5 million events; Perfetto takes more of both.
const (
	maxEvents = 1_000_000
	maxBytes  = 256_000_000
)

// Large reports whether Chrome's own page can't be expected to show so much.
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

// head writes what there is to say about the whole, and begins the events.
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

// categories are the kinds as the CSV calls them.
var categories = func() (names [128]string) {
	for _, s := range format.Specs {
		names[s.Kind] = s.CSV
	}
	return names
}()
