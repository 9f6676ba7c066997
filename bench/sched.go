package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// schedRows measures the cost of gotrace.With, and of reading its data.
func schedRows(b *bench) []row {
	rows := []row{b.recordedSwitchRow(), b.handOverRow()}
	return append(append(rows, b.gostatsRows()...), b.joinRow())
}

// recordedSwitchRow measures the cost of recording a thread switch: two threads that alternate
// on one CPU, which Go's tracer does not see.
func (b *bench) recordedSwitchRow() row {
	return b.addedToSwitch("a thread switch, recorded", func() {}, job{
		read: func(t tally) error { return hasSwitches(t.path) },
		opts: []scope.Option{gotrace.With(gotrace.WithoutProfile())},
	})
}

func hasSwitches(path string) error {
	t, err := trace.OpenFile(path)
	if err != nil {
		return err
	}
	defer t.Close()
	if !t.HasSwitches() {
		return errors.New("no switches were recorded: " + t.Lookup("thread_switches"))
	}
	return nil
}

// handOver passes a value n times from one goroutine to another and back, on one P.
func handOver(n int) time.Duration {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
		close(back)
	}()
	begin := time.Now()
	for i := range n {
		there <- i
		<-back
	}
	spent := time.Since(begin)
	close(there)
	<-back
	return spent
}

// handOverRow measures the overhead of Go's tracer per switch between goroutines.
func (b *bench) handOverRow() row {
	const name = "a switch between goroutines, recorded"
	const n = 200_000
	per := func(d time.Duration) float64 { return float64(d) / (2 * n) }
	var off, on []float64
	for range b.rounds {
		off = append(off, per(handOver(n)))
		_, err := b.recording(job{
			run:  func() { on = append(on, per(handOver(n))) },
			opts: []scope.Option{gotrace.With()},
		})
		if err != nil {
			return broken(name, err)
		}
	}
	return row{name: name, value: quantity{median(on) - median(off), "ns"}, note: fmt.Sprintf("added to %.0f ns", median(off))}
}

// gostatsRows measures the CPU time of a realistic program: without a recording, with one,
// and with gotrace.With.
func (b *bench) gostatsRows() []row {
	const name = "gostats, recorded"
	bin := filepath.Join(b.dir, "gostats")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/scopeview/scopeview/examples/gostats").CombinedOutput(); err != nil {
		return []row{broken(name, fmt.Errorf("it can't be built: %w: %s", err, out))}
	}
	repeat := 10
	if b.short {
		repeat = 3
	}
	var cpu [3][]float64
	var size int64
	for range b.rounds {
		for i := range cpu {
			path := filepath.Join(b.dir, "gostats.scope")
			args := []string{"-limit-files", "600", "-repeat", strconv.Itoa(repeat)}
			if i > 0 {
				args = append(args, "-trace", path)
			}
			if i > 1 {
				args = append(args, "-gotrace")
			}
			cmd := exec.Command(bin, args...)
			if out, err := cmd.CombinedOutput(); err != nil {
				return []row{broken(name, fmt.Errorf("it failed: %w: %s", err, out))}
			}
			cpu[i] = append(cpu[i], (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
			if info, err := os.Stat(path); err == nil {
				size = info.Size()
				os.Remove(path)
			}
		}
	}
	more := func(i int) quantity { return quantity{100 * (median(cpu[i])/median(cpu[0]) - 1), "%"} }
	took := fmt.Sprintf("of %.1f s of CPU time", median(cpu[0]))
	return []row{
		{name: name, value: more(1), note: took},
		{name: name + " with the Go trace, samples and switches", value: more(2), note: fmt.Sprintf("%s; the trace has %.1f MB", took, float64(size)/1e6)},
	}
}

// joinRow measures reading a Go trace and thread switches, and computing states from them.
func (b *bench) joinRow() row {
	const name = "scheduler events read and joined, per CPU"
	events := 10_000_000
	if b.short {
		events = 1_000_000
	}
	r := row{name: name}
	_, err := b.recording(job{
		run: func() { many(events / 3) }, // each hand-over is three changes of state
		read: func(t tally) error {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			rate, err := b.rate(func() (int, error) { return joined(t.path) }, int64(events)*9/10)
			r = rateRow(name, rate, 2, 1)
			return err
		},
		opts: []scope.Option{gotrace.With(gotrace.WithoutProfile())},
	})
	if err != nil {
		return broken(name, err)
	}
	return r
}

// many runs n hand-overs between two pairs of goroutines.
func many(n int) {
	var done sync.WaitGroup
	for range 2 {
		there := make(chan int)
		done.Go(func() {
			for i := range n / 2 {
				there <- i
			}
			close(there)
		})
		done.Go(func() {
			for range there {
			}
		})
	}
	done.Wait()
}

// joined reads the states of a trace, and returns the number of changes.
func joined(path string) (int, error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	f, err := states.Read(t, nil)
	if err != nil {
		return 0, err
	}
	if len(f.Problems) > 0 {
		return 0, errors.New(f.Problems[0])
	}
	return int(f.Info.Transitions), nil
}
