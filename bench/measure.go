package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// loop does something n times and returns how long it took, as the goroutine
// that did it sees it.
type loop func(n int) time.Duration

func timed(f func(n int)) loop {
	return func(n int) time.Duration {
		begin := time.Now()
		f(n)
		return time.Since(begin)
	}
}

// together runs f on two goroutines at once and returns the mean of their times.
func together(f func(n int)) loop {
	return func(n int) time.Duration {
		var ready atomic.Int32
		var spent [2]time.Duration
		var done sync.WaitGroup
		for i := range spent {
			done.Go(func() {
				ready.Add(1)
				for ready.Load() < 2 { // a wake-up would put them one after the other
					runtime.Gosched()
				}
				begin := time.Now()
				f(n)
				spent[i] = time.Since(begin)
			})
		}
		done.Wait()
		return (spent[0] + spent[1]) / 2
	}
}

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
	recordedPlan = plan{slices: 100, size: 20_000, settle: time.Millisecond}
	idlePlan     = plan{slices: 10, size: 1_000_000}
	peerPlan     = plan{slices: 4, size: 100_000, settle: 3 * time.Millisecond}
)

// medians runs the loops in turn, slice by slice, and returns for each the ns per
// iteration: the median over the rounds of the median over their slices.
func (b *bench) medians(p plan, loops ...loop) []float64 {
	rounds := make([][]float64, len(loops))
	for range b.rounds {
		slices := make([][]float64, len(loops))
		for range b.slices(p) {
			for i, l := range loops {
				slices[i] = append(slices[i], float64(l(p.size))/float64(p.size))
				time.Sleep(p.settle)
			}
		}
		for i := range loops {
			rounds[i] = append(rounds[i], median(slices[i]))
		}
	}
	var ms []float64
	for _, r := range rounds {
		ms = append(ms, median(r))
	}
	return ms
}

// warm runs the loops until the recorder has got used to them: its window
// grows with what is written.
func (b *bench) warm(p plan, loops ...loop) {
	for begin := time.Now(); time.Since(begin) < time.Second; {
		for _, l := range loops {
			l(p.size)
			time.Sleep(p.settle)
		}
	}
}

// measured records the loops, warms them up and returns their medians. Of the
// scopes after warming up, perIteration in each iteration of all loops, every one
// must be kept, or fault says so.
func (b *bench) measured(p plan, perIteration int64, loops []loop, opts ...scope.Option) (ns []float64, fault string, err error) {
	t, err := b.recording(job{
		warm: func() { b.warm(p, loops...) },
		run:  func() { ns = b.medians(p, loops...) },
		opts: opts,
	})
	return ns, t.kept(perIteration * b.iterations(p)), err
}

func (b *bench) slices(p plan) int {
	if b.short {
		return max(p.slices/4, 1)
	}
	return p.slices
}

// iterations is how often medians runs each loop.
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
