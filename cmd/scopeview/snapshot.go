package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/trace"
)

func newSnapshot(s *streams) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "snapshot TRACE",
		Short: "Copy what a trace holds now to a trace of its own",
		Long: `snapshot copies what TRACE holds now to a new file, an ordinary trace that nobody writes any more: of a
ring the time that it still has, of a recording all so far. It needs no help of the program, which may be busy,
hang or be dead, and does not disturb it. It takes about a second per GiB, and as much room; what the program
records meanwhile is not in it. It prints the file's name.

An existing file is not overwritten. Where there is no room, nothing is left. Only who may read the trace can
copy it: the user of the program, or root. Of an address the program makes the snapshot, which comes here.`,
		Example: `  scopeview snapshot /traces -o now.scope      the newest trace in a directory
  scopeview snapshot 4711                      of process 4711, beside its trace
  scopeview top $(scopeview snapshot 4711)`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		Annotations:       map[string]string{ownAddress: "it becomes the snapshot"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "-" {
				return usagef("-o -: a snapshot is a file of its own; give its name")
			}
			trace, beside, err := sourceOf(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			defer trace.remove()
			if to == "" {
				to = filepath.Join(beside, snapshotName(trace.path, time.Now()))
			}
			res, err := takeSnapshot(cmd.Context(), trace.path, to)
			if err != nil {
				return err
			}
			if res.Missed > 0 {
				fmt.Fprintf(s.err, "scopeview: the program was faster by %s of its ring, overwritten before they were copied\n", plural(int64(res.Missed), "chunk"))
			}
			name := res.Path
			if s.outTerm {
				name = show(name)
			}
			_, err = fmt.Fprintln(s.out, name)
			return err
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to the new `FILE` (default: beside the trace, with the time in its name)")
	return cmd
}

// snapshotSource is the trace to be copied, maybe one that was brought here.
type snapshotSource struct {
	path string
	got  downloads
}

func (x *snapshotSource) remove() { x.got.remove() }

// sourceOf finds TRACE, and where its snapshot goes if nobody says. A trace that
// is no file in a directory, because it lost its name, or lies elsewhere, has its
// snapshot where we are.
func sourceOf(ctx context.Context, s *streams, arg string) (x *snapshotSource, beside string, err error) {
	x = &snapshotSource{got: downloads{patience: stalledAfter}}
	if x.path, _, err = x.got.bring(ctx, s, arg); err != nil {
		x.remove()
		return nil, "", err
	}
	if x.path != arg {
		return x, ".", nil
	}
	if x.path, err = findTrace(arg); err != nil {
		return nil, "", err
	}
	if strings.HasPrefix(x.path, "/proc/") && filepath.Ext(x.path) != extension {
		return x, ".", nil
	}
	return x, filepath.Dir(x.path), nil
}

// snapshotName is a new name for a snapshot: that of the trace, which has program
// and process in it, and when it was made.
func snapshotName(trace string, now time.Time) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(trace), packedExtension), extension)
	return name + "-snapshot-" + now.UTC().Format("20060102T150405.000Z") + extension
}

// takeSnapshot copies the trace at from to a new file.
func takeSnapshot(ctx context.Context, from, to string) (snapshot.Result, error) {
	return copyTrace(ctx, from, to, snapshot.Options{Facts: []snapshot.Fact{{Key: "snapshot_reason", Value: "copied by scopeview snapshot"}}})
}

// copyTrace copies the trace at from to a new file, as o says.
func copyTrace(ctx context.Context, from, to string, o snapshot.Options) (res snapshot.Result, err error) {
	f, err := hot.Open(from)
	switch {
	case errors.Is(err, format.ErrNotTrace):
		return res, err
	case errors.Is(err, fs.ErrPermission):
		return res, fmt.Errorf("opening the trace: %w; run scopeview as the user of the program, or as root", err)
	case err != nil:
		return res, fmt.Errorf("opening the trace: %w", err)
	}
	defer f.Close()
	// Whoever interrupts it takes the trace away: then copying fails, and cleans up.
	defer context.AfterFunc(ctx, func() { f.Close() })()
	o.Refresh = func() error { return awaitRounds(ctx, f) }
	res, err = snapshot.Create(to, f, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return res, ctx.Err()
	case errors.Is(err, fs.ErrExist):
		return res, fmt.Errorf("%w; give another name with -o, or remove the file", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return res, fmt.Errorf("%w; give the name of a file that can be made, with -o", err)
	}
	return res, err
}

// roundsWithin is how long two rounds of a recorder may take, of a second each.
const roundsWithin = 4 * time.Second

// awaitRounds waits until a recorder whose file is a copy of memory that can't be
// read has brought it up to date: in the second round that ends from now on, since
// the first one may have been under way. If it does not, there is nothing to wait for.
func awaitRounds(ctx context.Context, f *hot.File) error {
	deadline := time.Now().Add(roundsWithin)
	poll := time.NewTicker(askEvery)
	defer poll.Stop()
	var last int64
	for rounds := -1; rounds < 2 && time.Now().Before(deadline); {
		var b [format.StateSize]byte
		if _, err := f.ReadAt(b[:], format.StateOffset); err != nil {
			return fmt.Errorf("%s: reading the state: %w", f.Name(), err)
		}
		s := format.DecodeState(b[:])
		if alive, known := trace.WriterAlive(f.Trace()); s.Closed || known && !alive {
			return nil
		}
		if s.Tick != last {
			last = s.Tick
			rounds++
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
	return nil
}
