package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/sweeper"
)

// stackDepth is the number of functions above the calls of scope.Stack.
const stackDepth = 10

//go:noinline
func stackCall() { scope.Stack("stack", 1) }

func stackCalls(n int) {
	for range n {
		stackCall()
	}
}

// below calls f with n more functions above it.
//
//go:noinline
func below(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	below(n-1, f)
}

// deep runs calls on a goroutine of its own, where each stack has stackDepth
// functions: stackCall, stackCalls, three function literals, and below.
func deep(calls func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		below(stackDepth-6, func() { calls() })
	}()
	<-done
}

// stackRows measures scope.Stack: its call, and the sustained rate of counting.
func stackRows(b *bench) []row {
	return append([]row{b.stackRow(), b.sweepRow()}, b.stackPacedRow(), b.stackBurstRow())
}

// stackRow measures a call.
func (b *bench) stackRow() row {
	const name = "scope.Stack, depth 10"
	call := func(n int) (took time.Duration) {
		deep(func() {
			begin := time.Now()
			stackCalls(n)
			took = time.Since(begin)
		})
		return took
	}
	loops := []hot.Loop{hot.Timed(floor.Loop), call}
	var ts times
	depth := 0
	var before, after scope.Statistics
	_, err := b.recording(job{
		warm: func() { b.warm(recordedPlan, loops...) },
		run: func() {
			before = scope.Stats()
			ts = b.measure(recordedPlan, loops...)
		},
		read: func(t tally) (err error) {
			after = scope.Stats()
			depth, err = depthOf(t.path)
			return err
		},
	})
	if err != nil {
		return broken(name, err)
	}
	ns := quantity{ts.ns(1), "ns"}
	r := row{name: name, value: ns, judge: ns, goal: 100, must: 150}
	r.note = fmt.Sprintf("%.1f M calls/s; %s", 1e3/ns.v, ts.note())
	switch {
	case depth != stackDepth:
		r.fault = fmt.Sprintf("the stacks have %d functions", depth)
	case after.Lost.Stacks != before.Lost.Stacks:
		r.fault = fmt.Sprintf("%d calls were lost", after.Lost.Stacks-before.Lost.Stacks)
	}
	return r
}

// depthOf returns the number of functions in the stacks of a trace.
func depthOf(path string) (n int, err error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	t.EachStack(func(s *trace.Stack) bool { n = max(n, len(s.Frames)); return true })
	return n, nil
}

// sweepRow measures the rate at which records are taken out of memory and counted.
func (b *bench) sweepRow() row {
	const name = "stacks of depth 10 counted by the sweeper"
	const n, kinds = 200_000, 100 // all fit into its memory
	var rates []float64
	for range b.rounds {
		var spent time.Duration
		s := sweeper.New(sweeper.Config{
			Every:  math.MaxInt64,
			Frame:  func(*sweeper.Frame) bool { return true },
			Stack:  func(*sweeper.Stack) bool { return true },
			Counts: func([]sweeper.Count) bool { return true },
			Round: func(f func()) {
				begin := time.Now()
				f()
				spent += time.Since(begin)
			},
		})
		s.Start()
		var mem sys.PCs
		pcs := mem[:stackDepth+1]
		for i := range n {
			pcs[5] = uintptr(i % kinds)
			if why := s.Put(2, 1, pcs); why != nil {
				return broken(name, fmt.Errorf("a record is lost: %w", why))
			}
		}
		s.Stop()
		rates = append(rates, n/spent.Seconds()/1e6)
	}
	return row{name: name, value: quantity{median(rates), "M/s"}}
}

// stackPacedRow makes calls at a rate without losses.
func (b *bench) stackPacedRow() row {
	seconds := 10
	if b.short {
		seconds = 2
	}
	name := fmt.Sprintf("2 M stacks/s by two goroutines for %d s", seconds)
	const perMS = 1000
	var took time.Duration
	n := 2 * seconds * 1000 * perMS
	_, err := b.recording(job{run: func() {
		begin := time.Now()
		var done sync.WaitGroup
		for range 2 {
			done.Go(func() {
				for ms := range seconds * 1000 {
					deep(func() { stackCalls(perMS) })
					time.Sleep(time.Until(begin.Add(time.Duration(ms+1) * time.Millisecond)))
				}
			})
		}
		done.Wait()
		took = time.Since(begin)
	}})
	if err != nil {
		return broken(name, err)
	}
	r := row{name: name, value: quantity{float64(n) / took.Seconds() / 1e6, "M/s"}, note: "none lost"}
	if s := scope.Stats(); s.Stacks != int64(n) || s.Lost.Total() != 0 {
		r.fault = fmt.Sprintf("%d of %d calls counted, %d lost", s.Stacks, n, s.Lost.Stacks)
	}
	return r
}

// stackBurstRow makes calls on all CPUs as fast as they can.
func (b *bench) stackBurstRow() row {
	const name = "a burst of 10 M stacks by two goroutines"
	const n = 10_000_000
	var took time.Duration
	_, err := b.recording(job{run: func() {
		begin := time.Now()
		var done sync.WaitGroup
		for range 2 {
			done.Go(func() { deep(func() { stackCalls(n / 2) }) })
		}
		done.Wait()
		took = time.Since(begin)
	}})
	if err != nil {
		return broken(name, err)
	}
	s := scope.Stats()
	r := row{name: name, value: quantity{n / took.Seconds() / 1e6, "M/s"}, note: "none lost"}
	if s.Lost.Stacks > 0 {
		r.note = fmt.Sprintf("%.1f %% lost and counted", 100*float64(s.Lost.Stacks)/n)
	}
	if s.Stacks+s.Lost.Stacks != n {
		r.fault = fmt.Sprintf("%d calls counted and %d lost, want %d in all", s.Stacks, s.Lost.Stacks, n)
	}
	return r
}
