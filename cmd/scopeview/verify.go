package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
			if err := out.notOver(f.Name()); err != nil {
				return err
			}
			findings, err := trace.Verify(f, size)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			err = out.write(s, func(w io.Writer) error {
				if asJSON {
					return writeJSON(out.exact(s, w), cmd.Name(), verifyDocument(findings))
				}
				return printFindings(w, f.Name(), findings)
			})
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

func printFindings(w io.Writer, path string, findings []trace.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintf(w, "%s: at offset %d: %s: %s\n", show(path), f.Offset, f.Rule, harmless(f.Text)); err != nil {
			return err
		}
	}
	verdict := "sound"
	if n := int64(len(findings)); n > 0 {
		verdict = plural(n, "finding")
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", show(path), verdict)
	return err
}

type findingJSON struct {
	Offset int64  `json:"offset"`
	Rule   string `json:"rule"`
	Text   string `json:"text"`
}

type verifyJSON struct {
	Findings stream[findingJSON] `json:"findings"`
}

func verifyDocument(findings []trace.Finding) *verifyJSON {
	return &verifyJSON{streamOf(findings, func(f trace.Finding) findingJSON { return findingJSON{f.Offset, f.Rule, f.Text} })}
}
