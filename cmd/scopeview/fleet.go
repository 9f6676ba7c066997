package main

import "github.com/spf13/cobra"

// questions are the companion's saved questions.
var questions = []string{"changed", "lock-holders", "outlier-hosts", "p99-by-build", "request"}

func newParquet(c *call) func() error { return c.companion("parquet") }

func newSQL(c *call) func() error {
	c.cmd.ValidArgsFunction = cobra.FixedCompletions(questions, cobra.ShellCompDirectiveDefault)
	return c.companion("sql")
}
