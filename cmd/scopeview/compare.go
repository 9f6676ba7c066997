package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/compare"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/report/top"
	"github.com/scopeview/scopeview/internal/report/waits"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// figuresOf returns the figures of a view of samples.
type figuresOf func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error)

func by(what *profile.Kind) figuresOf {
	return func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return profile.FiguresOf(p, what, wanted), nil
	}
}

// comparedView is a view that can be compared.
type comparedView struct {
	name, what string
	view       *report.View // nil: of callers, whose view is that of a function
	of         figuresOf    // for samples, which other files have too; nil: it is not a view of samples
}

// compared are the views that can be compared.
var compared = []comparedView{
	{"top", "scopes and events by name; total, count and self are of the recording, the others of one execution", &top.View, nil},
	{"waits", "locks by name, and the places where goroutines waited for something else", &waits.View, nil},
	{"states", "scopes by name: mean time of one execution, and how long it was in each state", &states.View, nil},
	{"functions", "functions: sampled CPU time and waits, exclusive, and with i inclusive, of the recording", &profile.FunctionsView, by(profile.Functions)},
	{"lines", "lines of functions, likewise", &profile.LinesView, by(profile.Lines)},
	{"instructions", "functions, and the instructions of those whose code is the same in all runs, likewise", &annotate.InstructionsView, func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return annotate.InstructionFigures(nil, p, wanted)
	}},
	{"objects", "the program, C libraries, the kernel, likewise", &profile.ObjectsView, by(profile.Objects)},
	{"callers", "who calls --function, and whom it calls, with its share of that function's CPU time and waits", nil, nil},
	{"doctor", "findings, and how many cores' time went where", &reportdoctor.View, nil},
}

var compareHelp = `compare sets what a view has of two recordings side by side: both values of the column that it sorts by, their
difference and ratio, and by how much the other columns changed; the largest change comes first. What only one side
has is listed apart. --json has both values of every column.

Several runs a side stand before and behind --, since the shell then can list them: compare old/*.scope -- new/*.scope.
Their medians are compared, and there is an interval for the difference. It is that of Mann and Whitney's U test, which
assumes nothing of how the runs scatter: with 95 % confidence from 4 runs a side on, with 90 % of 3 and 3, 67 % of 2 and
2. Where it has 0 in it, the runs show no difference: ~. Of one run a side nothing tells what is chance.

functions, lines, instructions, objects and callers compare profiles of pprof's format and plain Go execution traces too.
A function's source is --view lines --name 'pkg.Function, *'; its instructions are --view instructions --name 'pkg.Function+*'.
Those need the executables that ran, where they were or stored with the traces (scopeview archive). Instructions of a
function whose code is not the same in all runs, but for where code and data lie, are not compared, and that is told.

Names are matched as they are. Those that only one side has are matched without their line numbers and addresses,
where that is unambiguous. Columns that end in /s are per second of recording, for recordings of different length; those in % are of the whole,
as self% of all self times, and of callers of what the function has. Where the lengths alone make a difference there is
"lengths", and nothing became worse by it.

` + viewList() + `
--fail-on NAME.COLUMN+LIMIT ends with exit code 4 if the column grew by more than the limit, with - if it fell by more.
A limit is 10% of A's value, a time as 5ms, or a number where the column is none. NAME can have * and ? as in --name.
With several runs a side the whole interval has to be beyond the limit.`

// viewList returns the views and their columns for the help.
func viewList() string {
	var b strings.Builder
	b.WriteString("The views and their columns:\n")
	callers := profile.CallersView("")
	for _, v := range compared {
		if v.view == nil {
			v.view = &callers
		}
		fmt.Fprintf(&b, "  %-12s %s:\n               %s\n", v.name, v.what, strings.Join(compare.Columns(v.view), " "))
	}
	return b.String()
}

