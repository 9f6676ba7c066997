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
	{"top", "scopes and events by name; total, count and self per recording, the others per execution", &top.View, nil},
	{"waits", "locks by name, and the places of other waits", &waits.View, nil},
	{"states", "scopes by name: mean time of one execution, in total and in each state", &states.View, nil},
	{"functions", "functions: sampled CPU time and waits of the recording, exclusive, or inclusive with an i", &profile.FunctionsView, by(profile.Functions)},
	{"lines", "lines of functions, likewise", &profile.LinesView, by(profile.Lines)},
	{"instructions", "functions, and the instructions of those whose code is the same in all runs, likewise", &annotate.InstructionsView, func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return annotate.InstructionFigures(nil, p, wanted)
	}},
	{"objects", "the program, C libraries, the kernel, likewise", &profile.ObjectsView, by(profile.Objects)},
	{"callers", "callers and callees of --function, with their shares of its CPU time and waits", nil, nil},
	{"doctor", "findings, and the uses of the cores' time", &reportdoctor.View, nil},
}

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

func newCompare(c *call) func() error {
	f := c.flags()
	function := f.String("function", "", "compare the callers and callees of `FUNCTION`, with --view callers")
	order := f.String("sort", "", "sort by the change of `COLUMN`, and show it in full (default: the view's first)")
	failOn := f.StringArray("fail-on", nil, "exit with code 4 if `NAME.COLUMN+LIMIT` holds, such as f1.p99+10%; may be repeated")
	var names []string
	for _, v := range compared {
		names = append(names, v.name)
	}
	name := c.choice("view", "top", "compare this `VIEW`", names...)
	c.completeColumns(name)
	c.arity = c.bothSides
	var (
		v          *report.View
		conditions []compare.Condition
	)
	c.checks = append(c.checks, func() (err error) {
		if v, conditions, err = comparison(*name, *function, order, *failOn); err != nil {
			return err
		}
		if ofSamples(*name) {
			c.takes = takesSource
		} else if c.sel.objectText != "" {
			return usagef("--object selects samples, and --view %s has none", *name)
		}
		return nil
	})
	return func() error {
		runs, err := c.readRuns(v, *function)
		defer runs.close()
		if err != nil {
			return err
		}
		a := c.sideA(c.args)
		return c.compare(compare.Of(runs.read[:a], runs.read[a:], *name, v, *order), runs, conditions)
	}
}

// compare shows the comparison. Damage of a trace, and conditions that are met, set the exit code.
func (c *call) compare(r *compare.Result, of *runs, conditions []compare.Condition) error {
	var met []string
	for _, condition := range conditions {
		sentences, err := r.Met(condition)
		if err != nil {
			return fmt.Errorf("--fail-on %w", err)
		}
		met = append(met, sentences...)
	}
	if err := c.present(r.Report()); err != nil {
		return err
	}
	for _, text := range met {
		fmt.Fprintf(c.s.err, "scopeview: --fail-on %s\n", text)
	}
	if err := of.verdict(c); err != nil || met == nil {
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
		return nil, nil, usagef("--view callers and --function FUNCTION need each other, not %q and %q", name, function)
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
func (c *call) bothSides(args []string) error {
	a := c.sideA(args)
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != standardInput }); i >= 0 {
		return fmt.Errorf("%s follows --, which is for the TRACEs of side B: give flags before it", args[i])
	}
	switch {
	case c.cmd.ArgsLenAtDash() < 0 && len(args) != 2:
		return fmt.Errorf("compare takes two TRACEs, or those of each side with -- between them, not %d without --", len(args))
	case a == 0 || a == len(args):
		return errors.New("compare needs at least one TRACE before -- and one after it")
	}
	return nil
}

// sideA returns the number of arguments of side A.
func (c *call) sideA(args []string) int {
	if n := c.cmd.ArgsLenAtDash(); n >= 0 {
		return n
	}
	return min(1, len(args))
}

// completeColumns makes the shell complete --sort with the columns of the view.
func (c *call) completeColumns(view *string) {
	c.completeWith("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
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

// readRuns reads the traces, one after the other. The caller must close them, also after an error.
func (c *call) readRuns(v *report.View, function string) (*runs, error) {
	r := &runs{}
	for _, arg := range c.args {
		plain, run, err := c.readOther(arg, v, function)
		if err != nil {
			return r, err
		}
		if plain != nil {
			r.read, r.plain = append(r.read, run), append(r.plain, plainProfile{c.s.nameOf(arg), plain})
			continue
		}
		if err := c.open(arg); err != nil {
			return r, err
		}
		r.traces, r.paths = append(r.traces, c.t), append(r.paths, c.path)
		run, err = compare.Read(c.context(), v, c.t, c.path, c.part())
		c.progress.done()
		if err != nil {
			err = c.failed(err)
		}
		switch {
		case errors.Is(err, gotrace.ErrNone), errors.Is(err, samples.ErrNone) && c.t.Lookup("gotrace") != "":
			return r, noGoTrace(c.t, c.path)
		case err != nil:
			return r, fmt.Errorf("%s: %w", show.Name(c.path), err)
		}
		r.read = append(r.read, run)
	}
	return r, nil
}

// readOther reads a file that is not a recording; p is nil for a recording.
func (c *call) readOther(arg string, v *report.View, function string) (p *samples.Profile, run compare.Run, err error) {
	in, kind, err := sniff(arg)
	if in == nil {
		return nil, run, err
	}
	defer in.Close()
	of := func(p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
		return profile.CallersFigures(p, function, wanted)
	}
	if function == "" {
		i := slices.IndexFunc(compared, func(x comparedView) bool { return x.view == v })
		of = compared[i].of
	}
	if of == nil {
		return nil, run, usagef("%s is a profile or a plain Go execution trace: compare these with --view functions, lines, instructions, objects or callers", show.Name(arg))
	}
	p, err = c.readPlain(arg, in, kind, &samples.Selection{})
	if err != nil {
		return nil, run, err
	}
	if p.Metric("cpu") < 0 && p.Metric("off") < 0 {
		return nil, run, fmt.Errorf("%s has neither CPU time nor waits to compare; it has %s", show.Name(arg), p.Metrics[0].Name)
	}
	f, err := of(p, c.sel.Names.Match)
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
func (r *runs) verdict(c *call) (worst error) {
	for i := range r.traces {
		c.t, c.path = r.traces[i], r.paths[i]
		var e *exit
		if err := c.verdict(); worst == nil || errors.As(err, &e) && e.code == exitFailed {
			worst = err
		}
	}
	for _, p := range r.plain {
		var e *exit
		if err := c.strict.ofPlain(c.s, p.name, p.Profile); worst == nil || errors.As(err, &e) && e.code == exitFailed {
			worst = err
		}
	}
	return worst
}
