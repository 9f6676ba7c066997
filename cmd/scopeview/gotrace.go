package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

func newGoTrace(s *streams) *cobra.Command {
	x := excerpt{s: s}
	var stream uint32
	cmd := &cobra.Command{
		Use:   "gotrace TRACE",
		Short: "Write the Go execution trace that was recorded along, for go tool trace",
		Long: `gotrace writes the Go execution trace that gotrace.With() has recorded along, byte for byte as Go wrote it, for go
tool trace and whatever else reads such traces. Where tracing was interrupted there are several, and a flight
recorder writes one for each snapshot: --stream chooses.`,
		Example: `  scopeview gotrace x.scope -o go.trace && go tool trace go.trace`,
		Args:    oneTrace, ValidArgsFunction: completeTrace,
		PreRunE: func(*cobra.Command, []string) error { return x.noTerminal("a Go execution trace", "-o FILE") },
		RunE: x.run(func(*cobra.Command) error {
			g, err := streamOf(&x, stream)
			if err != nil {
				return x.failed(err)
			}
			if g.Missing {
				fmt.Fprintf(s.err, "scopeview: a part of Go execution trace %d is not there: what can be read ends before it\n", g.Stream)
			}
			if err := readGoTrace(x.t); err != nil {
				return err
			}
			return x.foreign(func(w io.Writer) error {
				if _, err := io.Copy(w, g.Reader()); err != nil {
					return fmt.Errorf("copying Go execution trace %d of %s: %w", g.Stream, show.Name(x.path), err)
				}
				return nil
			})
		}),
	}
	x.out.flag(cmd)
	x.strict.flag(cmd)
	cmd.Flags().Uint32Var(&stream, "stream", 0, "write the one with this `NUMBER`, where there are several")
	return cmd
}

// streamOf returns the Go execution trace with a number, or the only one if number is 0.
func streamOf(x *excerpt, number uint32) (*trace.GoTrace, error) {
	all := x.t.GoTraces()
	if len(all) == 0 {
		return nil, noGoTrace(x.t, x.path)
	}
	if number == 0 && len(all) == 1 {
		return &all[0], nil
	}
	for i := range all {
		if all[i].Stream == number {
			return &all[i], nil
		}
	}
	there := report.First(all, func(g trace.GoTrace) string { return strconv.FormatUint(uint64(g.Stream), 10) })
	if number == 0 {
		return nil, usagef("%s has %s: give the number of one with --stream: %s", show.Name(x.path), show.Plural(int64(len(all)), "Go execution trace"), there)
	}
	return nil, usagef("--stream %d: %s has %s", number, show.Name(x.path), there)
}
