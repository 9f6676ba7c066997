package runs

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"os/exec"
	"time"
)

// Side is a program that runs in turns with others, and the times of its runs, in ns.
type Side struct {
	Name      string // of the build, for the error of a failed run
	Path      string
	CPU, Wall []int64
	Outputs   map[uint64]int // number of runs by hash of their output
}

// Output is the comparison of two sides' standard outputs.
type Output string

// Outputs.
const (
	Same   Output = "same"
	Differ Output = "differ" // each writes the same in all its runs, but not the same as the other
	Varies Output = "varies" // from run to run
)

// Compare returns whether the sides wrote the same.
func (s *Side) Compare(other *Side) Output {
	switch {
	case len(s.Outputs) > 1 || len(other.Outputs) > 1:
		return Varies
	case maps.Equal(s.Outputs, other.Outputs):
		return Same
	}
	return Differ
}

// Turns has the parameters of alternating runs.
type Turns struct {
	Sides    []*Side
	Args     []string
	Dir      string            // where they run
	Rounds   int               // number of rounds in which each side runs once, after one that does not count
	Budget   time.Duration     // maximum time after Least rounds; 0: none
	Least    int               // rounds
	Progress func(run, of int) // called before each run; may be nil

	seed maphash.Seed
	done int
}

// Run runs the sides in turns, A B B A and so on, so that a machine that becomes slower
// affects all sides. The first round does not count, because it warms the caches. It returns
// the number of counted rounds.
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
