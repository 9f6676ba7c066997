package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/scopeview/scopeview/internal/export/otlp"
	"github.com/scopeview/scopeview/internal/show"
)

func newOTLP(c *call) func() error {
	to := c.flags().String("collector", "", "send the spans to the collector at `URL`, such as http://localhost:4318; /v1/traces is appended")
	var collector *otlp.Collector
	c.checks = append(c.checks, func() (err error) {
		if *to == "" {
			return nil
		}
		if !c.out.standard() {
			return usagef("--collector and -o exclude each other: send the spans or write them")
		}
		if collector, err = otlp.NewCollector(*to, os.Getenv(otlp.HeadersVariable)); err != nil {
			return usagef("--collector: %w", err)
		}
		return nil
	})
	return func() error {
		if collector != nil {
			return c.otlpTo(collector)
		}
		return c.otlpLines()
	}
}

// otlpLines writes requests as lines.
func (c *call) otlpLines() error {
	err := c.write(func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		_, err := c.spans(func(request []byte) error {
			_, err := b.Write(append(request, '\n'))
			return err
		})
		return errors.Join(err, b.Flush())
	})
	if err != nil {
		return err
	}
	return c.verdict()
}

// otlpTo sends requests to a collector.
func (c *call) otlpTo(to *otlp.Collector) error {
	warnLosses(c.s, c.path, c.t)
	p := newProgress(c.s, c.t, !c.s.outTerm)
	c.sel.Progress = p.at
	sum, err := c.spans(func(request []byte) error { return to.Send(c.context(), request) })
	p.done()
	if err != nil {
		return err
	}
	if to.Rejected > 0 {
		return fmt.Errorf("%s refused %s of %d: %s", to.URL, show.Plural(to.Rejected, "span"), sum.Spans, to.Why)
	}
	fmt.Fprintf(c.s.out, "%s with %s sent to %s\n", show.Plural(sum.Spans, "span"), show.Plural(sum.Events, "event"), to.URL)
	return c.verdict()
}

// spans passes the requests to send, and reports missing data.
func (c *call) spans(send otlp.Send) (otlp.Sum, error) {
	unlinked := c.sel.nameText != ""
	sum, err := otlp.Write(c.context(), c.t, otlp.Options{Selection: c.sel.Selection, Unlinked: unlinked}, send)
	switch {
	case err != nil:
	case sum.Spans == 0 && unlinked:
		err = fmt.Errorf("%s has no scope that matches", c.path)
	case sum.Spans == 0:
		err = fmt.Errorf("%s has no scope with a link, as made by scope.Context and scopehttp.Middleware; select others with --name", c.path)
	case sum.Dropped > 0:
		fmt.Fprintf(c.s.err, "scopeview: %s left out: a span has up to 128\n", show.Plural(sum.Dropped, "event"))
	}
	return sum, err
}
