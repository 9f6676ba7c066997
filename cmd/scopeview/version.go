package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the tool, its commit and Go's version",
		Long: `version prints what scopeview --version prints: the version that was installed, or the commit that it was built from, and
the version of Go that built it. What changed from version to version is in CHANGELOG.md.`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, version())
			return err
		},
	}
}
