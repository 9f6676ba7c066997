package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/membench"
)

const membenchHelp = `membench copies memory, and computes a[i] = b[i] + s·c[i] over it, on one core, two, and so on up to
GOMAXPROCS, in arrays several times as large as the last-level cache. It tells from how many cores on further
ones bring nothing: there a program that waits for memory stops to scale.

inflation is how many times longer the same work takes on so many cores than on one: of memory, for work that
only moves memory, of compute, for work that needs none (cores that are threads of one core, or that the host
shares out, slow each other down in that too). scopeview doctor --membench FILE takes the --json document, to
tell whether work that costs more CPU time in parallel waits for memory.

It takes all the cores for some three seconds. Measure on a machine that does nothing else.`

func newMembench(s *streams) *cobra.Command {
	var (
		out    output
		asJSON bool
		o      membench.Options
	)
	cmd := &cobra.Command{
		Use:   "membench",
		Short: "Measure how much memory this machine moves, by the number of cores",
		Long:  membenchHelp,
		Example: `  scopeview membench
  scopeview membench --json -o machine.json && scopeview doctor x.scope --membench machine.json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Time < 10*time.Millisecond || o.Time > time.Hour {
				return usagef("--time %v: it takes 10ms to 1h", o.Time)
			}
			o.Progress = s.steps("")
			r, err := membench.Measure(cmd.Context(), o)
			s.stepsDone()
			if err != nil {
				return err
			}
			return out.show(s, cmd, r.Report(), asJSON, 0)
		},
	}
	out.flag(cmd)
	f := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	f.IntVar(&o.Cores, "cores", 0, "measure with up to `N` cores; 0: GOMAXPROCS")
	f.DurationVar(&o.Time, "time", 3*time.Second, "take about so `LONG`; shorter is less exact")
	return cmd
}

// noArguments checks that a command without arguments got none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, not %q", cmd.Name(), args)
	}
	return nil
}
