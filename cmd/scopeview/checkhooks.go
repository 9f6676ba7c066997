package main

import (
	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/report"
)

func newCheckHooks(s *streams) *cobra.Command {
	var (
		out    output
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check-hooks",
		Short: "Try the hooks that run, build and test put into the standard library, on this toolchain",
		Long: `check-hooks builds small programs with the go command that is called here, each with the hooks in its standard library
that run, build and test use, runs them, and says of each hook whether what it is for was recorded. A hook whose
source does not look as expected is left out of a build, and what it would tell is missing in the trace.

It ends with exit code 1 if a hook does not work.`,
		Example: `  scopeview check-hooks
  GOTOOLCHAIN=go1.27.0 scopeview check-hooks --json`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			cache, err := build.OpenCache()
			if err != nil {
				return err
			}
			hooks, version, err := build.CheckHooks(cmd.Context(), cache, "")
			if err != nil {
				return err
			}
			d := hookDocument{Go: version}
			code := exitOK
			for _, h := range hooks {
				d.Hooks = append(d.Hooks, hookState{h.Name, h.What, h.Works, h.Why})
				if !h.Works {
					code = exitFailed
				}
			}
			if err := out.show(s, cmd, &report.Report{Text: d.text, Document: &d}, asJSON, 0); err != nil || code == exitOK {
				return err
			}
			return &exit{code: code}
		},
	}
	out.flag(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// hookDocument is the document of check-hooks.
type hookDocument struct {
	Go    string      `json:"go" says:"the version of the go command that was tried"`
	Hooks []hookState `json:"hooks"`
}

type hookState struct {
	Name  string `json:"name" head:"hook" says:"the hook"`
	What  string `json:"what" prose:"" says:"what it tells"`
	Works bool   `json:"works" says:"what it is to tell was in a trace"`
	Why   string `json:"why,omitempty" prose:"" says:"why it does not work"`
}

var hookTable = report.Table[hookState]{
	Text: "hook, =works, what, why",
	Cells: map[string]func(hookState) string{"works": func(h hookState) string {
		if h.Works {
			return "works"
		}
		return "off"
	}},
}

func (d *hookDocument) text(b *report.Text) {
	b.WriteString(d.Go + "\n")
	hookTable.Write(b, d.Hooks)
}
