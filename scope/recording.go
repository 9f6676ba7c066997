//go:build !scope_off

package scope

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
)

// Start begins recording into the file path. If path is a directory, or ends in a slash and does
// not exist yet, Start creates a file in it, program-time-pid-random.scope, whose name Path
// returns. If the file exists, it returns ErrExists; see WithOverwrite. Files are created with mode
// 0600.
//
// It returns within some 10 ms. On an error nothing is recorded, no file is left behind, and scopes
// behave as without a recording. The errors wrap ErrRunning, ErrExists, ErrOption, ErrNoSpace,
// ErrBubble, ErrForked or the system's error.
func Start(path string, opts ...Option) error {
	o := record.NewOptions()
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return record.Start(path, o)
}

// Stop ends the recording: it waits until no goroutine is recording any more, joins the recorder's
// goroutines, and closes the file. Scopes that are open stay open in the trace; ending them later
// does nothing. It returns ErrStopped if there is no recording, ErrBubble in a bubble of
// testing/synctest, or the last error that kept something from being written. In a child forked by
// C code there is no recording; the parent's continues.
//
// A trace is readable without Stop, and Stop does not sync it to the disk.
func Stop() error { return record.Stop() }

// Path returns the path of the trace that is being written, or of the last one; it is empty before
// the first Start.
func Path() string { return record.Path() }

// SetFilter selects by name what is recorded from now on; an empty expression records everything.
// expr is a comma-separated list of globs of at most 4,000 bytes: * matches any sequence of
// characters, ? one; a leading - excludes; the last match decides; with exclusions alone everything
// else is recorded. A scope whose name is filtered out costs some nanoseconds more than an empty
// call. The filter is evaluated once per name; while SetFilter does that, no goroutine blocks. Rows
// (Track, Go) are always named.
func SetFilter(expr string) error { return record.SetFilter(expr) }

// Snapshot writes what the recording holds now to an ordinary trace at path, while recording
// continues. If path is a directory, it creates a file in it. It takes about a second per GiB, on
// the caller's goroutine, and blocks no goroutine that records.
//
// It returns ErrExists if the file exists, ErrNoSpace if the disk has no room, ErrStopped without a
// recording, and ErrBubble in a bubble of testing/synctest. On an error nothing is left at path.
func Snapshot(path string) error { return record.Snapshot(path) }

// Stats returns the statistics of the recording, or of the last one. It takes some microseconds. In
// a child forked by C code there is neither.
func Stats() Statistics {
	s := record.Stats()
	return Statistics{
		Running:     s.Running,
		Path:        s.Path,
		Recorded:    s.Recorded,
		Overwritten: s.Overwritten,
		Stacks:      s.Stacks,
		Lost: Lost{
			Window: s.Lost[format.LossWindow],
			Limit:  s.Lost[format.LossLimit],
			Space:  s.Lost[format.LossSpace],
			IO:     s.Lost[format.LossIO],
			Busy:   s.Lost[format.LossBusy],
			Stop:   s.Lost[format.LossStop],
			Ends:   s.Lost[format.LossEnd],
			Stacks: s.Lost[format.LossStack],
			Opens:  s.Lost[format.LossOpen],
			Buffer: s.Lost[format.LossBuffer],

			Unknown: s.LostUnknown,
		},
		Misuse: Misuse{
			DoubleEnds:  s.DoubleEnds,
			ForeignEnds: s.ForeignEnds,
			StaleEnds:   s.StaleEnds,
			OtherNames:  s.OtherNames,
			OtherStacks: s.OtherStacks,
			ArgsCut:     s.ArgsCut,
		},
		Bytes:         s.Bytes,
		PreparedLeast: s.PreparedLeast,
		PageFaults:    s.PageFaults,
		PreparedLate:  s.PreparedLate,
		Names:         s.Names,
		Recorder:      s.Recorder,
		Filter:        s.Filter,
		Off:           s.Off,
		Slow:          s.Slow,
		Snapshots:     s.Snapshots,
		LastError:     s.LastError,
	}
}
