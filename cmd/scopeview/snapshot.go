package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/excerpt"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/trace"
)

func newSnapshot(c *call) func() error {
	var (
		to      string
		timeout time.Duration
		watch   string
		w       neighbours
	)
	c.arity = func(args []string) error {
		if watch != "" {
			return nil
		}
		return c.row.arity(args)
	}
	f := c.flags()
	f.StringVarP(&to, "output", "o", "", "write to the new `FILE`, or to new files in the directory (default: beside the trace, with the time in its name)")
	f.DurationVar(&timeout, "timeout", 0, "give up on a trace that takes longer (default: no limit; with --triggered 30s)")
	f.StringVar(&watch, "triggered", "", "make a set for each snapshot that a program's trigger writes to `DIR`")
	f.StringArrayVar(&w.also, "also", nil, "with --triggered: copy this neighbour, a `TRACE`; may be repeated")
	f.IntVar(&w.keep, "keep", 10, "with --triggered: keep the newest `N` sets")
	return func() error {
		switch {
		case to == "-":
			return usagef("-o -: a snapshot is a file of its own; give its name")
		case timeout < 0:
			return usagef("--timeout %v: give a duration per trace, such as 30s", timeout)
		case watch != "" && (c.sel.fromText != "" || c.sel.toText != ""):
			return usagef("--from and --to select a range of a TRACE; --triggered %s copies the snapshots of programs as they are", watch)
		case watch == "" && (len(w.also) > 0 || c.changed("keep")):
			return usagef("--also and --keep need --triggered DIR; for snapshots now give the neighbours as TRACEs")
		case watch != "" && len(c.args) > 0:
			return usagef("--triggered %s takes no TRACE; give %s with --also", watch, c.args[0])
		case watch != "":
			w.dir, w.out, w.patience = watch, to, cmp.Or(timeout, 30*time.Second)
			return w.run(c.context(), c.s)
		}
		x := copies{s: c.s, timeout: timeout, to: to, take: takeSnapshot}
		if c.sel.fromText != "" || c.sel.toText != "" {
			x.take = c.takeExcerpt
		}
		if st, err := os.Stat(to); len(c.args) > 1 && to != "" || to != "" && os.IsPathSeparator(to[len(to)-1]) || err == nil && st.IsDir() {
			x.to, x.dir = "", to
			if err := os.MkdirAll(to, 0o700); err != nil {
				return fmt.Errorf("making the directory for the snapshots: %w", err)
			}
		}
		return x.all(c.context(), c.args)
	}
}

// copiesAtOnce is the number of concurrent snapshots: most of their time is waiting for other
// processes.
const copiesAtOnce = 8

// copies makes one snapshot of each trace.
type copies struct {
	s       *streams
	timeout time.Duration // for each; 0: none
	to      string        // the file; "": named after the trace, in dir
	dir     string        // "": beside the trace
	spool   string        // directory for downloads; "": that for temporary files
	take    taker
}

// taker copies a trace, or a range of it, to a new file.
type taker func(ctx context.Context, from, to string) (snapshot.Result, error)

// all makes a snapshot of each of the traces, and reports the results.
func (x *copies) all(ctx context.Context, args []string) error {
	if len(args) == 1 {
		res, err := x.one(ctx, args[0])
		if err != nil {
			return err
		}
		return x.print(res)
	}
	x.s = x.s.forMany()
	var (
		mu     sync.Mutex
		failed int
		broken error // of standard output
	)
	each(args, func(_ int, arg string) {
		res, err := x.one(ctx, arg)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil && err != nil:
		case err != nil:
			failed++
			fmt.Fprintf(x.s.err, "scopeview: %s\n", show.Text(err.Error()))
		default:
			if err := x.print(res); broken == nil {
				broken = err
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0:
		return &exit{exitFailed, fmt.Errorf("%d of %s could not be made", failed, show.Plural(int64(len(args)), "snapshot"))}
	}
	return broken
}

// each calls f for all elements of the list, copiesAtOnce at a time, and waits for them.
func each(list []string, f func(i int, x string)) {
	places := make(chan struct{}, copiesAtOnce)
	var wg sync.WaitGroup
	for i, x := range list {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			f(i, x)
		})
	}
	wg.Wait()
}

// forMany returns streams for several concurrent writers. They show no progress, which has only one
// line.
func (s *streams) forMany() *streams {
	many := *s
	many.errTerm, many.err = false, &lockedWriter{w: s.err}
	return &many
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// print prints the name of a new snapshot.
func (x *copies) print(res snapshot.Result) error {
	if res.Missed > 0 {
		fmt.Fprintf(x.s.err, "scopeview: the program overwrote %s of its ring before they were copied\n", show.Plural(int64(res.Missed), "chunk"))
	}
	name := res.Path
	if x.s.outTerm {
		name = show.Name(name)
	}
	_, err := fmt.Fprintln(x.s.out, name)
	return err
}

// one makes a snapshot of one trace.
func (x *copies) one(ctx context.Context, arg string) (res snapshot.Result, err error) {
	within := ctx
	if x.timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, x.timeout)
		defer cancel()
	}
	trace, dir, err := sourceBy(within, x.s, arg, x.spool)
	if err == nil {
		defer trace.remove()
		if x.dir != "" {
			dir = x.dir
		}
		res, err = x.take.named(within, trace.path, x.to, dir)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if isAddress(arg) { // it may contain a password
			if a, bad := parseAddress(arg); bad == nil {
				arg = a.String()
			}
		}
		return res, fmt.Errorf("%s: no snapshot within %v; wait longer with --timeout", arg, x.timeout)
	}
	return res, err
}

