package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/csv"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/pprof"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// rowOptions are the options of the exports of a timeline.
func (c *call) rowOptions() rows.Options {
	return rows.Options{Selection: c.sel.Selection, States: c.states, Tool: version(), State: c.state()}
}

func newCSV(c *call) func() error {
	raw := c.flags().Bool("raw", false, "do not escape cells that a spreadsheet would run as a formula")
	return func() error {
		err := c.write(func(w io.Writer) error {
			return csv.Write(c.context(), w, c.t, csv.Options{Selection: c.sel.Selection, Raw: *raw, States: c.states})
		})
		if err != nil {
			return err
		}
		return c.verdict()
	}
}

func newChrome(c *call) func() error {
	return func() error {
		var size chrome.Size
		err := c.write(func(w io.Writer) (err error) {
			size, err = chrome.Write(c.context(), w, c.t, c.rowOptions())
			return err
		})
		if err != nil {
			return err
		}
		if size.Large() {
			fmt.Fprintf(c.s.err, "scopeview: %s are %s of JSON: Chrome's own page gives up at about 1 million events or 256 MB; open it in ui.perfetto.dev, use scopeview export perfetto, or write a part with --from and --to\n",
				show.Plural(size.Events, "event"), show.Size(size.Bytes))
		}
		return c.verdict()
	}
}

func newPerfetto(c *call) func() error {
	c.noTerminal("protobuf", "-o FILE.pftrace")
	return func() error {
		var size perfetto.Size
		err := c.write(func(w io.Writer) (err error) {
			size, err = perfetto.Write(c.context(), w, c.t, c.rowOptions())
			return err
		})
		if err != nil {
			return err
		}
		if size.Large() {
			fmt.Fprintf(c.s.err, "scopeview: %s exceed the limit of Perfetto's page, about 500 MB: write a part with --from and --to, or serve it with trace_processor\n",
				show.Size(size.Bytes))
		}
		return c.verdict()
	}
}

func newPprof(c *call) func() error {
	x := profilingOf(c)
	folded := c.flags().String("folded", "", "write folded stacks of `METRIC` instead, such as cpu, off, lock")
	c.checks = append(c.checks, func() error {
		if *folded != "" {
			return nil
		}
		x.split = samples.Split{Scope: true, Track: true, Goroutine: true}
		return c.refuseTerminal("a compressed profile", "-o FILE.pb.gz")
	})
	return func() error {
		if err := x.read(c.args[0]); err != nil {
			return err
		}
		defer x.close()
		if *folded == "" {
			var start time.Time
			if x.t != nil {
				start = x.t.Start()
			}
			return x.writeForeign(func(w io.Writer) error { return pprof.Write(w, x.p, pprof.Options{Start: start}) })
		}
		m := x.p.Metric(*folded)
		if m < 0 {
			return usagef("--folded %s: no such metric; list them with scopeview profile --by metric", *folded)
		}
		if n := pprof.Unfoldable(x.p, m); n > 0 {
			fmt.Fprintf(c.s.err, "scopeview: %s: left out %s with negative values, which a flame graph can't show\n", show.Name(c.args[0]), show.Plural(n, "stack"))
		}
		return x.writeForeign(func(w io.Writer) error { return pprof.Fold(c.out.exact(c.s, w), x.p, m) })
	}
}

func newGoTrace(c *call) func() error {
	stream := c.flags().Uint32("stream", 0, "write the Go execution trace with this `NUMBER`, if there are several")
	c.noTerminal("a Go execution trace", "-o FILE")
	return func() error {
		g, err := c.streamOf(*stream)
		if err != nil {
			return c.failed(err)
		}
		if g.Missing {
			fmt.Fprintf(c.s.err, "scopeview: a part of Go execution trace %d is missing: readers stop before it\n", g.Stream)
		}
		if err := readGoTrace(c.t); err != nil {
			return err
		}
		return c.writeForeign(func(w io.Writer) error {
			if _, err := io.Copy(w, g.Reader()); err != nil {
				return fmt.Errorf("copying Go execution trace %d of %s: %w", g.Stream, show.Name(c.path), err)
			}
			return nil
		})
	}
}

// streamOf returns the Go execution trace with a number, or the only one if number is 0.
func (c *call) streamOf(number uint32) (*trace.GoTrace, error) {
	all := c.t.GoTraces()
	if len(all) == 0 {
		return nil, noGoTrace(c.t, c.path)
	}
	if number == 0 && len(all) == 1 {
		return &all[0], nil
	}
	for i := range all {
		if all[i].Stream == number {
			return &all[i], nil
		}
	}
	there := report.First(all, func(g trace.GoTrace) string { return strconv.FormatUint(uint64(g.Stream), 10) })
	if number == 0 {
		return nil, usagef("%s has %s: select one with --stream: %s", show.Name(c.path), show.Plural(int64(len(all)), "Go execution trace"), there)
	}
	return nil, usagef("--stream %d: %s has %s", number, show.Name(c.path), there)
}
