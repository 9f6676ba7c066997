package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
)

// profiling is what the commands have in common that show samples.
type profiling struct {
	excerpt
	metrics, sort   string
	function        string
	scope, slowest  string
	goroutines      []uint
	threads         []uint
	states          []string
	imputed, inline bool
	format          string
	functions       glob.Filter
	p               *samples.Profile
	each            func(*samples.Sample) bool
	split           samples.Split
}

const sourcesHelp = `TRACE is a recording with a Go execution trace (scope.Start(path, gotrace.With())) or with calls of
scope.Stack; a plain Go execution trace (go test -trace); or a profile in pprof's format (go test -cpuprofile).

CPU time is sampled, 100 times a second. Waits are exact: each is recorded with its stack. The runtime's own
goroutines, and the recorder's, count with their CPU time and not with their waits. What a goroutine did
belongs to the go statement that made it: --imputed=false ends stacks where goroutines begin.

-m has the metrics of the columns, in the words of Sun's Analyzer: e.cpu:i.cpu:i.off% are the exclusive CPU
time (in the function itself), the inclusive (in what it called too), and the inclusive off-CPU time with its
share of <Total>. scopeview header lists the metrics of a TRACE. Times are in seconds.`

// flags lets a command take TRACE, and the flags that choose samples.
func (x *profiling) flags(cmd *cobra.Command) {
	x.out.flag(cmd)
	x.strict.flag(cmd)
	x.sel.times(cmd)
	x.sel.tracks(cmd)
	f := cmd.Flags()
	f.StringVar(&x.scope, "scope", "", "only what happened in scopes whose names match `GLOBS`, and in what they called")
	f.UintSliceVar(&x.goroutines, "goroutine", nil, "only the goroutines with these `NUMBERS`")
	f.UintSliceVar(&x.threads, "thread", nil, "only the threads with these `NUMBERS`, as the system has them")
	f.StringSliceVar(&x.states, "state", nil, "only what goroutines did in these `STATES`: cpu, lock, network and so on, as scopeview states has them")
	f.BoolVar(&x.inline, "inline", true, "show inlined functions as functions; =false: count them for those that they were inlined into")
	f.BoolVar(&x.imputed, "imputed", true, "count what a goroutine did for the go statement that made it too")
	complete(cmd, "state", states.Names[:])
}

// tableFlags adds the flags of what is shown as a table, which can be of other forms too.
func (x *profiling) tableFlags(cmd *cobra.Command) {
	x.flags(cmd)
	jsonFlag(cmd, &x.asJSON)
	x.choiceFlag(cmd, &x.format, "format", "text", "write `FORMAT`", "text", "csv")
	x.linesFlag(cmd)
}

// metricFlags adds -m and --sort.
func (x *profiling) metricFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&x.metrics, "metrics", "m", "", "show the metrics of `LIST`: e.NAME exclusive, i.NAME inclusive, with % its share (default: the first, and off-CPU time)")
	cmd.Flags().StringVar(&x.sort, "sort", "", "sort by the metric `e.NAME` or i.NAME (default: the first that is shown)")
}

// read opens what TRACE means, and reads its samples. The caller closes it.
func (x *profiling) read(cmd *cobra.Command, arg string) error {
	if err := x.readAll(cmd, arg); err != nil {
		return err
	}
	if x.inline {
		return nil
	}
	if !x.p.Inlined {
		c := annotate.Code{}
		c.UseBinary(x.p, "")
		if err := c.FindInlined(x.p); err != nil {
			x.close()
			return err
		}
	}
	x.p.FoldInlined()
	return nil
}

