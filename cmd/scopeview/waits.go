package main

import (
	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/waits"
)

const waitsHelp = `waits tells of each scope.Mutex, scope.RWMutex, scope.Lock and scope.Retry: how often it was had, how often
not at once, how long it was waited for and held, and by goroutines in which scopes. The one that was
waited for longest comes first. A lock without a name is called by its package, type and field, as the source
has it, or by the place where it was locked if that is not certain.

Of a scope.Mutex waits are recorded that lasted as long as WithLockThreshold said; shorter ones are counted:
they are "brief", and in "contended" and in "waited". Holds are recorded where somebody had waited, or
waited meanwhile, so that a "held" with ≈ before it is an estimate: as if all others had been as long.
scope.Lock records everything. ? is what nobody counted, such as the readers of a RWMutex who got in at once.
Counts are told once per heartbeat: those of the last second before a program was killed are missing.

"holders" tells what the goroutine was in that had the lock when somebody began to wait for it, "waiters" what
those were in who waited, each with its share of the waiting. With --from and --to, what touches the range
counts whole.

Where the trace has a Go execution trace (scope/gotrace, or scopeview join), a second table tells where goroutines
waited for everything else: for locks of package sync, a WaitGroup, a Cond, channels, in select; and where they were
woken: where somebody unlocked, was done, sent or received. --name chooses those places by their function. With
--stacks the stacks are shown too.`

func newWaits(s *streams) *cobra.Command {
	var (
		x          = excerpt{s: s}
		withStacks bool
	)
	cmd := &cobra.Command{
		Use:   "waits TRACE",
		Short: "Tell which locks were waited for, who waited, and who had them meanwhile",
		Long:  waitsHelp,
		Example: `  scopeview waits traces/
  scopeview waits x.scope --name 'store.*' --from 2s --to 5s
  scopeview waits x.scope --stacks -n 3
  scopeview waits x.scope --json | jq '.locks[] | {name, wait_ns, holder: .holders[0].name}'`,
		RunE: x.run(func(cmd *cobra.Command) error {
			r, err := waits.Of(cmd.Context(), x.t, x.part(), withStacks)
			return x.show(cmd, r, err)
		}),
	}
	x.flags(cmd)
	jsonFlag(cmd, &x.asJSON)
	cmd.Flags().BoolVar(&withStacks, "stacks", false, "show where goroutines waited, and where they were woken")
	x.linesFlag(cmd)
	return cmd
}
