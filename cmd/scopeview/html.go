package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/timeline"
)

func newHTML(c *call) func() error {
	most := c.flags().Int64("max", page.DefaultMax, "merge short scopes until there are at most `N`; 0: merge none")
	commentary := c.flags().Bool("commentary", false, "show the compiler's remarks on hot calls")
	c.checks = append(c.checks, func() error {
		switch {
		case *most < 0:
			return usagef("--max %d: it takes a number of scopes, or 0 for all", *most)
		case c.out.standard() && c.openPage:
			return usagef("--open needs a file to open: give it a name with -o FILE.html")
		}
		return c.refuseTerminal("a page", "-o FILE.html (and --open to look at it)")
	})
	return func() error {
		shown := []*call{c}
		if c.with != "" {
			second := &call{s: c.s, cmd: c.cmd, sel: c.sel, out: c.out}
			if err := second.open(c.with); err != nil {
				return err
			}
			defer second.t.Close()
			shown = append(shown, second)
		}
		err := c.write(func(w io.Writer) error {
			var all []page.Shown
			for _, x := range shown {
				if x != c {
					warnLosses(c.s, x.path, x.t)
				}
				all = append(all, page.Shown{Trace: x.t, Options: page.Options{
					Selection: x.sel.Selection, Max: *most, Large: c.changed("max"), Commentary: *commentary && x == c,
					Path: x.path, Writer: writerOf(x.state()), Tool: version(), Weights: machineWeights(), Bandwidth: c.bandwidth,
				}})
			}
			return page.WriteAll(c.context(), w, all...)
		})
		if err == nil && c.openPage {
			err = openFileInBrowser(c.out.path)
		}
		if err != nil {
			return err
		}
		for _, x := range shown { // the first damaged one decides, and each is reported
			if bad := x.verdict(); err == nil {
				err = bad
			}
		}
		return err
	}
}

// writerOf returns the page's name of a state.
func writerOf(s analysis.State) string {
	switch s {
	case analysis.StateClosed:
		return timeline.WriterClosed
	case analysis.StateWriting:
		return timeline.WriterRunning
	case analysis.StateAbandoned:
		return timeline.WriterGone
	}
	return timeline.WriterUnknown
}

// openFileInBrowser shows the page that was written to path.
func openFileInBrowser(path string) error {
	full, err := filepath.Abs(path)
	if err == nil {
		err = openBrowser(full, time.Second)
	}
	if err != nil {
		return fmt.Errorf("%s was written, but %w; open it yourself", path, err)
	}
	return nil
}