func (x *profiling) readAll(cmd *cobra.Command, arg string) (err error) {
	if x.asJSON && x.format != "text" {
		return usagef("--json and --format %s are different documents; give one of them", x.format)
	}
	if x.functions, err = glob.Parse(x.function); err != nil {
		return usagef("--function: %w", err)
	}
	sel, err := x.selection()
	if err != nil {
		return err
	}
	in, kind, err := x.sniff(arg)
	if err != nil {
		return err
	}
	if in != nil {
		defer in.Close()
	}
	ctx := cmd.Context()
	switch kind {
	case kindGoTrace, kindPprof:
		if err := x.plain(cmd); err != nil {
			return err
		}
		sel.Selection = &x.sel.Selection
		if kind == kindGoTrace {
			x.p, err = samples.OfGoTrace(ctx, in, sel)
		} else {
			x.p, err = samples.OfPprof(ctx, in, sel)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", show(arg), err)
		}
		return nil
	}
	if err := x.open(cmd, arg); err != nil {
		return err
	}
	sel.Selection = x.part()
	if x.p, err = samples.OfTrace(ctx, x.t, sel); err != nil {
		x.close()
		if errors.Is(err, samples.ErrNone) && x.t.Lookup("gotrace") != "" {
			return noGoTrace(x.t, x.path)
		}
		return fmt.Errorf("%s: %w", show(x.path), err)
	}
	return nil
}

// close ends reading, whatever TRACE was.
func (x *profiling) close() {
	if x.progress != nil {
		x.progress.done()
	}
	if x.t != nil {
		x.t.Close()
	}
}

// selection returns what the flags say.
func (x *profiling) selection() (*samples.Selection, error) {
	sel := &samples.Selection{Imputed: x.imputed, Split: x.split, Each: x.each}
	for _, g := range x.goroutines {
		sel.Goroutines = append(sel.Goroutines, uint64(g))
	}
	for _, t := range x.threads {
		sel.Threads = append(sel.Threads, uint32(t))
	}
	for _, name := range x.states {
		i := slices.Index(states.Names[:], name)
		if i < 0 {
			return nil, usagef("--state %s: there is %s", name, strings.Join(states.Names[:], ", "))
		}
		sel.States = append(sel.States, states.State(i))
	}
	if x.scope != "" {
		f, err := glob.Parse(x.scope)
		if err != nil {
			return nil, usagef("--scope: %w", err)
		}
		sel.Scopes = &f
	}
	if x.slowest != "" {
		number, percent := strings.CutSuffix(x.slowest, "%")
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !percent || share <= 0 || share >= 100 {
			return nil, usagef("--slowest %s: write a share of the executions, such as 1%%", x.slowest)
		}
		if x.scope == "" {
			return nil, usagef("--slowest %s is about the executions of a scope: name it with --scope", x.slowest)
		}
		sel.Slowest = share / 100
	}
	return sel, nil
}

// sourceKind is what TRACE can be.
type sourceKind int

const (
	kindTrace sourceKind = iota
	kindGoTrace
	kindPprof
)

// peeked is a file that is read from its begin on, of which some was looked at.
type peeked struct {
	io.Reader
	io.Closer
}

// sniff finds out what a file is. For a trace, and what is none of these, it returns nil:
// opening that says what is wrong with it.
func (x *profiling) sniff(arg string) (io.ReadCloser, sourceKind, error) {
	st, err := os.Stat(arg)
	if err != nil || st.IsDir() {
		return nil, kindTrace, nil
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, kindTrace, fmt.Errorf("opening the trace: %w", err)
	}
	b := bufio.NewReaderSize(f, 64<<10)
	head, _ := b.Peek(format.StateOffset)
	switch {
	case bytes.HasPrefix(head, []byte("go 1.")):
		return peeked{b, f}, kindGoTrace, nil
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte{0x0a}):
		return peeked{b, f}, kindPprof, nil
	}
	return nil, kindTrace, f.Close()
}

// plain reads the flags for what is no recording.
func (x *profiling) plain(cmd *cobra.Command) error {
	if err := x.check(cmd); err != nil {
		return err
	}
	for _, m := range []struct {
		flag, text string
		to         *int64
	}{{"--from", x.sel.fromText, &x.sel.From}, {"--to", x.sel.toText, &x.sel.To}} {
		if m.text == "" {
			continue
		}
		d, err := time.ParseDuration(m.text)
		if err != nil || d < 0 {
			return usagef("%s %s: of what is no recording times are from its begin, such as 1.5s", m.flag, m.text)
		}
		*m.to = int64(d)
	}
	return nil
}

