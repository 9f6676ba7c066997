package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// rowsCommand returns a command that shows one row for each of a kind.
func rowsCommand(s *streams, by *profile.Kind, use, short, long, example string) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}, split: by.Split}
	cmd := &cobra.Command{
		Use: use + " TRACE", Short: short, Long: long + "\n\n" + sourcesHelp, Example: example,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: x.run(func([]string) (*profile.Report, error) {
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			return by.Of(v), nil
		}),
	}
	x.tableFlags(cmd)
	x.metricFlags(cmd)
	if by == profile.Functions || by == profile.Lines {
		cmd.Flags().StringVar(&x.function, "function", "", "only functions whose names match `GLOBS`")
	}
	if by == profile.Functions {
		cmd.Flags().StringVar(&x.slowest, "slowest", "", "compare the slowest `SHARE` of the executions of --scope with the others: 1%")
	}
	return cmd
}

// completeSource completes TRACE: directories, traces and profiles of any name.
func completeSource(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

func newFunctions(s *streams) *cobra.Command {
	return rowsCommand(s, profile.Functions, "functions", "Tell in which functions the time went, on CPUs and waiting",
		`functions lists the functions with what they cost: exclusive, in themselves, and inclusive, in what they called
too. <Total> is all of it.

With --scope NAME it is what happened in those scopes; and with --slowest 1% first what the slowest hundredth of
them had that the others had not: for one execution, by metric, and by the place in the program.`,
		`  scopeview functions x.scope
  scopeview functions x.scope --scope store.get --slowest 1%
  scopeview functions x.scope -m i.lock%:i.network --sort i.lock --track 'worker *'
  scopeview functions cpu.pprof
  scopeview functions x.scope --json | jq '.rows[] | {name, cpu: .exclusive.cpu}'`)
}

func newLines(s *streams) *cobra.Command {
	return rowsCommand(s, profile.Lines, "lines", "Tell in which lines of the source the time went",
		"lines lists the lines of the source with what they cost, as functions does.",
		`  scopeview lines x.scope
  scopeview lines x.scope --function 'main.*' -m e.cpu%`)
}

func newObjects(s *streams) *cobra.Command {
	return rowsCommand(s, profile.Objects, "objects", "Tell in which load objects the time went: the program, C libraries, the kernel",
		"objects lists the program, the shared objects and the kernel with what their code cost, as far as the samples tell.",
		"  scopeview objects cpu.pprof")
}

func newGoroutines(s *streams) *cobra.Command {
	return rowsCommand(s, profile.Goroutines, "goroutines", "Tell what each goroutine had of CPU time and waits",
		"goroutines lists the goroutines with the names of their rows. scopeview states --by goroutine has their exact CPU time, and what they did all their life.",
		`  scopeview goroutines x.scope -m e.cpu:e.lock:e.channel
  scopeview goroutines x.scope --from 2s --to 3s`)
}

func newThreads(s *streams) *cobra.Command {
	return rowsCommand(s, profile.Threads, "threads", "Tell what each thread had of CPU time",
		"threads lists the system's threads. Goroutines that wait have none.",
		"  scopeview threads x.scope")
}

func newCallers(s *streams) *cobra.Command {
	x := &annotated{profiling: profiling{excerpt: excerpt{s: s}}}
	cmd := &cobra.Command{
		Use:   "callers TRACE FUNC",
		Short: "Tell who calls a function, and whom it calls, with what each call costs",
		Long: `callers shows a function between its callers, above, and its callees, below. The attributed metrics, a., are
what of the function's inclusive metrics belongs to calls from that caller, or to that callee: those of the
callers add up to the function's inclusive ones, those of the callees, with its own exclusive ones, too. A
recursive function is a caller of itself, and not a callee. FUNC is a function's name or its end behind a dot or
a slash; <Total> is the caller of all that nobody called.

--commentary tells what the compiler did with the calls that are hot in the profile that the program is built
with, its default.pgo. That builds the program, with the profile and without: it needs the source, unchanged, and
the executable; --binary and --path-map say where they are now.

` + sourcesHelp,
		Example: `  scopeview callers x.scope runtime.mallocgc
  scopeview callers x.scope '(*Store).Get' -m i.lock
  scopeview callers x.scope main.handle --commentary
  scopeview callers cpu.pprof '<Total>'`,
		Args: traceAnd("a function, such as main.work"), ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return x.run(func(args []string) (*profile.Report, error) {
				v, err := x.view()
				if err != nil {
					return nil, err
				}
				if !x.commentary {
					return profile.Callers(v, args[0], nil)
				}
				c, err := x.code(args[0])
				if err != nil {
					return nil, err
				}
				return annotate.Callers(cmd.Context(), v, c, args[0])
			})(cmd, args)
		},
	}
	x.flags(cmd)
	return cmd
}

