package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report/scale"
	"github.com/scopeview/scopeview/internal/trace"
)

const scaleHelp = `scale runs COMMAND with each GOMAXPROCS of the list, several times, in turns, and tells the median of the wall
time, the speed-up over the first, the CPU time, and by which factor that grows: work inflation.

In the arguments {p} stands for the number, for programs that have a flag for their workers, and {trace} for a
directory to record into. SCOPEVIEW names that directory too, so that what imports scope/auto records. From what
is recorded comes the CPU time of one execution by name. Where it is not known of half of the executions it is
not told; --plain records nothing.

With six numbers or more the Universal Scalability Law is fitted, C(N) = N / (1 + σ(N−1) + κN(N−1)): σ is what
is done by one at a time (locks, serial parts, queues), κ what each core costs all others (shared cache lines,
memory). With fewer it is not, because three parameters fit nearly any five points.

The command's standard output is thrown away; its standard error is shown if it fails.`

func newScale(s *streams) *cobra.Command {
	var (
		out           output
		asJSON, plain bool
		procs         string
		o             scale.Options
	)
	cmd := &cobra.Command{
		Use:   "scale -p LIST -- COMMAND [ARGUMENT…]",
		Short: "Run a command with several GOMAXPROCS and tell how it scales, and what keeps it from it",
		Long:  scaleHelp,
		Example: `  scopeview scale -p 1,2,4,8 -- ./program -input big.txt
  scopeview scale -p 1,2,3,4,6,8,12,16 -n 5 -- ./program -workers {p}
  scopeview scale -p 1,2,4 -- ./gostats -workers {p} -trace {trace}`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("scale needs a command behind --: scopeview scale -p 1,2,4 -- ./program")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Procs, err = parseProcs(procs); err != nil {
				return usagef("-p %q: %w", procs, err)
			}
			if o.Runs < 1 || o.Runs > 1000 {
				return usagef("-n %d: it takes a number of runs from 1 to 1000", o.Runs)
			}
			o.Command = args
			ctx := cmd.Context()
			if !plain {
				o.Names = func(dir string) (map[string]scale.Name, error) { return namesIn(ctx, dir) }
			}
			step := s.steps("run ")
			o.Progress = func(run, of, _ int) { step(run, of) }
			r, err := scale.Of(ctx, o)
			s.stepsDone()
			if err != nil {
				return err
			}
			return out.show(s, cmd, r, asJSON, 0)
		},
	}
	out.flag(cmd)
	f := cmd.Flags()
	f.StringVarP(&procs, "procs", "p", "", "run with GOMAXPROCS as in `LIST`: 1,2,4,8 (default: 1, 2, 4 … up to the CPUs)")
	f.IntVarP(&o.Runs, "runs", "n", 3, "run `N` times with each")
	f.BoolVar(&plain, "plain", false, "record nothing: no CPU time by name, and no cost of recording")
	f.BoolVar(&o.Memory, "membench", false, "also measure the machine's memory, for scopeview doctor --membench")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// parseProcs parses a list of different numbers.
func parseProcs(text string) (ps []int, err error) {
	if text == "" {
		for n := 1; n < runtime.NumCPU(); n *= 2 {
			ps = append(ps, n)
		}
		return append(ps, runtime.NumCPU()), nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("%q is no number of processors; write 1,2,4,8", word)
		}
		if !slices.Contains(ps, n) {
			ps = append(ps, n)
		}
	}
	slices.Sort(ps)
	return ps, nil
}

// namesIn adds up the CPU times of names in the traces of a directory; nil if there are none.
func namesIn(ctx context.Context, dir string) (map[string]scale.Name, error) {
	var names map[string]scale.Name
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != extension {
			return err
		}
		if names == nil {
			names = map[string]scale.Name{}
		}
		return addNames(ctx, path, names)
	})
	return names, err
}

func addNames(ctx context.Context, path string, names map[string]scale.Name) error {
	t, _, err := openTrace(ctx, path)
	if err != nil {
		return err
	}
	defer t.Close()
	var watch analysis.Watch
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		if (e.Kind == format.KindTask || e.Kind == format.KindTaskf) && !e.Open {
			text := t.Name(e.Name)
			n := names[text]
			n.Count++
			if e.Quality == format.Exact || e.Quality == format.Likely {
				n.Known++
				n.CPU += e.CPU
			}
			names[text] = n
		}
		return watch.Look(ctx, e.Start) == nil
	})
	return errors.Join(err, ctx.Err())
}
