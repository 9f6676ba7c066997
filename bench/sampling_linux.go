package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/outside"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// samplingRows measures the cost of samples for a computing program: four copies alternate,
// slice by slice. One is alone, one records itself with Go's samples and one without them,
// and one is recorded from outside.
func samplingRows(b *bench) []row {
	const inside = "Go's samples, 100 in a second of CPU time"
	bin, path := filepath.Join(b.dir, "sampled"), filepath.Join(b.dir, "sampled.scope")
	const alone, without, with, beside = 0, 1, 2, 3
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/scopeview/scopeview/bench/sampled").CombinedOutput(); err != nil {
		return []row{broken(inside, fmt.Errorf("the program can't be built: %w: %s", err, out))}
	}
	var had *outside.Result
	takers, err := startTakers(
		func(in, out *os.File) error { return runTaker(exec.Command(bin), in, out) },
		func(in, out *os.File) error { return runTaker(exec.Command(bin, path+".without", "without"), in, out) },
		func(in, out *os.File) error { return runTaker(exec.Command(bin, path), in, out) },
		func(in, out *os.File) (err error) {
			clock := perf.Counter{Name: "task-clock", Every: uint64(time.Millisecond)}
			had, err = outside.Record(context.Background(), outside.Options{Command: []string{bin}, Path: path + ".outside", Counters: []perf.Counter{clock}, In: in, Out: out, Err: os.Stderr})
			return err
		},
	)
	if err != nil {
		return []row{broken(inside, err)}
	}
	slices := 80
	if b.short {
		slices = 20
	}
	spent, err := b.turns(takers, slices)
	for i := range takers {
		err = errors.Join(err, takers[i].end())
	}
	if err != nil {
		return []row{broken(inside, err)}
	}
	more := func(name string, what, than int) row {
		var ratios []float64
		for _, round := range spent {
			ratios = append(ratios, round[what]/round[than])
		}
		note := fmt.Sprintf("more CPU time; by round %.3f to %.3f times", quantile(ratios, 0), quantile(ratios, 1))
		return row{name: name, value: quantity{100 * (median(ratios) - 1), "%"}, note: note}
	}
	rows := []row{
		more(inside, with, without), more("  with all that gotrace.With records", with, alone), more("samples from outside, 1,000 in a second of CPU time", beside, alone),
	}
	rows[0].judge, rows[0].goal, rows[0].must = rows[0].value, 0.5, 1
	n, err := goSamples(path)
	if rows[0].fault = tooFew(n, takers[with].cpu/10e6); err != nil {
		rows[0].fault = err.Error()
	}
	rows[2].fault = tooFew(had.Samples, takers[beside].cpu/1e6)
	return rows
}

// tooFew returns an error if far fewer samples were taken than expected.
func tooFew(n int64, want float64) string {
	if float64(n) < 0.8*want {
		return fmt.Sprintf("%d samples, and there should be %.0f", n, want)
	}
	return ""
}

// goSamples counts the samples of CPU time in a recording.
func goSamples(path string) (n int64, err error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	_, err = states.EachOf(t, states.Handler{Sample: func(*states.Facts, *gotrace.Sample, states.State) { n++ }})
	return n, err
}

// taker is a program that runs in turn with others.
type taker struct {
	in   *os.File
	out  *bufio.Scanner
	done chan error
	cpu  float64 // ns, of all slices
}

// startTakers starts programs, with their pipes, all on one CPU: with different neighbours
// on the other halves of their cores, these would be measured.
func startTakers(run ...func(in, out *os.File) error) (list []*taker, err error) {
	for _, f := range run {
		in, ours, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		answers, out, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		t := &taker{in: ours, out: bufio.NewScanner(answers), done: make(chan error, 1)}
		go func() {
			runtime.LockOSThread() // permanently: the pinned thread ends with the goroutine
			err := pinThread()
			if err == nil {
				err = f(in, out)
			}
			in.Close()
			out.Close()
			t.done <- err
		}()
		list = append(list, t)
	}
	return list, nil
}

func runTaker(cmd *exec.Cmd, in, out *os.File) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	return cmd.Run()
}

// turn runs a slice of a program, and returns its CPU time and its result.
func (t *taker) turn() (cpu float64, result uint64, err error) {
	if _, err := t.in.WriteString("\n"); err != nil {
		return 0, 0, err
	}
	if !t.out.Scan() {
		return 0, 0, errors.Join(errors.New("it ended early"), t.out.Err())
	}
	if _, err := fmt.Sscan(t.out.Text(), &cpu, &result); err != nil {
		return 0, 0, fmt.Errorf("it printed %q: %w", t.out.Text(), err)
	}
	return cpu, result, nil
}

// end ends a program.
func (t *taker) end() error {
	t.in.Close()
	return <-t.done
}

// warmUps is the number of slices of each program before those that count.
const warmUps = 2

// turns runs programs in turn, a number of slices per round, and returns the CPU time of
// each per round. It compares the results, to check the computation.
func (b *bench) turns(list []*taker, slices int) (spent [][]float64, err error) {
	for range warmUps {
		for _, t := range list {
			if _, _, err := t.turn(); err != nil {
				return nil, err
			}
		}
	}
	for range b.rounds {
		round := make([]float64, len(list))
		for n := range slices {
			var want uint64
			for k := range list {
				i := (n + k) % len(list)
				cpu, result, err := list[i].turn()
				if err == nil && k > 0 && result != want {
					err = fmt.Errorf("what is computed is %d and %d", result, want)
				}
				if err != nil {
					return nil, err
				}
				want = result
				round[i] += cpu
				list[i].cpu += cpu
			}
		}
		spent = append(spent, round)
	}
	return spent, nil
}
