package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/trace/text"
)

func newAssemble(s *streams) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "assemble [TEXT]",
		Short: "Make a trace of the text that dump writes",
		Long: `assemble is the inverse of dump: it reads the file TEXT (without one, or -: standard input) and
makes the trace that it describes, byte for byte. Traces of up to 64 MiB can be made, and be broken
in any way: for tests of what reads traces. The lines are described in package internal/trace/text.`,
		Example: `  scopeview dump x.scope -o x.txt
  scopeview assemble x.txt -o y.scope`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("assemble takes one TEXT, not %d: %q", len(args), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out.standard() && s.outTerm {
				return usagef("assemble makes a trace, which is nothing for a terminal: give -o FILE")
			}
			in, name := io.Reader(os.Stdin), "standard input"
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("opening the text: %w", err)
				}
				defer f.Close()
				in, name = f, args[0]
				if out.notOver(name) != nil {
					return usagef("-o %s is the text itself; give another name", out.path)
				}
			}
			// An invalid text creates no file, not even a temporary one.
			data, err := text.Assemble(in)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if len(data) == 0 { // such as when the dump command before the pipe failed
				return fmt.Errorf("%s: there is no line, so there is no trace", name)
			}
			return out.write(s, func(w io.Writer) error {
				_, err := untilDone{cmd.Context(), w}.Write(data)
				return err
			})
		},
	}
	out.flag(cmd)
	return cmd
}
