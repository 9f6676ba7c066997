package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/export/csv"
)

const csvHelp = `csv writes one row a record, in the order of their starts, a parent before its children:

  ` + csv.Header + `
kind is task, process, event, pending, counter, wait, hold or heartbeat; new kinds may come, the columns
stay. Times are integer nanoseconds from the trace's start; cpu_ns is known (exact or likely), cpu_max_ns
only an upper bound. open is true for what had not ended; its dur_ns runs to the last moment that the trace
knows, and is 0 for a pending event, which is an instant. A name that the trace lost is (name 17), by its
number. Each byte of broken UTF-8 is U+FFFD.

args is a JSON object. Positional arguments have the keys "0", "1", …, those of scope.KV their own. What
scopeview adds comes first:
  text                of a Taskf: its format with the arguments filled in
  value               of a counter
  user_ns, sys_ns     of a process scope: the process's CPU time
  addr                of a wait or hold: the lock's address
  lock                its kind: mutex, rwmutex, retry; lock where that is not known
  mode                shared, where it was locked together with other readers
  holder              of a wait: the number of the goroutine that had the lock when it began
  tries               of a retry
  cut                 how many arguments there were beyond those that a record keeps
  KEY#bytes           how many bytes the string KEY had, where a record keeps only its beginning
A key that occurs again gets #2, #3, … behind it. A value of which only the type is recorded is
{"type": "pkg.T"}. A heartbeat's keys are its fields.

With --states, rows of kind state follow, by their ends: what each goroutine did at every moment, if a Go
execution trace was recorded (see scopeview states). They are many. name is the state, cpu_ns the part on
a CPU; args has Go's "reason" for a wait, "at" (where), "by" and "by_at" (who woke it, and where).

A cell that a spreadsheet would run as a formula gets an apostrophe in front; --raw leaves it as it is.`

func newCSV(s *streams) *cobra.Command {
	x := excerpt{s: s}
	var raw bool
	cmd := &cobra.Command{
		Use:   "csv TRACE",
		Short: "Write the trace as comma-separated values",
		Long:  csvHelp,
		Example: `  scopeview csv x.scope -o x.csv
  scopeview csv traces/ --name 'store.*' --from 1s --to 2s
  scopeview csv x.scope --states --track 'worker*' -o x.csv
  scopeview csv --raw 4711 | duckdb -c "select name, sum(dur_ns) from read_csv('/dev/stdin') group by name"`,
		RunE: x.run(func(cmd *cobra.Command) error {
			err := x.write(func(w io.Writer) error {
				return csv.Write(cmd.Context(), w, x.t, csv.Options{Selection: x.sel.Selection, Raw: raw, States: x.states})
			})
			if err != nil {
				return err
			}
			return x.verdict()
		}),
	}
	x.flags(cmd)
	x.statesFlag(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "leave cells that a spreadsheet would run as a formula")
	return cmd
}
