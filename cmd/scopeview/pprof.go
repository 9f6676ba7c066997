package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/export/pprof"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

func newPprof(s *streams) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}}
	var folded string
	cmd := &cobra.Command{
		Use:   "pprof TRACE",
		Short: "Write CPU time and waits as a profile for go tool pprof, or as folded stacks",
		Long: `pprof writes what scopeview functions shows as a profile for go tool pprof, and for what reads its format. Each
metric is a sample type: -sample_index=lock shows where goroutines waited for mutexes. Labels tell the scope,
the row (track) and the goroutine: -tagfocus scope=store.get. Sums, such as off, are left out, but for the one that is shown first.

With --folded METRIC it writes a line a stack, the outermost function first, then what it has of the metric, as
flame graphs are made of.

For go build -pgo there is scopeview pgo collect, whose profiles tell in which lines functions begin.

` + sourcesHelp,
		Example: `  scopeview pprof x.scope -o x.pb.gz && go tool pprof -http : x.pb.gz
  scopeview pprof x.scope -o x.pb.gz && go tool pprof -top -sample_index=channel x.pb.gz
  scopeview pprof x.scope --folded off | flamegraph.pl > x.svg`,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			if folded == "" {
				if err := x.noTerminal("a compressed profile", "-o FILE.pb.gz"); err != nil {
					return err
				}
				x.split = samples.Split{Scope: true, Track: true, Goroutine: true}
			}
			if err := x.read(cmd, args[0]); err != nil {
				return err
			}
			defer x.close()
			if folded == "" {
				var start time.Time
				if x.t != nil {
					start = x.t.Start()
				}
				return x.foreign(func(w io.Writer) error { return pprof.Write(w, x.p, pprof.Options{Start: start}) })
			}
			m := x.p.Metric(folded)
			if m < 0 {
				return usagef("--folded %s: there is no such metric here; scopeview header lists them", folded)
			}
			if n := pprof.Unfoldable(x.p, m); n > 0 {
				fmt.Fprintf(s.err, "scopeview: %s: %s with negative values left out: a frame of a flame graph has a width\n", show.Name(args[0]), show.Plural(n, "stack"))
			}
			return x.foreign(func(w io.Writer) error { return pprof.Fold(x.out.exact(s, w), x.p, m) })
		},
	}
	x.flags(cmd)
	cmd.Flags().StringVar(&folded, "folded", "", "write folded stacks of a `METRIC` instead, such as cpu, off, lock")
	return cmd
}
