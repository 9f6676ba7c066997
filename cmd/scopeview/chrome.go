package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/show"
)

func newChrome(s *streams) *cobra.Command {
	x := excerpt{s: s}
	cmd := &cobra.Command{
		Use:   "chrome TRACE",
		Short: "Write the trace as Chrome Trace Event JSON",
		Long: `chrome writes JSON for chrome://tracing, ui.perfetto.dev, speedscope.app and others: scopes, waits and holds
as complete events (with thread CPU time where that is known), instants, counters, the process's CPU time
and memory, arrows from scope.Go to the goroutine and from who released a lock to who waited for it. Samples of
CPU time have their stacks, as V8's profiles have: on the goroutine's thread, in Chrome's own page on one of their own.

A goroutine is a thread. Those viewers want the scopes of a thread to nest: what overlaps another, and what
another goroutine ended, is on a second thread of the same name, "worker 1 (2)". What was open goes to the
end of what is known, and has the argument open.

With --states, what each goroutine did (see scopeview states) is on a thread behind its own. That is a lot.

Chrome's own page holds about 1 million events; scopeview perfetto writes less than half the size, for more.`,
		Example: `  scopeview chrome x.scope -o x.json
  scopeview chrome traces/ -o last.json --from -10s
  scopeview chrome 4711 --track 'worker*' | gzip > x.json.gz`,
		RunE: x.run(func(cmd *cobra.Command) error {
			var size chrome.Size
			err := x.write(func(w io.Writer) (err error) {
				size, err = chrome.Write(cmd.Context(), w, x.t, rows.Options{Selection: x.sel.Selection, States: x.states, Tool: version(), State: x.state()})
				return err
			})
			if err != nil {
				return err
			}
			if size.Large() {
				fmt.Fprintf(s.err, "scopeview: %s are %s of JSON: Chrome's own page gives up at about 1 million events or 256 MB; look at it with ui.perfetto.dev, use scopeview perfetto, or write a part of it with --from and --to\n",
					show.Plural(size.Events, "event"), show.Size(size.Bytes))
			}
			return x.verdict()
		}),
	}
	x.flags(cmd)
	x.sel.objects(cmd)
	x.statesFlag(cmd)
	return cmd
}