func newCompare(s *streams) *cobra.Command {
	var (
		x           = excerpt{s: s}
		function    string
		name, order string
		failOn      []string
	)
	cmd := &cobra.Command{
		Use:   "compare TRACE TRACE | compare TRACE… -- TRACE…",
		Short: "Set two recordings side by side, or several of each: what became slower, and is it chance",
		Long:  compareHelp,
		Example: `  scopeview compare old.scope new.scope
  scopeview compare old.scope new.scope --sort p99 --name 'store.*'
  scopeview compare --view waits old/*.scope -- new/*.scope
  scopeview compare --fail-on 'f1.p99+10%' --fail-on '*.cpu+5ms' old/*.scope -- new/*.scope
  scopeview compare old.scope new.scope --json | jq '.rows[] | {name, p99: .columns.p99}'`,
		Annotations: map[string]string{everyTrace: "each argument is one", readsGoTraces: "functions lines instructions objects callers"},
		RunE: func(cmd *cobra.Command, args []string) error {
			v, conditions, err := comparison(name, function, &order, failOn)
			if err != nil {
				return err
			}
			if x.sel.objectText != "" && !ofSamples(name) {
				return usagef("--object is about samples, and --view %s shows none", name)
			}
			runs, err := x.readAll(cmd, args, v, function)
			defer runs.close()
			if err != nil {
				return err
			}
			a := sideA(cmd, args)
			return x.compare(cmd, compare.Of(runs.read[:a], runs.read[a:], name, v, order), runs, conditions)
		},
	}
	x.flags(cmd)
	x.sel.objects(cmd)
	cmd.Args, cmd.ValidArgsFunction = bothSides, completeTraces
	jsonFlag(cmd, &x.asJSON)
	x.briefFlag(cmd)
	x.linesFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&function, "function", "", "of --view callers: the `FUNCTION` whose callers and callees are compared")
	f.StringVar(&order, "sort", "", "sort by the change of `COLUMN`, and show it in full (default: the view's first)")
	f.StringArrayVar(&failOn, "fail-on", nil, "exit with code 4 if `NAME.COLUMN+LIMIT` holds, as f1.p99+10%; can be given several times")
	var names []string
	for _, v := range compared {
		names = append(names, v.name)
	}
	x.choiceFlag(cmd, &name, "view", "top", "compare what `VIEW` has", names...)
	s.completeColumns(cmd, &name)
	return cmd
}

// compare shows the comparison. Damage of a trace, and conditions that are met, set the exit code.
func (x *excerpt) compare(cmd *cobra.Command, r *compare.Result, of *runs, conditions []compare.Condition) error {
	var met []string
	for _, c := range conditions {
		sentences, err := r.Met(c)
		if err != nil {
			return fmt.Errorf("--fail-on %w", err)
		}
		met = append(met, sentences...)
	}
	if err := x.present(cmd, r.Report()); err != nil {
		return err
	}
	for _, text := range met {
		fmt.Fprintf(x.s.err, "scopeview: --fail-on %s\n", text)
	}
	if err := of.verdict(x); err != nil || met == nil {
		return err
	}
	return &exit{code: exitFound}
}

// comparison returns the view and the conditions of a comparison. The default order is the view's
// own.
func comparison(name, function string, order *string, failOn []string) (v *report.View, list []compare.Condition, err error) {
	var names []string
	for _, x := range compared {
		names = append(names, x.name)
		if x.name == name {
			v = x.view
		}
	}
	switch {
	case (name == "callers") != (function != ""):
		return nil, nil, usagef("--view callers and --function FUNCTION go together: %q and %q were given", name, function)
	case name == "callers":
		callers := profile.CallersView(function)
		v = &callers
	case v == nil:
		return nil, nil, usagef("--view %q: there is %s", name, strings.Join(names, ", "))
	}
	columns := compare.Columns(v)
	if *order == "" {
		*order = columns[0]
	}
	if !slices.Contains(columns, *order) {
		return nil, nil, usagef("--sort %q: there is %s", *order, strings.Join(columns, ", "))
	}
	for _, text := range failOn {
		c, err := compare.ParseCondition(text, v)
		if err != nil {
			return nil, nil, usagef("--fail-on %w", err)
		}
		list = append(list, c)
	}
	return v, list, nil
}

// ofSamples reports whether a view is of samples.
func ofSamples(view string) bool {
	for _, x := range compared {
		if x.name == view {
			return x.of != nil || x.view == nil
		}
	}
	return false
}

// bothSides checks that there is a trace for each side.
func bothSides(cmd *cobra.Command, args []string) error {
	a := sideA(cmd, args)
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != standardInput }); i >= 0 {
		return fmt.Errorf("%s is behind the --, where the TRACEs of side B stand: give flags before it", args[i])
	}
	switch {
	case cmd.ArgsLenAtDash() < 0 && len(args) != 2:
		return fmt.Errorf("compare takes two TRACEs, or those of each side with -- between them; here are %d without a --", len(args))
	case a == 0 || a == len(args):
		return errors.New("compare needs at least one TRACE before the -- and one behind it")
	}
	return nil
}

