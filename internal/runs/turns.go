package runs

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"os/exec"
	"time"
)

// Side is a program that is run in turns with others, and what its runs have taken, in ns.
type Side struct {
	Name      string // of the build, for who is told that a run failed
	Path      string
	CPU, Wall []int64
	Outputs   map[uint64]int // how many runs had an output of that hash
}

// Output says whether two sides wrote the same to their standard outputs.
type Output string

// Outputs.
const (
	Same   Output = "same"
	Differ Output = "differ" // each writes the same in all its runs, and not what the other does
	Varies Output = "varies" // from run to run
)

// Compare says whether the sides wrote the same.
func (s *Side) Compare(other *Side) Output {
	switch {
	case len(s.Outputs) > 1 || len(other.Outputs) > 1:
		return Varies
	case maps.Equal(s.Outputs, other.Outputs):
		return Same
	}
	return Differ
}

// Turns is how sides are run.
type Turns struct {
	Sides    []*Side
	Args     []string
	Dir      string            // where they run
	Rounds   int               // in which each runs once, behind one that does not count
	Budget   time.Duration     // once Least rounds are done none begins that would exceed it; 0: all are done
	Least    int               // rounds
	Progress func(run, of int) // is called before each run; it may be nil

	seed maphash.Seed
	done int
}

// Run runs the sides in turns, A B B A and so on, so that a machine that becomes slower
// does so for all. The first round does not count: the files were not read yet. It returns how many do.
func (t *Turns) Run(ctx context.Context) (rounds int, err error) {
	t.seed, t.done = maphash.MakeSeed(), 0
	began := time.Now()
	for round := 0; round <= t.Rounds; round++ {
		if each := time.Since(began) / time.Duration(max(round, 1)); t.Budget > 0 && round > t.Least && time.Since(began)+each > t.Budget {
			return round - 1, nil
		}
		for i := range t.Sides {
			s := t.Sides[(i+round)%len(t.Sides)]
			if round == 1 {
				*s = Side{Name: s.Name, Path: s.Path}
			}
			if err := t.run(ctx, s); err != nil {
				return 0, err
			}
		}
	}
	return t.Rounds, nil
}

// run runs a side once.
func (t *Turns) run(ctx context.Context, s *Side) error {
	if t.done++; t.Progress != nil {
		t.Progress(t.done, (t.Rounds+1)*len(t.Sides))
	}
	var output maphash.Hash
	output.SetSeed(t.seed)
	c := exec.CommandContext(ctx, s.Path, t.Args...)
	c.Dir, c.Stdout = t.Dir, &output
	took, err := Once(c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("a run of build %s failed: %w", s.Name, err)
	}
	s.CPU, s.Wall = append(s.CPU, took.User+took.System), append(s.Wall, took.Wall)
	if s.Outputs == nil {
		s.Outputs = map[uint64]int{}
	}
	s.Outputs[output.Sum64()]++
	return nil
}
