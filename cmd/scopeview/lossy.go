package main

import "github.com/spf13/cobra"

// lossy is the flag --strict of commands that read profiles, and whether data was missing.
type lossy struct {
	strict bool
	lost   bool // a part of the input is missing, or could not be understood
}

// flag adds --strict to a command, whose RunE must be set. Losses are reported where they are read.
func (x *lossy) flag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.strict, "strict", false, "exit with code 3 if something of what is read is missing or can't be understood")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := run(cmd, args); err != nil || !x.strict || !x.lost {
			return err
		}
		return &exit{code: exitLosses}
	}
}