// view returns the view that the flags ask for.
func (x *profiling) view() (*profile.View, error) {
	v, err := profile.NewView(x.p, x.t, x.metrics, x.sort, x.functions)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return v, nil
}

// tell writes a report, if err is nil.
func (x *profiling) tell(cmd *cobra.Command, r *profile.Report, err error) error {
	if err != nil {
		return err
	}
	switch {
	case x.format == "csv":
		err = x.out.write(x.s, func(w io.Writer) error { return r.CSV(x.out.exact(x.s, w)) })
	default:
		err = x.out.show(x.s, cmd, &r.Report, x.asJSON, x.lines)
	}
	if err != nil || x.t == nil {
		return err
	}
	return x.verdict()
}

// foreign lets f write a form that others read.
func (x *profiling) foreign(f func(w io.Writer) error) error {
	if x.t != nil {
		return x.excerpt.foreign(f)
	}
	return x.out.write(x.s, f)
}

// run returns what a command does that reads its samples and calls f.
func (x *profiling) run(f func(args []string) (*profile.Report, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := x.read(cmd, args[0]); err != nil {
			return err
		}
		defer x.close()
		r, err := f(args[1:])
		return x.tell(cmd, r, err)
	}
}

// rowsCommand returns a command that shows a row for each of something.
func rowsCommand(s *streams, by profile.By, use, short, long, example string) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}, split: by.Split()}
	cmd := &cobra.Command{
		Use: use + " TRACE", Short: short, Long: long + "\n\n" + sourcesHelp, Example: example,
		Args: oneTrace, ValidArgsFunction: completeSource,
		RunE: x.run(func([]string) (*profile.Report, error) {
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			return profile.Rows(v, by), nil
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

// completeSource completes TRACE: directories, traces and profiles, whatever they are called.
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
	x := &profiling{excerpt: excerpt{s: s}}
	cmd := &cobra.Command{
		Use:   "callers TRACE FUNC",
		Short: "Tell who calls a function, and whom it calls, with what each call costs",
		Long: `callers shows a function between its callers, above, and its callees, below. The attributed metrics, a., are
what of the function's inclusive metrics belongs to calls from that caller, or to that callee: those of the
callers add up to the function's inclusive ones, those of the callees, with its own exclusive ones, too. A
recursive function is a caller of itself, and not a callee. FUNC is a function's name or its end behind a dot or
a slash; <Total> is the caller of all that nobody called.

` + sourcesHelp,
		Example: `  scopeview callers x.scope runtime.mallocgc
  scopeview callers x.scope '(*Store).Get' -m i.lock
  scopeview callers cpu.pprof '<Total>'`,
		Args: traceAnd("a function, such as main.work"), ValidArgsFunction: completeSource,
		RunE: x.run(func(args []string) (*profile.Report, error) {
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			return profile.Callers(v, args[0])
		}),
	}
	x.tableFlags(cmd)
	x.metricFlags(cmd)
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
			return profile.Tree(v, share/100), nil
		}),
	}
	x.tableFlags(cmd)
	x.metricFlags(cmd)
	cmd.Flags().StringVar(&least, "least", "1%", "leave out what has less than `SHARE` of the total")
	return cmd
}

func newSamples(s *streams) *cobra.Command {
	x := &profiling{excerpt: excerpt{s: s}, split: samples.Split{Scope: true}}
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
			var all []samples.Sample
			x.each = func(one *samples.Sample) bool {
				all = append(all, *one)
				return true
			}
			return x.run(func([]string) (*profile.Report, error) {
				if x.p.From == 0 && x.p.To == 0 && len(all) == 0 && x.t == nil {
					return nil, fmt.Errorf("%s is a profile, which tells only sums: scopeview functions shows them", show(args[0]))
				}
				v, err := x.view()
				if err != nil {
					return nil, err
				}
				return profile.Samples(v, all), nil
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
			return profile.Header(v), nil
		}),
	}
	x.tableFlags(cmd)
	return cmd
}
