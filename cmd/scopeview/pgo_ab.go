package main

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/report/ab"
	"github.com/scopeview/scopeview/internal/show"
)

func newPgoSalvage(c *call) func() error {
	in, b := profileInputOf(c), buildingOf(c)
	c.noTerminal("a compressed profile", "-o default.pgo")
	return func() error {
		x, e, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		src, err := b.load(e, c.args[1:], true)
		if err != nil {
			return err
		}
		for _, f := range src.Failures {
			fmt.Fprintf(c.s.err, "scopeview: package %s does not load, so its functions are not known: %s\n", show.Name(f.Package), show.Text(f.Err.Error()))
		}
		r, err := src.Salvage(x.samples)
		if err != nil {
			return fmt.Errorf("%s: %w", show.Name(c.args[0]), err)
		}
		printSalvaged(c.s, r)
		return c.writeProfile(r.Profile)
	}
}

// printSalvaged prints how much of a profile was salvaged.
func printSalvaged(s *streams, r *source.Salvaged) {
	fits := func(c *source.Report) string {
		share, ok := c.Share()
		if !ok {
			return "an unknown part"
		}
		return show.Percent(share)
	}
	fmt.Fprintf(s.err, "scopeview: of the weight that can be matched, %s fitted the source before, %s now\n", fits(r.Before), fits(r.After))
	if r.Dropped > 0 {
		fmt.Fprintf(s.err, "scopeview: left out a weight of %d: its functions are gone, and others have their names now\n", r.Dropped)
	}
	const most = 20
	for i, x := range r.Renamed {
		if i == most {
			fmt.Fprintf(s.err, "scopeview: … and %s more\n", show.Plural(int64(len(r.Renamed)-most), "function"))
			break
		}
		fmt.Fprintf(s.err, "scopeview: %s is %s now\n", show.Name(x.Old), show.Name(x.New))
	}
}

func newPgoAB(c *call) func() error {
	var o ab.Options
	b := buildingOf(c)
	c.arity = func(args []string) error {
		packages := len(args)
		if dash := c.cmd.ArgsLenAtDash(); dash >= 0 {
			packages = dash
		}
		if packages > 1 {
			return errors.New("ab builds one PACKAGE; the program's arguments follow --")
		}
		return nil
	}
	f := c.flags()
	f.StringVar(&o.Profile, "pgo", "", "build B with the profile `FILE` (default: the default.pgo of the package)")
	f.StringVar(&o.Against, "against", ab.Off, "build A with the profile `FILE`, or off")
	f.IntVarP(&o.Runs, "runs", "n", 10, "run each build `N` times")
	f.BoolVar(&o.Test, "test", false, "build and run the test program of the package")
	return func() error {
		if o.Runs < 1 || o.Runs > 1000 {
			return usagef("-n %d: it takes a number of runs from 1 to 1000", o.Runs)
		}
		o.Package, o.Args, o.Dir, o.Flags = ".", c.args, b.dir, b.flags
		if dash := c.cmd.ArgsLenAtDash(); dash != 0 && len(c.args) > 0 {
			o.Package, o.Args = c.args[0], c.args[1:]
		}
		step := c.s.steps("run ")
		r, err := ab.Of(c.context(), o, func(run, of int) { step(run, of) })
		c.s.stepsDone()
		if err != nil {
			return err
		}
		return c.showReport(r.Report())
	}
}
