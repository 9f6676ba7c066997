package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/verify"
	"github.com/scopeview/scopeview/internal/trace"
)

func newVerify(s *streams) *cobra.Command {
	var (
		out    output
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify TRACE",
		Short: "Check a trace against every rule of the format",
		Long: `verify checks all that docs/format.md promises, more strictly than the other commands, which show what
they can. It exits with code 1 if a rule is broken.`,
		Example:           `  scopeview verify x.scope && echo sound`,
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
			findings, err := trace.Verify(f, size)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			err = out.show(s, cmd, verify.Of(name, findings), asJSON, 0)
			if err == nil && len(findings) > 0 {
				err = &exit{code: exitFailed}
			}
			return err
		},
	}
	out.flag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}
