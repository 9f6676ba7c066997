package main

import (
	"fmt"
	"io"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report/verify"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

func newVerify(c *call) func() error {
	return func() error {
		f, size, err := openFile(c.context(), c.args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		name := c.s.nameOf(f.Name())
		if err := c.out.notOver(name); err != nil {
			return err
		}
		findings, err := trace.Verify(f, size)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		more, err := unreadOf(f, size)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		findings = append(findings, more...)
		err = c.showReport(verify.Of(name, findings))
		if err == nil && len(findings) > 0 {
			err = &exit{code: exitFailed}
		}
		return err
	}
}

// unreadOf lists the unreadable parts of the Go execution trace from which a trace was made; none
// for other traces.
func unreadOf(r io.ReaderAt, size int64) (list []trace.Finding, err error) {
	t, err := trace.Open(r, size)
	if err != nil || t.Lookup(gotrace.FactMade) == "" {
		return nil, nil // the errors of the trace are in the other list
	}
	add := func(text string) {
		if text != "" {
			list = append(list, trace.Finding{Rule: "go-trace", Text: text})
		}
	}
	add(t.Lookup(gotrace.FactUnread))
	f, err := states.EachOf(t, states.Handler{})
	if err != nil {
		return nil, err
	}
	for _, text := range f.Problems {
		add(text)
	}
	return list, nil
}
