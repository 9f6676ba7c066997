// Package ab finds out what a profile is worth: it builds a program without it and with it,
// runs both in turns, and tells by how much CPU time and wall time differ. Where the runs show
// no difference it says so.
package ab

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/runs"
)

// Off is the profile of a build without one.
const Off = "off"

// Options say what to build and to run.
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

// Of builds the program twice and runs both, first once each to warm up. progress, which may
// be nil, is called before each run. Both builds are gone afterwards.
func Of(ctx context.Context, o Options, progress func(run, of int)) (*Result, error) {
	if o.Runs < 1 {
		return nil, fmt.Errorf("%d runs tell nothing; it takes 1 at least, and %d for an interval of 95 %%", o.Runs, enough)
	}
	dir, err := os.MkdirTemp("", "scopeview-ab-")
	if err != nil {
		return nil, fmt.Errorf("a directory for the builds can't be made: %w", err)
	}
	defer os.RemoveAll(dir)
	r, home, err := built(ctx, &o, dir)
	if err != nil || r.Identical {
		return r, err
	}
	m := measuring{args: o.Args, dir: home, seed: maphash.MakeSeed(), progress: progress, of: 2 * (o.Runs + 1)}
	for _, b := range r.Builds {
		m.sides = append(m.sides, &side{path: b.path})
	}
	if err := m.measure(ctx); err != nil {
		return nil, err
	}
	r.conclude(m.sides)
	return r, nil
}

// side is what is known of a build's runs. Times are ns.
type side struct {
	path      string
	cpu, wall []int64
	outputs   map[uint64]int // how many runs had an output of that hash
}

// measuring is how both builds are run.
type measuring struct {
	args     []string
	dir      string
	seed     maphash.Seed
	sides    []*side
	progress func(run, of int)
	done, of int
}

// measure runs the sides in turns, A B B A and so on, so that a machine that becomes slower
// does so for both. The first round does not count: the files were not read yet.
func (m *measuring) measure(ctx context.Context) error {
	for round := 0; m.done < m.of; round++ {
		for i := range m.sides {
			s := m.sides[(i+round)%len(m.sides)]
			if round == 1 {
				*s = side{path: s.path}
			}
			if err := m.run(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs a side once.
func (m *measuring) run(ctx context.Context, s *side) error {
	if m.done++; m.progress != nil {
		m.progress(m.done, m.of)
	}
	var output maphash.Hash
	output.SetSeed(m.seed)
	c := exec.CommandContext(ctx, s.path, m.args...)
	c.Dir, c.Stdout = m.dir, &output
	took, err := runs.Once(c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("a run of build %s failed: %w", filepath.Base(filepath.Dir(s.path)), err)
	}
	s.cpu, s.wall = append(s.cpu, took.User+took.System), append(s.wall, took.Wall)
	if s.outputs == nil {
		s.outputs = map[uint64]int{}
	}
	s.outputs[output.Sum64()]++
	return nil
}
