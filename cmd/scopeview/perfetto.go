package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/show"
)

func newPerfetto(s *streams) *cobra.Command {
	x := excerpt{s: s}
	cmd := &cobra.Command{
		Use:   "perfetto TRACE",
		Short: "Write the trace as Perfetto protobuf",
		Long: `perfetto writes a protobuf trace for ui.perfetto.dev and Perfetto's trace processor (SQL): what scopeview
chrome writes, in less than half the size. Each goroutine is a track, in the order named ones first, beside tracks for
the process's heartbeat and for counters; CPU time is among a slice's arguments, cpu_ns or cpu_max_ns. Samples of CPU
time are on the threads: select some for a flame graph.

Perfetto wants the slices of a track to nest: what overlaps another, and what another goroutine ended, is on
a second track of the same name, "worker 1 (2)". What was open has no end, and the argument open.

With --states, what each goroutine did (see scopeview states) is on a track behind its own. That is a lot.`,
		Example: `  scopeview perfetto x.scope -o x.pftrace
  scopeview perfetto traces/ -o last.pftrace --from -10s
  scopeview perfetto 4711 -o now.pftrace --track 'worker*'`,
		PreRunE: func(*cobra.Command, []string) error { return x.noTerminal("protobuf", "-o FILE.pftrace") },
		RunE: x.run(func(cmd *cobra.Command) error {
			var size perfetto.Size
			err := x.write(func(w io.Writer) (err error) {
				size, err = perfetto.Write(cmd.Context(), w, x.t, rows.Options{Selection: x.sel.Selection, States: x.states, Tool: version(), State: x.state()})
				return err
			})
			if err != nil {
				return err
			}
			if size.Large() {
				fmt.Fprintf(s.err, "scopeview: %s are too much for Perfetto's page, which takes about 500 MB: write a part of it with --from and --to, or let its trace_processor serve it\n",
					show.Size(size.Bytes))
			}
			return x.verdict()
		}),
	}
	x.flags(cmd)
	x.sel.objects(cmd)
	x.statesFlag(cmd)
	return cmd
}
