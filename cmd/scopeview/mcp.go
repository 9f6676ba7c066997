package main

import (
	"errors"
	"io"
	"time"

	"github.com/scopeview/scopeview/internal/mcpserver"
)

func newMCP(c *call) func() error {
	o := mcpserver.Options{Version: version()}
	var memory int64
	f := c.flags()
	f.StringArrayVar(&o.Sources, "source", nil, "allow to read sources below `DIR`; may be repeated")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "limit a call to `TIME`")
	f.Int64Var(&memory, "memory", 2048, "cancel a call when the process has more than `MIB` of memory")
	return func() error {
		if o.Timeout <= 0 || memory <= 0 {
			return usagef("--timeout and --memory must be above 0")
		}
		o.Traces, o.Memory = c.args, memory<<20
		server, err := mcpserver.New(o)
		if err != nil {
			return err
		}
		defer server.Close()
		if c.s.inTerm {
			return usagef("standard input is a terminal: this command is started by a client, which sends requests over it; see scopeview mcp --help")
		}
		err = server.Run(c.context(), io.NopCloser(c.s.in), keptOpen{c.s.out})
		if errors.Is(err, c.context().Err()) {
			return nil // an interrupt is the normal end
		}
		return err
	}
}

// keptOpen is a writer that the protocol does not close.
type keptOpen struct{ io.Writer }

// Close does nothing.
func (keptOpen) Close() error { return nil }
