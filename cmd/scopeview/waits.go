package main

import "github.com/scopeview/scopeview/internal/report/waits"

func newWaits(c *call) func() error {
	stacks := c.flags().Bool("stacks", false, "show the stacks of the waits, and of the wake-ups")
	return func() error {
		r, err := waits.Of(c.context(), c.t, c.part(), *stacks)
		return c.show(r, err)
	}
}
