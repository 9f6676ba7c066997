package main

import "github.com/scopeview/scopeview/internal/report/top"

func newTop(c *call) func() error {
	order := c.choice("sort", "total", "sort by `COLUMN`", top.Orders...)
	by := c.choice("by", "name", "add up by `KIND`", "name", "track")
	return func() error {
		r, err := top.Of(c.context(), c.t, c.part(), *order, *by == "track")
		return c.show(r, err)
	}
}
