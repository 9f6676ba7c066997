package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/export/csv"
)

func newCSV(s *streams) *cobra.Command {
	x := excerpt{s: s}
	var raw, withStates bool
	cmd := &cobra.Command{
		Use:   "csv TRACE",
		Short: "Write the trace as comma-separated values",
		Long: `csv writes one row a record, in the order of their starts, a parent before its children:

  ` + csv.Header + `
kind is task, process, event, pending, counter, wait, hold or heartbeat; new kinds may come, the columns
stay. Times are integer nanoseconds from the trace's start; cpu_ns is known (exact or likely), cpu_max_ns
only an upper bound. open is true for what had not ended; its dur_ns runs to the last moment that the trace
knows. args is a JSON object: positional arguments have the keys "0", "1", …, a Taskf's text is "text", a
counter's "value", a lock's "addr", a process scope's "user_ns" and "sys_ns"; a heartbeat's are its fields.

With --states, rows of kind state follow, by their ends: what each goroutine did at every moment, if a Go
execution trace was recorded (see scopeview states). They are many. name is the state, cpu_ns the part on
a CPU; args has Go's "reason" for a wait, "at" (where), "by" and "by_at" (who woke it, and where).

A cell that a spreadsheet would run as a formula gets an apostrophe in front; --raw leaves it as it is.`,
		Example: `  scopeview csv x.scope -o x.csv
  scopeview csv traces/ --name 'store.*' --from 1s --to 2s
  scopeview csv x.scope --states --track 'worker*' -o x.csv
  scopeview csv 4711 | duckdb -c "select name, sum(dur_ns) from read_csv('/dev/stdin') group by name"`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.open(args[0]); err != nil {
				return err
			}
			defer x.t.Close()
			if withStates && len(x.t.GoTraces()) == 0 {
				return noGoTrace(x.t, x.path)
			}
			err := x.write(func(w io.Writer) error {
				return csv.Write(cmd.Context(), w, x.t, csv.Options{Selection: x.sel.Selection, Raw: raw, States: withStates})
			})
			if err != nil {
				return err
			}
			return x.verdict()
		},
	}
	x.flags(cmd)
	statesFlag(cmd, &withStates)
	cmd.Flags().BoolVar(&raw, "raw", false, "leave cells that a spreadsheet would run as a formula")
	return cmd
}
