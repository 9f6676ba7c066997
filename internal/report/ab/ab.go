// Package ab measures the effect of a profile: it builds a program without it and with it, runs
// both in turns, and reports by how much CPU time and wall time differ, or that the runs show no
// difference.
package ab

import (
	"context"
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/runs"
)

// Off is the profile of a build without one.
const Off = "off"

// Options select the program to build and the runs.
type Options struct {
	Package string   // the main package, as go build takes it; with Test the one that has the tests
	Dir     string   // go build works here, and so does the program; "": the working directory
	Flags   []string // of go build, such as -tags=x
	Test    bool     // build the test program of the package; it runs in the package's directory
	Against string   // the profile of build A: a file, or Off
	Profile string   // the profile of build B; "": the package's own default.pgo
	Runs    int      // of each build, from 1 on
	Args    []string // of the program
}

// Of builds the program twice and runs both builds alternately, after a warm-up run of each.
// progress, if not nil, is called before each run. Of removes both builds before it returns.
func Of(ctx context.Context, o Options, progress func(run, of int)) (*Result, error) {
	if o.Runs < 1 {
		return nil, fmt.Errorf("%d runs are too few: give at least 1, and %d for an interval of 95%%", o.Runs, enough)
	}
	dir, err := os.MkdirTemp("", "scopeview-ab-")
	if err != nil {
		return nil, fmt.Errorf("creating a directory for the builds: %w", err)
	}
	defer os.RemoveAll(dir)
	r, home, err := built(ctx, &o, dir)
	if err != nil || r.Identical {
		return r, err
	}
	turns := runs.Turns{Args: o.Args, Dir: home, Rounds: o.Runs, Progress: progress}
	for _, b := range r.Builds {
		turns.Sides = append(turns.Sides, &runs.Side{Name: b.Name, Path: b.path})
	}
	if _, err := turns.Run(ctx); err != nil {
		return nil, err
	}
	r.conclude(turns.Sides)
	return r, nil
}
