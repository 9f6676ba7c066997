package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/export/otlp"
	"github.com/scopeview/scopeview/internal/show"
)

func newExport(s *streams) *cobra.Command {
	return family(head("export", "Write what other systems store: spans for OpenTelemetry, Parquet tables",
		`export writes traces for the systems that store those of many programs.`,
		`  scopeview export otlp 4711 --to http://localhost:4318     its requests, to an OpenTelemetry collector
  scopeview export parquet x.scope -o fleet/                its records, as tables for DuckDB and Trino`),
		newExportOTLP(s), newExportParquet(s))
}

const otlpHelp = `otlp writes scopes as OpenTelemetry spans, and sends them to a collector, to Jaeger, Tempo or whatever else
takes OTLP over HTTP. Without --to it writes the requests, a line of JSON each, as collectors read and write them in files.

Without --name these are the scopes with a link: those of scope.Context, of scopehttp and the other integrations.
With it these are all scopes whose name matches. A scope without a link is part of the exported one that encloses it on its
row. Its ids are made of the recording and of its place, so that exporting a trace twice doubles nothing. The service is
the program; of a merged trace each process is one.

Arguments are attributes, and events in a scope are its span's events: the first 128, the others are counted. What had not
ended is a span up to the last moment that the trace knows, with the attribute scopeview.open. A scope with the argument
failed: true has the status Error.

The environment variable OTEL_EXPORTER_OTLP_HEADERS has headers for the collector, as KEY=VALUE,KEY=VALUE. What gives
access belongs there. A collector that is busy (429, 502, 503, 504) is asked again up to five times, as Retry-After says.`

func newExportOTLP(s *streams) *cobra.Command {
	x := excerpt{s: s}
	var to string
	cmd := &cobra.Command{
		Use:   "otlp TRACE",
		Short: "Write scopes as OpenTelemetry spans, to a collector or a file",
		Long:  otlpHelp,
		Example: `  scopeview export otlp 4711 --to http://localhost:4318
  scopeview export otlp traces/ --name 'checkout,store.*' --to https://collector.example/otlp
  scopeview export otlp x.scope -o x.jsonl`,
		Args: oneTrace, ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return x.run(x.otlpLines)(cmd, args)
			}
			if !x.out.standard() {
				return usagef("--to sends the spans and -o writes them: give one of the two")
			}
			c, err := otlp.NewCollector(to, os.Getenv(otlp.HeadersVariable))
			if err != nil {
				return usagef("--to: %w", err)
			}
			return x.run(func(cmd *cobra.Command) error { return x.otlpTo(cmd, c) })(cmd, args)
		},
	}
	x.sel.globs(cmd)
	x.sel.processes(cmd)
	x.out.flag(cmd)
	x.strict.flag(cmd)
	cmd.Flags().StringVar(&to, "to", "", "send them to the collector at `URL`: http://localhost:4318, for example; /v1/traces is added")
	return cmd
}

// otlpLines writes requests as lines.
func (x *excerpt) otlpLines(cmd *cobra.Command) error {
	err := x.write(func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		_, err := x.spans(cmd, func(request []byte) error {
			_, err := b.Write(append(request, '\n'))
			return err
		})
		return errors.Join(err, b.Flush())
	})
	if err != nil {
		return err
	}
	return x.verdict()
}

// otlpTo sends requests to a collector.
func (x *excerpt) otlpTo(cmd *cobra.Command, c *otlp.Collector) error {
	warnLosses(x.s, x.path, x.t)
	p := newProgress(x.s, x.t, !x.s.outTerm)
	x.sel.Progress = p.at
	sum, err := x.spans(cmd, func(request []byte) error { return c.Send(cmd.Context(), request) })
	p.done()
	if err != nil {
		return err
	}
	if c.Rejected > 0 {
		return fmt.Errorf("%s refused %s of %d: %s", c.URL, show.Plural(c.Rejected, "span"), sum.Spans, c.Why)
	}
	fmt.Fprintf(x.s.out, "%s with %s sent to %s\n", show.Plural(sum.Spans, "span"), show.Plural(sum.Events, "event"), c.URL)
	return x.verdict()
}

// spans passes the requests to send, and reports missing data.
func (x *excerpt) spans(cmd *cobra.Command, send otlp.Send) (otlp.Sum, error) {
	unlinked := x.sel.nameText != ""
	sum, err := otlp.Write(cmd.Context(), x.t, otlp.Options{Selection: x.sel.Selection, Unlinked: unlinked}, send)
	switch {
	case err != nil:
	case sum.Spans == 0 && unlinked:
		err = fmt.Errorf("%s has no scope that is chosen", x.path)
	case sum.Spans == 0:
		err = fmt.Errorf("%s has no scope with a link, as scope.Context and scopehttp.Middleware make them; choose others with --name", x.path)
	case sum.Dropped > 0:
		fmt.Fprintf(x.s.err, "scopeview: %s left out: a span has up to 128\n", show.Plural(sum.Dropped, "event"))
	}
	return sum, err
}
