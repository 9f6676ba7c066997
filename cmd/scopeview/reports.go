package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report/info"
	"github.com/scopeview/scopeview/internal/report/stacks"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/report/top"
	"github.com/scopeview/scopeview/internal/report/waits"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

func newInfo(c *call) func() error {
	return func() error {
		r, failed := info.Of(c.context(), c.t, c.part(), c.path, c.state())
		c.progress.done()
		if r == nil {
			return failed
		}
		if err := cmp.Or(c.showReport(r), failed); err != nil {
			return err
		}
		return c.strict.verdict(c.s, c.path, c.t, nil)
	}
}

// stateOf returns whether the trace is still being written, according to the system.
func stateOf(t *trace.Trace, path string) analysis.State {
	if t.Closed() {
		return analysis.StateClosed
	}
	f, err := os.Open(path)
	if err != nil {
		return analysis.StateUnknown
	}
	defer f.Close()
	switch alive, known := trace.WriterAlive(f); {
	case !known:
		return analysis.StateUnknown
	case alive:
		return analysis.StateWriting
	}
	return analysis.StateAbandoned
}

func newTop(c *call) func() error {
	order := c.choice("sort", "total", "sort by `COLUMN`", top.Orders...)
	by := c.choice("by", "name", "add up by `KIND`", "name", "track")
	return func() error {
		r, err := top.Of(c.context(), c.t, c.part(), *order, *by == "track")
		return c.show(r, err)
	}
}

func newWaits(c *call) func() error {
	stacks := c.flags().Bool("stacks", false, "show the stacks of the waits, and of the wake-ups")
	return func() error {
		r, err := waits.Of(c.context(), c.t, c.part(), *stacks)
		return c.show(r, err)
	}
}

func newStates(c *call) func() error {
	self := c.flags().Bool("self", false, "exclude the times in the scopes inside a scope")
	by := c.choice("by", "name", "add up by `KIND`", analysis.Bys...)
	c.checks = append(c.checks, func() error {
		if analysis.By(*by) != analysis.ByName && (*self || c.sel.nameText != "") {
			return usagef("--self and --name need --by name")
		}
		return nil
	})
	return func() error {
		group := analysis.By(*by)
		if c.t.Lookup(gotrace.FactScopes) == "none" && !c.changed("by") {
			group = analysis.ByTrack // by name there would be no rows
		}
		r, err := states.Of(c.context(), c.t, c.part(), group, *self)
		if errors.Is(err, gotrace.ErrNone) {
			err = noGoTrace(c.t, c.path)
		}
		return c.show(r, err)
	}
}

// noGoTrace returns the error that a trace has no Go execution trace, with the reason if the trace
// has it.
func noGoTrace(t *trace.Trace, path string) error {
	text := "record it with scope.Start(path, gotrace.With()), or add one with scopeview join"
	if why, off := strings.CutPrefix(t.Lookup("gotrace"), "off: "); off && why != "" {
		text = show.Text(why)
	} else if t.Lookup("gotrace") == "on (flight recorder)" {
		text = "for a ring, Go keeps it in the program's memory until it ends or scopeview ctl requests a snapshot"
	}
	return fmt.Errorf("%s has no Go execution trace, so the states of its goroutines are not known: %s", show.Name(path), text)
}

func newStacks(c *call) func() error {
	depth := c.flags().Int("depth", 3, "add up by the innermost `N` callers; 0: all")
	skip := c.flags().Int("skip", 0, "leave out the innermost `N` callers, in every format")
	format := c.choice("format", "text", "write `FORMAT`", "text", "folded", "pprof")
	value := c.choice("value", "calls", "show `VALUE` with --format folded", "calls", "weight")
	c.checks = append(c.checks, func() error {
		switch {
		case *format != "text" && c.asJSON:
			return usagef("--format %s and --json exclude each other", *format)
		case *depth < 0 || *skip < 0:
			return usagef("--depth %d, --skip %d: must not be negative", *depth, *skip)
		case *format == "pprof":
			return c.refuseTerminal("a compressed profile", "-o FILE.pb.gz")
		}
		return nil
	})
	return func() error {
		if err := readGoTrace(c.t); err != nil {
			return err
		}
		r := stacks.Of(c.t, c.part(), *depth, *skip)
		if r.Unnamed > 0 {
			fmt.Fprintf(c.s.err, "scopeview: %s are shown without callers: together they have more frames than a recorder writes\n", show.Plural(r.Unnamed, "stack"))
		}
		switch *format {
		case "folded":
			return c.writeForeign(func(w io.Writer) error { return r.Folded(c.out.exact(c.s, w), *value == "weight") })
		case "pprof":
			return c.writeForeign(r.Pprof)
		}
		return c.show(&r.Report, nil)
	}
}

// writeForeign writes a format of other tools, which has no place for losses, with f.
func (c *call) writeForeign(f func(w io.Writer) error) error {
	if err := c.out.write(c.s, f); err != nil {
		return err
	}
	warnLosses(c.s, c.path, c.t)
	return c.verdict()
}
