package main

import (
	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/release"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "scopeview-fleet COMMAND",
		Short:         "Make Parquet tables of traces, and ask about them",
		Version:       release.Of(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(newParquet(), newSQL())
	return root
}