func newTree(s *streams) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}}
	var least string
	cmd := &cobra.Command{
		Use:   "tree TRACE",
		Short: "Tell who called whom, as a tree from <Total> on",
		Long:  "tree shows the functions below those that called them, with what they cost on that way.\n\n" + sourcesHelp,
		Example: `  scopeview tree x.scope --least 5%
  scopeview tree x.scope -m i.off%:i.lock --scope request`,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: x.run(func([]string) (*profile.Report, error) {
			share, err := strconv.ParseFloat(strings.TrimSuffix(least, "%"), 64)
			if err != nil || share < 0 || share > 100 {
				return nil, usagef("--least %s: write a share of the total, such as 1%%", least)
			}
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			if x.sort == "" && len(v.Columns) > 0 {
				v.Sort.Metric = v.Columns[0].Metric
			}
			v.Least = share / 100
			return profile.Tree.Of(v), nil
		}),
	}
	x.tableFlags(cmd)
	x.metricFlags(cmd)
	cmd.Flags().StringVar(&least, "least", "1%", "leave out what has less than `SHARE` of the total")
	return cmd
}

func newSamples(s *streams) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}, split: profile.Samples.Split}
	cmd := &cobra.Command{
		Use:   "samples TRACE",
		Short: "Tell of each sample and each wait: when, where, on which goroutine, in which scope",
		Long: `samples lists the samples of CPU time, and the waits, one by one, by time. -m chooses the metrics. It keeps them
all in memory.

` + sourcesHelp,
		Example: `  scopeview samples x.scope --scope request --from 2s --to 2.1s
  scopeview samples x.scope -m e.network -n 0 --format csv -o waits.csv`,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []profile.Sample
			x.each = func(one *samples.Sample) { all = append(all, profile.SampleOf(one)) }
			return x.run(func([]string) (*profile.Report, error) {
				if x.t == nil && x.kind == kindPprof {
					return nil, fmt.Errorf("%s is a profile, which tells only sums: scopeview functions shows them", show.Name(args[0]))
				}
				v, err := x.view()
				if err != nil {
					return nil, err
				}
				v.List = all
				return profile.Samples.Of(v), nil
			})(cmd, args)
		},
	}
	x.tableFlags(cmd)
	cmd.Flags().StringVarP(&x.metrics, "metrics", "m", "", "list the samples of the metrics of `LIST`, such as e.cpu:e.lock (default: cpu and off-CPU time)")
	return cmd
}

func newHeader(s *streams) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}}
	cmd := &cobra.Command{
		Use:   "header TRACE",
		Short: "Tell what samples there are: which metrics, how many, how exact",
		Long:  "header lists the metrics that TRACE has, with their totals, and what is to be known of them.\n\n" + sourcesHelp,
		Example: `  scopeview header x.scope
  scopeview header mem.pprof`,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: x.run(func([]string) (*profile.Report, error) {
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			return profile.Metrics.Of(v), nil
		}),
	}
	x.tableFlags(cmd)
	return cmd
}
