package main

import (
	"fmt"
	"io"

	"github.com/scopeview/scopeview/internal/report/stacks"
	"github.com/scopeview/scopeview/internal/show"
)

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
