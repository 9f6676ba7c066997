package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/anonymize"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

var anonymizeHelp = `anonymize makes a copy of a trace without what it tells of whose it is. It can be looked at like the trace:
the same times, kinds, rows and counts.

Hashed, each to eight letters: the names of scopes, events, counters, locks and rows, keys, notes, the
functions and files of stacks; the machine's boot id. Equal names have equal hashes. The hash has a random key, which is
not kept; with the same --salt names have the same hashes in every copy, so that copies can be compared,
and whoever knows the salt can try whether a name is among them.

The ids of requests become others by the same key.

Left out: all arguments; command line, path of the program, host, directory, module, version and filter; the
process's id and its parent's; what was asked of the program by ctl; the Go execution trace, which is full of names; the
executable and the sources that scopeview archive has stored;
whatever made no sense, or is of a later version.

What stays:
  times, also of the clock on the wall; CPU times; kinds; the order and nesting of scopes
  numbers of goroutines, threads and processors; when threads were on a CPU; addresses of locks, hashed
  the values of counters and weights of stacks; how often each stack was counted; line numbers
  the functions and files of the standard library
  heartbeats: memory, CPU, faults, switches, GC, limits of machine and container, losses
  ` + strings.ReplaceAll(anonymize.Facts, "\n", "\n  ") + `
Somebody who knows the program may recognise it by these. Look at the copy with scopeview dump before you give
it away.`

func newAnonymize(s *streams) *cobra.Command {
	var (
		out  output
		salt string
	)
	cmd := &cobra.Command{
		Use:   "anonymize TRACE",
		Short: "Make a copy of a trace to give away",
		Long:  anonymizeHelp,
		Example: `  scopeview anonymize x.scope -o given.scope
  scopeview anonymize 4711 -o given.scope --salt "$SALT"`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out.standard() && s.outTerm {
				return usagef("anonymize makes a trace, which is nothing for a terminal: give -o FILE")
			}
			if cmd.Flags().Changed("salt") && salt == "" {
				return usagef("--salt is empty; give a text that nobody guesses, or leave it out")
			}
			path, err := findTrace(args[0])
			if err != nil {
				return err
			}
			if err := out.notOver(path); err != nil {
				return err
			}
			f, length, still, err := stillTrace(cmd.Context(), path, &out)
			if err != nil {
				return err
			}
			defer still()
			var res anonymize.Result
			err = out.write(s, func(w io.Writer) (err error) {
				if res, err = anonymize.Write(untilDone{cmd.Context(), w}, f, length, salt); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				return nil
			})
			if err == nil && res.GoTrace > 0 {
				fmt.Fprintf(s.err, "scopeview: the Go execution trace (%s) is full of names and was left out: the copy has no states of goroutines\n", show.Size(res.GoTrace))
			}
			if err == nil && res.Files > 0 {
				fmt.Fprintf(s.err, "scopeview: the executable and the sources (%s) were left out\n", show.Size(res.Files))
			}
			if err == nil && res.Dropped > 0 {
				fmt.Fprintf(s.err, "scopeview: %s made no sense and were left out\n", show.Plural(res.Dropped, "part"))
			}
			return err
		},
	}
	out.flag(cmd)
	cmd.Flags().StringVar(&salt, "salt", "", "hash with the key `TEXT`, so that copies can be compared (default: a random one)")
	return cmd
}

// stillTrace opens a trace that does not change. If the trace is being written, it makes a
// snapshot, which done removes.
func stillTrace(ctx context.Context, path string, out *output) (f *trace.Reading, size int64, done func(), err error) {
	if f, size, err = openFile(ctx, path); err != nil {
		return nil, 0, nil, err
	}
	tr, err := trace.Open(f, size)
	if err != nil {
		f.Close()
		return nil, 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	if alive, known := trace.WriterAlive(f.Trace()); tr.State().Closed || known && !alive {
		return f, size, func() { f.Close() }, nil
	}
	f.Close()
	temp := strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if out.standard() {
		temp = os.TempDir() + string(os.PathSeparator) + "scopeview-" + temp
	} else {
		temp = out.path + "." + temp
	}
	if _, err := takeSnapshot(ctx, path, temp); err != nil {
		return nil, 0, nil, err
	}
	if f, size, err = openFile(ctx, temp); err != nil {
		os.Remove(temp)
		return nil, 0, nil, err
	}
	return f, size, func() {
		f.Close()
		os.Remove(temp)
	}, nil
}
