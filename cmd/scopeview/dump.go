package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/trace/text"
)

func newDump(s *streams) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "dump TRACE",
		Short: "Write the trace as text, to the byte",
		Long: `dump writes everything that the file holds as lines of text, in the order of the file and without
joining begins with ends: for looking at what was really written. assemble makes the same trace of
it again.`,
		Example:           `  scopeview dump x.scope | less`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, size, err := openFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			name := s.given(f.Name())
			if err := out.notOver(name); err != nil {
				return err
			}
			return out.write(s, func(w io.Writer) error {
				b := bufio.NewWriterSize(out.exact(s, w), 64<<10)
				if err := text.Dump(untilDone{cmd.Context(), b}, f, size); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return b.Flush()
			})
		},
	}
	out.flag(cmd)
	return cmd
}
