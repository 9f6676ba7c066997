//go:build !scope_off

package scope

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
)

// Start begins to record into path. A path that is a directory, or that ends in
// a slash and does not exist yet, gets a new file in it:
// program-time-pid-random.scope; Path tells its name. An existing file is
// ErrExists; see WithOverwrite. Files are made with mode 0600.
//
// It returns within some 10 ms. On an error nothing is recorded and no file is
// left behind; scopes stay what they are without a recording. The errors wrap
// ErrRunning, ErrExists, ErrOption, ErrNoSpace, ErrBubble, ErrForked or what the system
// said.
func Start(path string, opts ...Option) error {
	o := record.NewOptions()
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return record.Start(path, o)
}

// Stop ends the recording: it waits until nobody is about to record any more,
// joins our goroutines, and closes the file. Scopes that are open stay open in
// the trace; ending them later does nothing. It returns ErrStopped if there is
// no recording, ErrBubble where that can't be done, or the last error that kept
// something from being written. A child that C code forked has none: its parent's goes
// on.
//
// A trace needs no Stop to be readable, and Stop does not make the disk
// persist it.
func Stop() error { return record.Stop() }

// Path returns the path of the trace that is being written, or of the one that was written
// last; it is empty before the first Start.
func Path() string { return record.Path() }

// SetFilter chooses by name what is recorded from now on; an empty expression
// records everything. It is a list of globs with commas between them: * matches
// any run of characters, ? one; a leading - excludes; the last match decides;
// with exclusions alone everything else is recorded. It has at most 4,000 bytes.
// A scope whose name is left out costs some nanoseconds over an empty call. That it
// is left out is decided once per name, and while SetFilter does that nobody else waits.
// Rows (Track, Go) are always named.
func SetFilter(expr string) error { return record.SetFilter(expr) }

// Snapshot writes what the recording holds now to an ordinary trace at path,
// while it goes on: of a ring, the time that it still has. A path that is a
// directory gets a new file in it. It takes about a second per GiB, on the
// caller's goroutine, and keeps nobody from recording.
//
// An existing file is ErrExists; a disk without room ErrNoSpace; without a recording it is
// ErrStopped; in a bubble of testing/synctest it is ErrBubble. On an error nothing is left at path.
func Snapshot(path string) error { return record.Snapshot(path) }

// Stats returns how the recording goes, or how the last one went. It costs some
// microseconds. A child that C code forked has no recording, and no last one.
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
