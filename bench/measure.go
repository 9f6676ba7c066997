package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/scope"
)

// plan describes the measurement of loops: in turn, in slices so short that interference
// from the machine affects all of them alike.
type plan struct {
	slices int // per round
	size   int // iterations in a slice
	settle time.Duration
}

// recordedPlan leaves the flusher time to prepare the window again after each slice: it
// measures the cost of a scope; another row measures the disk. idlePlan is for unrecorded
// scopes, which are so fast that the first microseconds after a pause would matter.
var (
	recordedPlan = plan{slices: 100, size: 20_000, settle: 3 * time.Millisecond}
	idlePlan     = plan{slices: 50, size: 200_000}
	peerPlan     = plan{slices: 4, size: 100_000, settle: 3 * time.Millisecond}
)

// times has the times of the slices, in ns per iteration: [round][loop][slice].
type times [][][]float64

// measure runs the loops in turn, slice by slice.
func (b *bench) measure(p plan, loops ...hot.Loop) times {
	t := make(times, b.rounds)
	for round := range t {
		t[round] = make([][]float64, len(loops))
		for range b.slices(p) {
			for i, l := range loops {
				t[round][i] = append(t[round][i], float64(l(p.size))/float64(p.size))
				time.Sleep(p.settle)
			}
		}
	}
	return t
}

// ns returns a loop's time per iteration: the median over the rounds of the median over
// their quiet slices.
func (t times) ns(loop int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] })
}

// to returns a loop's time as a multiple of another's, comparing adjacent slices.
func (t times) to(loop, other int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] / round[other][slice] })
}

// over returns the difference of a loop's time per iteration from another's, compared in the
// same way.
func (t times) over(loop, other int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] - round[other][slice] })
}

// A virtual machine shares its cores: when a neighbour computes on the other half of a core,
// everything takes a third longer, the floor a quarter. The first loop, which is the floor
// or an empty call, detects that. A slice counts if the first loop, before and after the
// others, was within 5 % of its own lower decile.
const (
	calm        = 1.05
	quietEnough = 0.05 // below it all slices count
)

// quiet returns the undisturbed slices of each round, or all if those are too few, and their
// share.
func (t times) quiet() (slices [][]int, share float64) {
	var first []float64
	for _, round := range t {
		first = append(first, round[0]...)
	}
	bound := calm * quantile(first, 0.1)
	slices = make([][]int, len(t))
	all := make([][]int, len(t))
	n := 0
	for i, round := range t {
		for s, v := range round[0] {
			all[i] = append(all[i], s)
			if v <= bound && round[0][min(s+1, len(round[0])-1)] <= bound {
				slices[i] = append(slices[i], s)
				n++
			}
		}
	}
	if share = float64(n) / float64(len(first)); share < quietEnough {
		return all, share
	}
	return slices, share
}

// note returns the share of the run that counts.
func (t times) note() string {
	_, share := t.quiet()
	return quietNote(share)
}

func quietNote(share float64) string {
	if share < quietEnough {
		return "the machine was never quiet"
	}
	return fmt.Sprintf("quiet in %.0f %% of the slices", 100*share)
}

func (t times) medians(of func(round [][]float64, slice int) float64) float64 {
	var rounds []float64
	quiet, _ := t.quiet()
	for i, round := range t {
		var values []float64
		for _, slice := range quiet[i] {
			values = append(values, of(round, slice))
		}
		if len(values) > 0 {
			rounds = append(rounds, median(values))
		}
	}
	return median(rounds)
}

// warm runs the loops until the recorder is warm: its window grows with the write rate.
func (b *bench) warm(p plan, loops ...hot.Loop) {
	for begin := time.Now(); time.Since(begin) < time.Second; {
		for _, l := range loops {
			l(p.size)
			time.Sleep(p.settle)
		}
	}
}

// measured records the loops, warms them up and measures them. fault reports if not all
// scopes after warming up, perIteration in each iteration of all loops, were kept.
func (b *bench) measured(p plan, perIteration int64, loops []hot.Loop, opts ...scope.Option) (ts times, fault string, err error) {
	t, err := b.recording(job{
		warm: func() { b.warm(p, loops...) },
		run:  func() { ts = b.measure(p, loops...) },
		opts: opts,
	})
	return ts, t.kept(perIteration * b.iterations(p)), err
}

func (b *bench) slices(p plan) int {
	if b.short {
		return max(p.slices/4, 1)
	}
	return p.slices
}

// iterations returns the number of iterations of each loop in measure.
func (b *bench) iterations(p plan) int64 {
	return int64(b.rounds) * int64(b.slices(p)*p.size)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[int(q*float64(len(v)-1))]
}

// tally has the counts of a recording.
type tally struct {
	recorded, lost, bytes int64
	path                  string // of the trace
	recorder              string
}

// job is the work recorded into one trace.
type job struct {
	warm func() // first; does not count
	run  func()
	read func(tally) error // after Stop, while the trace is there
	opts []scope.Option
}

// recording does a job and removes its trace.
func (b *bench) recording(j job) (tally, error) {
	dir, err := os.MkdirTemp(b.dir, "trace-")
	if err != nil {
		return tally{}, fmt.Errorf("no directory for the trace: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bench.scope")
	if err := scope.Start(path, append([]scope.Option{scope.WithLimit(16 << 30)}, j.opts...)...); err != nil {
		return tally{}, err
	}
	if j.warm != nil {
		j.warm()
	}
	before := scope.Stats()
	j.run()
	after := scope.Stats()
	if err := scope.Stop(); err != nil {
		return tally{}, err
	}
	t := tally{
		recorded: after.Recorded - before.Recorded,
		lost:     after.Lost.Total() - before.Lost.Total(),
		bytes:    after.Bytes - before.Bytes,
		path:     path, recorder: after.Recorder,
	}
	if j.read != nil {
		err = j.read(t)
	}
	return t, err
}

// kept returns an error text if not all of n scopes were recorded; a row with losses does
// not show the cost of recording.
func (t tally) kept(n int64) string {
	if t.recorded != n || t.lost != 0 {
		return fmt.Sprintf("%d of %d scopes recorded, %d counted as lost", t.recorded, n, t.lost)
	}
	return ""
}