// sideA returns the number of arguments of side A.
func sideA(cmd *cobra.Command, args []string) int {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return n
	}
	return min(1, len(args))
}

// completeTraces completes any number of traces.
func completeTraces(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return completeTrace(nil, nil, "")
}

// completeColumns makes the shell complete --sort with the columns of the view.
func (s *streams) completeColumns(cmd *cobra.Command, view *string) {
	s.completeWith(cmd, "sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var order string
		v, _, err := comparison(*view, functionOf(*view), &order, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return compare.Columns(v), cobra.ShellCompDirectiveNoFileComp
	})
}

// functionOf returns a value of --function for completion, when the flag may not be there yet.
func functionOf(view string) string {
	if view == "callers" {
		return samples.TotalName
	}
	return ""
}

// runs holds the traces of both sides, and the figures read from them.
type runs struct {
	read   []compare.Run
	traces []*trace.Trace
	paths  []string
	plain  []plainProfile
}

// plainProfile is a profile from a file that is not a recording.
type plainProfile struct {
	name string
	*samples.Profile
}

// readAll reads the traces, one after the other. The caller must close them, also after an error.
func (x *excerpt) readAll(cmd *cobra.Command, args []string, v *report.View, function string) (*runs, error) {
	r := &runs{}
	for _, arg := range args {
		plain, run, err := x.readOther(cmd, arg, v, function)
		if err != nil {
			return r, err
		}
		if plain != nil {
			r.read, r.plain = append(r.read, run), append(r.plain, plainProfile{x.s.given(arg), plain})
			continue
		}
		if err := x.open(cmd, arg); err != nil {
			return r, err
		}
		r.traces, r.paths = append(r.traces, x.t), append(r.paths, x.path)
		run, err = compare.Read(cmd.Context(), v, x.t, x.path, x.part())
		x.progress.done()
		if err != nil {
			err = x.failed(err)
		}
		switch {
		case errors.Is(err, gotrace.ErrNone), errors.Is(err, samples.ErrNone) && x.t.Lookup("gotrace") != "":
			return r, noGoTrace(x.t, x.path)
		case err != nil:
			return r, fmt.Errorf("%s: %w", show.Name(x.path), err)
		}
		r.read = append(r.read, run)
	}
	return r, nil
}

// readOther reads a file that is not a recording; p is nil for a recording.
func (x *excerpt) readOther(cmd *cobra.Command, arg string, v *report.View, function string) (p *samples.Profile, run compare.Run, err error) {
	in, kind, err := sniff(arg)
	if in == nil {
		return nil, run, err
	}
	defer in.Close()
	of := func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return profile.CallersFigures(p, function, wanted)
	}
	if function == "" {
		i := slices.IndexFunc(compared, func(c comparedView) bool { return c.view == v })
		of = compared[i].of
	}
	if of == nil {
		return nil, run, usagef("%s is no recording, but a profile or a plain Go execution trace: compare these with --view functions, lines, instructions, objects or callers", show.Name(arg))
	}
	p, err = x.readPlain(cmd, arg, in, kind, &samples.Selection{})
	if err != nil {
		return nil, run, err
	}
	if p.Metric("cpu") < 0 && p.Metric("off") < 0 {
		return nil, run, fmt.Errorf("%s has neither CPU time nor waits, which is what is compared; it has %s", show.Name(arg), p.Metrics[0].Name)
	}
	f, err := of(p, x.sel.Names.Match)
	if err != nil {
		return nil, run, fmt.Errorf("%s: %w", show.Name(arg), err)
	}
	return p, compare.Plain(f, arg, p.To-p.From), nil
}

func (r *runs) close() {
	for _, t := range r.traces {
		t.Close()
	}
}

// verdict sets the exit code for the state of the traces; damage takes precedence over losses.
func (r *runs) verdict(x *excerpt) (worst error) {
	for i := range r.traces {
		x.t, x.path = r.traces[i], r.paths[i]
		var e *exit
		if err := x.verdict(); worst == nil || errors.As(err, &e) && e.code == exitFailed {
			worst = err
		}
	}
	for _, p := range r.plain {
		var e *exit
		if err := x.strict.ofPlain(x.s, p.name, p.Profile); worst == nil || errors.As(err, &e) && e.code == exitFailed {
			worst = err
		}
	}
	return worst
}
