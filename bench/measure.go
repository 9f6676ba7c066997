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

// plan says how loops are measured: in turn, in slices so short that what else
// happens on the machine hits all of them alike.
type plan struct {
	slices int // per round
	size   int // iterations in a slice
	settle time.Duration
}

// recordedPlan leaves the flusher time to prepare the window again after each
// slice: what is measured is the cost of a scope; whether the disk follows is a
// row of its own. idlePlan is for what is not recorded, and so quick that the
// first microseconds after a pause would show.
var (
	recordedPlan = plan{slices: 100, size: 20_000, settle: 3 * time.Millisecond}
	idlePlan     = plan{slices: 50, size: 200_000}
	peerPlan     = plan{slices: 4, size: 100_000, settle: 3 * time.Millisecond}
)

// times is what the slices took, in ns per iteration: [round][loop][slice].
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

// ns is a loop's time per iteration: the median over the rounds of the median
// over their slices, the quiet ones.
func (t times) ns(loop int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] })
}

// to is a loop's time as a multiple of another's, each slice compared with the
// other's beside it.
func (t times) to(loop, other int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] / round[other][slice] })
}

// over is how much longer a loop's iteration takes than another's, compared in
// the same way.
func (t times) over(loop, other int) float64 {
	return t.medians(func(round [][]float64, slice int) float64 { return round[loop][slice] - round[other][slice] })
}

// A virtual machine shares its cores: whenever a neighbour computes on the other
// half of a core, everything takes a third longer, the floor a quarter. The first
// loop, which is the floor or an empty call, is how we see that. A slice counts
// where the first loop, before and after the others, was within 5 % of its own
// lower decile.
const (
	calm        = 1.05
	quietEnough = 0.05 // else all slices count
)

// quiet returns the slices of each round in which the machine was left alone,
// or all if those are too few, and their share.
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

// note says how much of the run counts.
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

// warm runs the loops until the recorder has got used to them: its window
// grows with what is written.
func (b *bench) warm(p plan, loops ...hot.Loop) {
	for begin := time.Now(); time.Since(begin) < time.Second; {
		for _, l := range loops {
			l(p.size)
			time.Sleep(p.settle)
		}
	}
}

// measured records the loops, warms them up and measures them. Of the
// scopes after warming up, perIteration in each iteration of all loops, every one
// must be kept, or fault says so.
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

// iterations is how often measure runs each loop.
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

// tally is what a recording kept.
type tally struct {
	recorded, lost, bytes int64
	path                  string // of the trace
	recorder              string
}

// job is what is recorded into one trace.
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

// kept says what is wrong when not all of n scopes were recorded; a row with
// losses says nothing about what recording costs.
func (t tally) kept(n int64) string {
	if t.recorded != n || t.lost != 0 {
		return fmt.Sprintf("%d of %d scopes recorded, %d counted as lost", t.recorded, n, t.lost)
	}
	return ""
}
