package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

func newInfo(s *streams) *cobra.Command {
	var (
		x      = excerpt{s: s}
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "info TRACE",
		Short: "Tell what was recorded, where, how, and whether all of it was kept",
		Long: `info tells, losses first, what a trace holds: the program, its build and machine, when and for how
long, how the recorder worked and why not better where it could not, the records by kind, how well CPU
times are known, what the recording itself cost at least, and what looks wrong.`,
		Example: `  scopeview info traces/
  scopeview info x.scope --json | jq .lost.total
  scopeview info x.scope --strict || echo "records were lost, or worse"`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.open(cmd, args[0]); err != nil {
				return err
			}
			defer x.t.Close()
			r := &analysis.Report{Trace: x.t, Path: x.path, State: x.state(), Cost: analysis.RecordingCost(x.t.Beats())}
			var err error
			if r.Go, err = gotrace.Read(x.t, gotrace.Handler{}); err != nil && !errors.Is(err, gotrace.ErrNone) {
				return err
			}
			p := newProgress(s, x.t, true)
			watch := analysis.Watch{Progress: p.at}
			failed := x.t.Events(trace.Options{}, func(e *trace.Event) bool {
				r.Census.Add(e)
				return watch.Look(cmd.Context(), e.Start) == nil
			})
			p.done()
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			err = x.out.write(s, func(w io.Writer) error {
				if asJSON {
					return writeJSON(x.out.exact(s, w), cmd.Name(), infoDocument(r))
				}
				return infoText(r, w, x.out.styles(s))
			})
			if err != nil {
				return err
			}
			if failed != nil {
				return failed
			}
			return x.strict.verdict(s, x.path, x.t, nil)
		},
	}
	x.out.flag(cmd)
	x.strict.flag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// stateOf asks the system whether the trace is still being written.
func stateOf(t *trace.Trace, path string) analysis.State {
	if t.Closed() {
		return analysis.StateClosed
	}
	f, err := os.Open(path)
	if err != nil {
		return analysis.StateUnknown
	}
	defer f.Close()
	switch alive, known := trace.WriterAlive(f); {
	case !known:
		return analysis.StateUnknown
	case alive:
		return analysis.StateWriting
	}
	return analysis.StateAbandoned
}
