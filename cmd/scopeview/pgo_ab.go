package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/report/ab"
	"github.com/scopeview/scopeview/internal/show"
)

func newPgoSalvage(s *streams) *cobra.Command {
	var (
		in  = profileInput{s: s}
		out output
		b   building
	)
	cmd := &cobra.Command{
		Use:   "salvage PROFILE [PACKAGE…]",
		Short: "Make an old profile fit today's source again: moved lines, renamed and moved functions",
		Long: `salvage finds the calls of a profile in today's source again, of the packages (./... if none is named) and of all that
they import. In a function that has changed it aligns the calls that the profile has with those of the source; functions
that are gone it looks for among the new ones, by their names and calls. Each call that it writes is in the source, by
the types: none is invented. What it does not find stays as it was, unless another function has its name now. It says
on standard error what came of it.

` + profileHelp,
		Example: `  scopeview pgo salvage default.pgo -o default.pgo
  scopeview pgo salvage old.pgo ./cmd/server -o default.pgo && scopeview pgo check default.pgo ./cmd/server`,
		Args: profileAnd, ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, e, err := in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			src, err := b.load(cmd, s, e, args[1:], true)
			if err != nil {
				return err
			}
			for _, f := range src.Failures {
				fmt.Fprintf(s.err, "scopeview: package %s does not load, so its functions are not known: %s\n", show.Name(f.Package), show.Text(f.Err.Error()))
			}
			r, err := src.Salvage(x.samples)
			if err != nil {
				return fmt.Errorf("%s: %w", show.Name(args[0]), err)
			}
			tellSalvaged(s, r)
			return writeProfile(s, &out, r.Profile)
		},
	}
	out.flag(cmd)
	in.flags(cmd)
	b.register(cmd)
	return cmd
}

// tellSalvaged prints how much of a profile was salvaged.
func tellSalvaged(s *streams, r *source.Salvaged) {
	fits := func(c *source.Report) string {
		share, ok := c.Share()
		if !ok {
			return "an unknown part"
		}
		return show.Percent(share)
	}
	fmt.Fprintf(s.err, "scopeview: of the weight that can be matched %s fitted the source, and %s does now\n", fits(r.Before), fits(r.After))
	if r.Dropped > 0 {
		fmt.Fprintf(s.err, "scopeview: a weight of %d is left out: its functions are gone, and others have their names now\n", r.Dropped)
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

func newPgoAB(s *streams) *cobra.Command {
	var (
		o      ab.Options
		b      building
		out    output
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "ab [PACKAGE] [-- ARGUMENTS]",
		Short: "Build with a profile and without, run both in turns, and tell the difference with its interval",
		Long: `ab builds PACKAGE (the one here if none is named) without a profile and with its default.pgo, or with the profiles that
--against and --pgo name, and runs both with ARGUMENTS, in turns, -n times. It tells the medians of CPU time and wall
time, by how much they differ, and the interval in which the difference is with a confidence of 95 %, by the test of
Mann and Whitney. Where 0 is in it, the runs show no difference, and it says so.

With --test it builds the test program of PACKAGE: -- -test.run=NONE -test.bench=Encode runs a benchmark.

The program's standard output is compared and thrown away; its standard error is shown if it fails.`,
		Example: `  scopeview pgo ab ./cmd/server -- -requests 10000
  scopeview pgo ab --pgo new.pgo --against default.pgo -n 20 ./cmd/server -- -requests 10000
  scopeview pgo ab --test ./codec -- -test.run=NONE -test.bench=Encode -test.benchtime=200x`,
		Args: func(cmd *cobra.Command, args []string) error {
			packages := len(args)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				packages = dash
			}
			if packages > 1 {
				return errors.New("ab builds one PACKAGE; what the program is given stands behind --")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Runs < 1 || o.Runs > 1000 {
				return usagef("-n %d: it takes a number of runs from 1 to 1000", o.Runs)
			}
			o.Package, o.Args, o.Dir, o.Flags = ".", args, b.dir, b.flags
			if dash := cmd.ArgsLenAtDash(); dash != 0 && len(args) > 0 {
				o.Package, o.Args = args[0], args[1:]
			}
			step := s.steps("run ")
			r, err := ab.Of(cmd.Context(), o, func(run, of int) { step(run, of) })
			s.stepsDone()
			if err != nil {
				return err
			}
			return out.show(s, cmd, r.Report(), asJSON, 0)
		},
	}
	out.flag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Profile, "pgo", "", "build B with the profile `FILE` (default: the default.pgo of the package)")
	f.StringVar(&o.Against, "against", ab.Off, "build A with the profile `FILE`, or off")
	f.IntVarP(&o.Runs, "runs", "n", 10, "run each build `N` times")
	f.BoolVar(&o.Test, "test", false, "build and run the test program of the package")
	b.register(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}
