package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/timeline"
)

func newHTML(s *streams) *cobra.Command {
	x := excerpt{s: s}
	var (
		max              int64
		with             string
		open, commentary bool
	)
	cmd := &cobra.Command{
		Use:   "html TRACE",
		Short: "Write the timeline as one HTML file",
		Long: `html writes one file with the timeline and everything it needs: it opens from disk in any current
browser, without a network, and can be mailed.

A file holds up to 5,000,000 scopes, and 100 MB. Of a longer trace the scopes that are too short to be seen
are merged with their neighbours, the longer ones are all there, and the page says so; --max gives another
number of scopes, of any size, and 0 all of them. scopeview serve shows all of any trace.

With --with the page has a second trace too, and its tab Compare says what is slower or faster there. --from,
--to, --name and --track go for both.

With --commentary the tabs Source and Callers tell what the compiler did with the calls that are hot in the
profile which the program is built with, its default.pgo. That builds the program, with it and without.`,
		Example: `  scopeview html x.scope -o x.html --open
  scopeview html traces/ -o last.html --from -10s
  scopeview html 4711 -o now.html --track 'worker*'
  scopeview html before.scope --with after.scope -o both.html`,
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case max < 0:
				return usagef("--max %d: it takes a number of scopes, or 0 for all", max)
			case x.out.standard() && open:
				return usagef("--open needs a file to open: give it a name with -o FILE.html")
			}
			return x.noTerminal("a page", "-o FILE.html (and --open to look at it)")
		},
		RunE: x.run(func(cmd *cobra.Command) error {
			shown := []*excerpt{&x}
			if with != "" {
				y := excerpt{s: s, sel: x.sel, out: x.out}
				if err := y.open(cmd, with); err != nil {
					return err
				}
				defer y.t.Close()
				shown = append(shown, &y)
			}
			err := x.write(func(w io.Writer) error {
				var all []page.Shown
				for _, y := range shown {
					if y != &x {
						warnLosses(s, y.path, y.t)
					}
					all = append(all, page.Shown{Trace: y.t, Options: page.Options{
						Selection: y.sel.Selection, Max: max, Large: cmd.Flags().Changed("max"), Commentary: commentary && y == &x,
						Path: y.path, Writer: writerOf(y.state()), Tool: version(), Weights: machineWeights(),
					}})
				}
				return page.WriteAll(cmd.Context(), w, all...)
			})
			if err == nil && open {
				err = openFileInBrowser(x.out.path)
			}
			if err != nil {
				return err
			}
			for _, y := range shown { // the first damaged one decides, and each is reported
				if bad := y.verdict(); err == nil {
					err = bad
				}
			}
			return err
		}),
	}
	x.flags(cmd)
	x.sel.objects(cmd)
	f := cmd.Flags()
	withFlag(s, cmd, &with)
	f.Int64Var(&max, "max", page.DefaultMax, "merge short scopes until there are at most `N`; 0: merge none")
	f.BoolVar(&commentary, "commentary", false, "have the compiler tell what it did with hot calls")
	f.BoolVar(&open, "open", false, "open the file in the browser")
	return cmd
}

// withFlag adds the flag --with.
func withFlag(s *streams, cmd *cobra.Command, with *string) {
	cmd.Flags().StringVar(with, "with", "", "compare with this `TRACE`, in the page's tab Compare")
	s.completeWith(cmd, "with", completeTraces)
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