// named copies the trace at from to the file to or, if that is empty, to a new one in dir. Traces of
// the same name may be copied within one millisecond, from several hosts.
func (take taker) named(ctx context.Context, from, to, dir string) (res snapshot.Result, err error) {
	if to != "" {
		return take(ctx, from, to)
	}
	name := filepath.Join(dir, snapshotName(from, time.Now()))
	for i := 2; ; i++ {
		if res, err = take(ctx, from, name); i > 100 || !errors.Is(err, fs.ErrExist) {
			return res, err
		}
		name = filepath.Join(dir, strings.TrimSuffix(snapshotName(from, time.Now()), extension)+"-"+strconv.Itoa(i)+extension)
	}
}

// snapshotSource is the trace to copy, possibly a download.
type snapshotSource struct {
	path string
	got  downloads
}

func (x *snapshotSource) remove() { x.got.remove() }

// sourceOf finds TRACE, and the default directory of its snapshot. If the trace is not a file in a
// directory, because it was removed, or was downloaded, that is the working directory.
func sourceOf(ctx context.Context, s *streams, arg string) (x *snapshotSource, beside string, err error) {
	return sourceBy(ctx, s, arg, "")
}

// sourceBy is like sourceOf, with downloads in the directory spool.
func sourceBy(ctx context.Context, s *streams, arg, spool string) (x *snapshotSource, beside string, err error) {
	x = &snapshotSource{got: downloads{patience: stalledAfter, in: spool}}
	if x.path, _, err = x.got.localFile(ctx, s, arg); err != nil {
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

// snapshotName returns a new name for a snapshot: that of the trace, which includes program and
// process, and the time. A handler's file is a snapshot already.
func snapshotName(trace string, now time.Time) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(trace), packedExtension), extension)
	name, _, _ = strings.Cut(name, "-snapshot-")
	return name + "-snapshot-" + now.UTC().Format("20060102T150405.000Z") + extension
}

// takeSnapshot copies the trace at from to a new file.
func takeSnapshot(ctx context.Context, from, to string) (snapshot.Result, error) {
	return copyTrace(ctx, from, to, snapshot.Options{Facts: []snapshot.Fact{{Key: "snapshot_reason", Value: "copied by scopeview snapshot"}}})
}

// takeExcerpt copies the range of --from and --to of the trace at from to a new file.
func (c *call) takeExcerpt(ctx context.Context, from, to string) (snapshot.Result, error) {
	f, err := openToCopy(from)
	if err != nil {
		return snapshot.Result{}, err
	}
	res, err := excerpt.Create(ctx, to, f, excerpt.Options{
		Reason:  "a range copied by scopeview snapshot",
		Refresh: func() error { return awaitRounds(ctx, f) },
		Resolve: func(o *excerpt.Options, t *trace.Trace) error {
			s := c.sel
			err := s.resolve(t)
			o.From, o.To = s.From, s.To
			return err
		},
	})
	return snapshot.Result{Path: res.Path, Bytes: res.Bytes}, explainCopy(ctx, err)
}

// openToCopy opens the trace at path, joined with its hot file.
func openToCopy(path string) (*hot.File, error) {
	f, err := hot.Open(path)
	switch {
	case errors.Is(err, format.ErrNotTrace):
		return nil, err
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("opening the trace: %w; run scopeview as the user of the program, or as root", err)
	case err != nil:
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	return f, nil
}

// copyTrace copies the trace at from to a new file with the options o.
func copyTrace(ctx context.Context, from, to string, o snapshot.Options) (res snapshot.Result, err error) {
	f, err := openToCopy(from)
	if err != nil {
		return res, err
	}
	defer f.Close()
	// An interruption closes the trace: then copying fails, and cleans up.
	defer context.AfterFunc(ctx, func() { f.Close() })()
	o.Refresh = func() error { return awaitRounds(ctx, f) }
	res, err = snapshot.Create(to, f, o)
	return res, explainCopy(ctx, err)
}

// explainCopy adds to the error of a copy what to do. If ctx is done its error is that.
func explainCopy(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w; give another name with -o, or remove the file", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; give another file with -o", err)
	}
	return err
}

// roundsWithin is the maximum duration of two rounds of a recorder, of a second each.
const roundsWithin = 4 * time.Second

// awaitRounds waits until a recorder whose file is a copy of unreadable memory has updated it:
// until the second round ends from now on, because the first one may already be under way. It gives
// up after roundsWithin.
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
