package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report/info"
	"github.com/scopeview/scopeview/internal/trace"
)

func newInfo(s *streams) *cobra.Command {
	x := excerpt{s: s}
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
		RunE: x.run(func(cmd *cobra.Command) error {
			r, failed := info.Of(cmd.Context(), x.t, x.part(), x.path, x.state())
			x.progress.done()
			if r == nil {
				return failed
			}
			if err := cmp.Or(x.out.show(s, cmd, r, x.asJSON, 0), failed); err != nil {
				return err
			}
			return x.strict.verdict(s, x.path, x.t, nil)
		}),
	}
	x.out.flag(cmd)
	x.strict.flag(cmd)
	jsonFlag(cmd, &x.asJSON)
	return cmd
}

// stateOf returns whether the trace is still being written, according to the system.
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
