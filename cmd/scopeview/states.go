package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

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
