package main

import (
	"time"

	"github.com/scopeview/scopeview/internal/report/membench"
)

func newMembench(c *call) func() error {
	var o membench.Options
	f := c.flags()
	f.IntVar(&o.Cores, "cores", 0, "measure with up to `N` cores; 0: GOMAXPROCS")
	f.DurationVar(&o.Time, "time", 3*time.Second, "measure for about `DURATION`; shorter is less exact")
	return func() error {
		if o.Time < 10*time.Millisecond || o.Time > time.Hour {
			return usagef("--time %v: it takes 10ms to 1h", o.Time)
		}
		o.Progress = c.s.steps("")
		r, err := membench.Measure(c.context(), o)
		c.s.stepsDone()
		if err != nil {
			return err
		}
		return c.showReport(r.Report())
	}
}
