package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// call is one call of a command: its flags and arguments, and the trace that they select.
type call struct {
	s      *streams
	row    *command
	cmd    *cobra.Command
	args   []string
	takes  takes                // a command may set it by its flags
	arity  func([]string) error // checks the number of arguments
	checks []func() error       // of flags, before a trace is read

	sel       selection
	out       output
	strict    strictness
	asJSON    bool
	brief     bool              // a report as a page of Markdown
	states    bool              // of the exports: also write the states of goroutines
	lines     int               // maximum number of rows of a table; 0: all
	with      string            // a second TRACE, for the page's tab Compare
	openPage  bool              // open the page in the browser
	bandwidth *doctor.Bandwidth // of --membench; nil: not measured

	documentName string // of its JSON document; "": as the command is called
	lost         bool   // a part of what was read is missing, or could not be understood

	// Set once the trace is open:
	t        *trace.Trace
	path     string
	progress *progress // of a report
}

// context returns the context of the command.
func (c *call) context() context.Context { return c.cmd.Context() }

// run prepares the TRACEs, and calls the command.
func (c *call) run(command func() error) error {
	for _, check := range append(c.checks, c.check) {
		if err := check(); err != nil {
			return err
		}
	}
	got := downloads{patience: stalledAfter}
	defer got.remove()
	if err := got.replace(c); err != nil {
		return err
	}
	if c.takes == takesTrace {
		if err := c.open(c.args[0]); err != nil {
			return err
		}
		defer c.t.Close()
	}
	if err := command(); err != nil || !bool(c.strict) || !c.lost {
		return err
	}
	return &exit{code: exitLosses}
}

// document returns the name of the JSON document.
func (c *call) document() string { return cmp.Or(c.documentName, c.row.document()) }

// open opens the trace that TRACE names, and parses the selection. The caller must close c.t.
func (c *call) open(arg string) (err error) {
	if c.t, c.path, err = openTrace(c.context(), arg); err != nil {
		return err
	}
	c.path = c.s.nameOf(c.path)
	if err = c.out.notOver(c.path); err == nil {
		err = c.sel.resolve(c.t)
	}
	if err == nil {
		err = c.sel.keep(c.t, c.path)
	}
	if err == nil && c.states && len(c.t.GoTraces()) == 0 {
		err = noGoTrace(c.t, c.path)
	}
	if err != nil {
		c.t.Close()
	}
	return err
}

// check checks the flags before a trace is opened.
func (c *call) check() (err error) {
	if c.brief && c.asJSON {
		return usagef("--brief and --json exclude each other")
	}
	if c.lines, err = c.rowLimit(); err != nil {
		return err
	}
	return c.sel.parse()
}

// write writes the result with f, and shows its progress. It first prints the losses on standard
// error, because the formats have no visible place for them.
func (c *call) write(f func(w io.Writer) error) error {
	warnLosses(c.s, c.path, c.t)
	p := newProgress(c.s, c.t, !c.out.standard() || !c.s.outTerm)
	defer p.done()
	c.sel.Progress = p.at
	return c.out.write(c.s, func(w io.Writer) error { return f(c.out.exact(c.s, w)) })
}

// part returns the selection of a report, and starts to show progress. The caller must call c.show
// next.
func (c *call) part() *analysis.Selection {
	c.progress = newProgress(c.s, c.t, true)
	c.sel.Progress = c.progress.at
	return &c.sel.Selection
}

// show writes the report of a command if err is nil. Damage and losses of the trace set the exit
// code.
func (c *call) show(r *report.Report, err error) error {
	c.progress.done()
	if err == nil {
		err = c.present(r)
	}
	if err != nil {
		return c.failed(err)
	}
	return c.verdict()
}

// failed reports the damage of the trace, which may be the cause of err, and returns err.
func (c *call) failed(err error) error {
	if !errors.Is(err, context.Canceled) {
		_ = c.verdict()
	}
	return err
}

// present writes a report in the selected form.
func (c *call) present(r *report.Report) error {
	if !c.brief {
		return c.showReport(r)
	}
	b := report.Brief{Path: c.path}
	if c.t != nil { // otherwise no file that was compared is a recording
		b.State = c.state()
	}
	for _, f := range []struct{ flag, value string }{{"--from", c.sel.fromText}, {"--to", c.sel.toText}, {"--process", c.sel.processText}, {"--object", c.sel.objectText}} {
		if f.value != "" {
			b.Range = append(b.Range, f.flag+"="+f.value)
		}
	}
	return c.out.write(c.s, func(w io.Writer) error {
		r.Brief(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func (c *call) state() analysis.State { return stateOf(c.t, c.path) }

// verdict sets the exit code for the damage and losses of the trace.
func (c *call) verdict() error {
	return c.strict.verdict(c.s, c.path, c.t, analysis.Damage(c.t.Problems()))
}
