package main

import (
	"cmp"
	"os"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report/info"
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
