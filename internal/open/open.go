// Package open opens traces and completes them: a lock without a name is named by its object
// (package objects), and a scope whose CPU time the recorder could not measure gets it from the Go
// execution trace (package states). A trace that package trace alone opens has only what the
// records contain.
package open

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/objects"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options select what an opened trace holds; the zero value selects all.
type Options struct {
	Processes *trace.Processes // those to keep; nil: all
	// AsRecorded leaves the CPU times as recorded: those of a trace that grows would change when
	// the Go execution trace is read.
	AsRecorded bool
	// Sources returns the sources that name locks; nil: those stored with the trace, or found on
	// this machine.
	Sources func(*trace.Trace) *symbols.Sources
}

// File opens the trace at path, joined with its hot file. Reading it fails with ctx's error
// once ctx is done.
func File(ctx context.Context, path string) (*trace.Trace, error) {
	t, err := trace.OpenFileUntil(ctx, path)
	return complete(t, err, &Options{})
}

// Joined is File for a file that is open already. Closing the trace closes it, and so does an
// error.
func Joined(ctx context.Context, f *hot.File) (*trace.Trace, error) {
	t, err := trace.OpenJoined(ctx, f)
	return complete(t, err, &Options{})
}

// Reader opens a trace of size bytes.
func Reader(r io.ReaderAt, size int64, o Options) (*trace.Trace, error) {
	t, err := trace.Open(r, size)
	return complete(t, err, &o)
}

// Follower opens a trace that grows. size returns its present size in bytes.
func Follower(r io.ReaderAt, size func() (int64, error), fo trace.FollowOptions, o Options) (*trace.Follower, error) {
	f, err := trace.NewFollower(r, size, fo)
	if err != nil {
		return nil, err
	}
	if err := f.Trace().KeepProcesses(o.Processes); err != nil {
		return nil, err
	}
	f.NameByObject(o.names(f.Trace()))
	return f, nil
}

// complete adds to a trace, if it could be opened, the names and CPU times of other sources.
func complete(t *trace.Trace, err error, o *Options) (*trace.Trace, error) {
	if err != nil {
		return nil, err
	}
	if err := t.KeepProcesses(o.Processes); err != nil {
		return nil, err
	}
	if !o.AsRecorded {
		states.Attach(t)
	}
	t.NameByObject(o.names(t))
	return t, nil
}

func (o *Options) names(t *trace.Trace) func([]trace.Place) []trace.Object {
	if o.Sources != nil {
		return objects.By(t, o.Sources(t))
	}
	stored := trace.SourcesOf(t)
	return objects.By(t, &symbols.Sources{Stored: stored.Read, StoredIn: stored.In})
}
