package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/mcpserver"
)

const mcpHelp = `mcp answers a language model's questions about traces, over the Model Context Protocol on standard input and
output: which traces there are, what is wrong, where the time went, who waited, which executions were slow, what
changed, what a line cost. A client starts it. Most clients have a file of servers:

  {"mcpServers": {"scopeview": {"command": "scopeview", "args": ["mcp", "/home/me/traces", "--source", "/home/me/project"]}}}

and many have a command that writes it:

  claude mcp add scopeview -- scopeview mcp /home/me/traces --source /home/me/project

Only the traces that are named here are read, and those below the directories that are: no link and no ".." leads
out of them; addresses, processes and standard input are no traces here. Sources are read from the trace, and below
the directories of --source. Nothing is written, no program is run, no recording is controlled, nothing is asked of
the network.

A trace is read from its file alone: of one that a program still writes, what it wrote out by then. One that lies in
several files, and one of a program that was killed and whose last second lies in memory, are made whole by scopeview
snapshot.

Each call may take --timeout, and the process --memory; calls are answered one after the other. docs/agents.md has
examples, and what each tool answers.`

func newMCP(s *streams) *cobra.Command {
	o := mcpserver.Options{Version: version()}
	var memory int64
	cmd := &cobra.Command{
		Use:   "mcp DIR|FILE…",
		Short: "Answer a language model's questions about traces (Model Context Protocol)",
		Long:  mcpHelp,
		Example: `  scopeview mcp traces/
  scopeview mcp old.scope new.scope --source ~/project --timeout 30s`,
		Args:              someTraces,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Timeout <= 0 || memory <= 0 {
				return usagef("--timeout and --memory are to be more than 0")
			}
			o.Traces, o.Memory = args, memory<<20
			server, err := mcpserver.New(o)
			if err != nil {
				return err
			}
			defer server.Close()
			if s.inTerm {
				return usagef("standard input is a terminal: a client starts this command and asks over it; see scopeview mcp --help")
			}
			err = server.Run(cmd.Context(), io.NopCloser(s.in), keptOpen{s.out})
			if errors.Is(err, cmd.Context().Err()) {
				return nil // an interrupt is the normal end
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Sources, "source", nil, "sources may be read below `DIR`; can be given several times")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "a call may take `TIME`")
	f.Int64Var(&memory, "memory", 2048, "a call is given up when the process has more than `MIB` of memory")
	return cmd
}

// someTraces checks that at least one trace or directory is given.
func someTraces(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the directories and traces that may be read", cmd.Name())
	}
	return nil
}

// keptOpen is a writer that the protocol does not close.
type keptOpen struct{ io.Writer }

// Close does nothing.
func (keptOpen) Close() error { return nil }
