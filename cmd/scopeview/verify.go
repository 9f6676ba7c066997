package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report/verify"
	"github.com/scopeview/scopeview/internal/states"
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
they can. It exits with code 1 if a rule is broken. Of a Go execution trace it checks whether all of it can be read.`,
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
			more, err := unreadOf(f, size)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			findings = append(findings, more...)
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
