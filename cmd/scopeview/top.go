package main

import (
	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/top"
)

const topHelp = `top sums up the scopes by name (or, --by track, by the name of their row), the locks, the events and
the counters.

Scopes that have not ended are counted under "open" only. self is the time in a scope and in no scope
inside it, a part of total; waiting for a lock inside is not self. Quantiles are exact up to 64 scopes, else within 0.8 %.
cpu is the CPU time that is known, known the share of the total of which it is, cpu/wall their ratio there;
cpu max is an upper bound for others. With --from and --to, scopes that touch the range count whole, and
self and "held by" are what lies inside it.

By track, scopes inside others on their row are not counted again: all but self is of the outermost ones.

held by tells what had the time while a lock was held: each moment counts for the innermost scope on the
holder's row, around the lock or inside it.`

func newTop(s *streams) *cobra.Command {
	var (
		x         = excerpt{s: s}
		order, by string
	)
	cmd := &cobra.Command{
		Use:   "top TRACE",
		Short: "Tell where the time went, by name or by row, and who waited for which lock",
		Long:  topHelp,
		Example: `  scopeview top traces/
  scopeview top x.scope --sort self -n 10
  scopeview top x.scope --by track --from -5s
  scopeview top x.scope --json | jq '.locks[] | {name, wait_ns}'`,
		RunE: x.run(func(cmd *cobra.Command) error {
			r, err := top.Of(cmd.Context(), x.t, x.part(), order, by == "track")
			return x.show(cmd, r, err)
		}),
	}
	x.flags(cmd)
	jsonFlag(cmd, &x.asJSON)
	x.briefFlag(cmd)
	x.linesFlag(cmd)
	x.choiceFlag(cmd, &order, "sort", "total", "sort by `COLUMN`", top.Orders...)
	x.choiceFlag(cmd, &by, "by", "name", "sum up by `WHAT`", "name", "track")
	return cmd
}
