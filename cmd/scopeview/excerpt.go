package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// excerpt is the common part of the commands that convert or summarize a trace, or a part of it.
type excerpt struct {
	s      *streams
	sel    selection
	out    output
	strict strictness
	asJSON bool
	brief  bool // a report as a page of Markdown
	states bool // of the exports: also write the states of goroutines
	lines  int  // maximum number of rows of a table; 0: all

	choices []choice

	// Set once it is open:
	t        *trace.Trace
	path     string
	progress *progress // of a report
}

// flags makes a command take TRACE, and the flags that select a part of it.
func (x *excerpt) flags(cmd *cobra.Command) {
	cmd.Args, cmd.ValidArgsFunction = oneTrace, completeTrace
	x.sel.flags(cmd)
	x.out.flag(cmd)
	x.strict.flag(cmd)
}

// jsonFlag adds the flag --json.
func jsonFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, jsonUsage(cmd))
}

func jsonUsage(cmd *cobra.Command) string {
	return "print a JSON document, " + report.Schema(documentName(cmd)) + "; docs/json.md lists its keys"
}

// documentName returns the name of a command's document: pgo.show for scopeview pgo show.
func documentName(cmd *cobra.Command) string {
	name := cmd.Name()
	for up := cmd.Parent(); up != nil && up.HasParent(); up = up.Parent() {
		name = up.Name() + "." + name
	}
	return name
}

// linesFlag adds the flag -n.
func (x *excerpt) linesFlag(cmd *cobra.Command) { linesFlag(cmd, &x.lines) }

func linesFlag(cmd *cobra.Command, lines *int) {
	cmd.Flags().IntVarP(lines, "lines", "n", 40, "show the first `N` rows of each table; 0: all (as with --json, if not given)")
}

// rowLimit returns the maximum number of rows of a table; 0: all.
func rowLimit(cmd *cobra.Command, lines int, asJSON bool) (int, error) {
	if lines < 0 {
		return 0, usagef("-n %d: it takes a number of rows, or 0 for all", lines)
	}
	if asJSON && !cmd.Flags().Changed("lines") {
		return 0, nil
	}
	return lines, nil
}

// statesFlag adds the flag --states of the exports.
func (x *excerpt) statesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.states, "states", false, "also write what goroutines did at every moment; needs a Go execution trace (gotrace.With())")
}

// choice is a flag with a fixed set of values.
type choice struct {
	name  string
	value *string
	of    []string
}

func (x *excerpt) choiceFlag(cmd *cobra.Command, value *string, name, preset, help string, of ...string) {
	x.choices = append(x.choices, choice{name, value, of})
	cmd.Flags().StringVar(value, name, preset, help+": "+strings.Join(of, ", "))
	x.s.complete(cmd, name, of)
}

// complete registers a flag's values for completion.
func (s *streams) complete(cmd *cobra.Command, flag string, values []string) {
	s.completeWith(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeWith registers a completion function if the shell is completing. Cobra keeps each, with
// its whole command, in a table of the process for ever: tests run tens of thousands of commands.
func (s *streams) completeWith(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if !s.completing {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag
	}
}

// noTerminal refuses to write a file for other programs to a terminal.
func (x *excerpt) noTerminal(what, instead string) error {
	if x.out.standard() && x.s.outTerm {
		return usagef("%s is nothing to read on a terminal: give a file with %s", what, instead)
	}
	return nil
}

// open opens the trace that TRACE names, and parses the selection. The caller must close x.t.
func (x *excerpt) open(cmd *cobra.Command, arg string) (err error) {
	if err := x.check(cmd); err != nil {
		return err
	}
	if x.t, x.path, err = openTrace(cmd.Context(), arg); err != nil {
		return err
	}
	x.path = x.s.given(x.path)
	if err = x.out.notOver(x.path); err == nil {
		err = x.sel.resolve(x.t)
	}
	if err == nil {
		err = x.sel.keep(x.t, x.path)
	}
	if err == nil && x.states && len(x.t.GoTraces()) == 0 {
		err = noGoTrace(x.t, x.path)
	}
	if err != nil {
		x.t.Close()
	}
	return err
}

// check checks the flags before a trace is opened.
func (x *excerpt) check(cmd *cobra.Command) error {
	for _, c := range x.choices {
		if !slices.Contains(c.of, *c.value) {
			return usagef("--%s %q: there is %s", c.name, *c.value, strings.Join(c.of, ", "))
		}
	}
	if x.brief && x.asJSON {
		return usagef("--brief and --json are two forms of a report: give one")
	}
	var err error
	if x.lines, err = rowLimit(cmd, x.lines, x.asJSON); err != nil {
		return err
	}
	return x.sel.parse()
}

// run returns a command's function that opens its trace and calls f.
func (x *excerpt) run(f func(cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := x.open(cmd, args[0]); err != nil {
			return err
		}
		defer x.t.Close()
		return f(cmd)
	}
}

// write writes the result with f, and shows its progress. It first prints the losses on standard
// error, because the formats have no visible place for them.
func (x *excerpt) write(f func(w io.Writer) error) error {
	warnLosses(x.s, x.path, x.t)
	p := newProgress(x.s, x.t, !x.out.standard() || !x.s.outTerm)
	defer p.done()
	x.sel.Progress = p.at
	return x.out.write(x.s, func(w io.Writer) error { return f(x.out.exact(x.s, w)) })
}

// part returns the selection of a report, and starts to show progress. The caller must call x.show
// next.
func (x *excerpt) part() *analysis.Selection {
	x.progress = newProgress(x.s, x.t, true)
	x.sel.Progress = x.progress.at
	return &x.sel.Selection
}

// show writes the report of a command if err is nil. Damage and losses of the trace set the exit
// code.
func (x *excerpt) show(cmd *cobra.Command, r *report.Report, err error) error {
	x.progress.done()
	if err == nil {
		err = x.present(cmd, r)
	}
	if err != nil {
		return x.failed(err)
	}
	return x.verdict()
}

// failed reports the damage of the trace, which may be the cause of err, and returns err.
func (x *excerpt) failed(err error) error {
	if !errors.Is(err, context.Canceled) {
		_ = x.verdict()
	}
	return err
}

// briefFlag adds the flag --brief.
func (x *excerpt) briefFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.brief, "brief", false, "print a page of Markdown, 1,500 tokens at most: what is wrong, where in the source, what to try")
}

// present writes a report in the selected form.
func (x *excerpt) present(cmd *cobra.Command, r *report.Report) error {
	if !x.brief {
		return x.out.show(x.s, cmd, r, x.asJSON, x.lines)
	}
	b := report.Brief{Path: x.path}
	if x.t != nil { // otherwise no file that was compared is a recording
		b.State = x.state()
	}
	for _, f := range []struct{ flag, value string }{{"--from", x.sel.fromText}, {"--to", x.sel.toText}, {"--process", x.sel.processText}, {"--object", x.sel.objectText}} {
		if f.value != "" {
			b.Range = append(b.Range, f.flag+"="+f.value)
		}
	}
	return x.out.write(x.s, func(w io.Writer) error {
		r.Brief(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func (x *excerpt) state() analysis.State { return stateOf(x.t, x.path) }

// verdict sets the exit code for the damage and losses of the trace.
func (x *excerpt) verdict() error {
	return x.strict.verdict(x.s, x.path, x.t, analysis.Damage(x.t.Problems()))
}
