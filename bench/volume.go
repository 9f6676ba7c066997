package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/heartbeat"
)

// volumeRows measures whether all of many scopes are kept.
func volumeRows(b *bench) []row {
	return append([]row{b.burstRow()}, b.sustainedRows()...)
}

// burstRow records ten million scopes as fast as one goroutine can. What the
// disk can't follow is lost and counted; then the row reports the rate at which it can.
func (b *bench) burstRow() row {
	const n = 10_000_000
	const name = "a burst of 10 M scopes by one goroutine"
	rate := func(pace func()) (float64, tally, error) {
		var took time.Duration
		t, err := b.recording(job{run: func() {
			begin := time.Now()
			pace()
			took = time.Since(begin)
		}})
		if err == nil && t.recorded+t.lost != n {
			err = fmt.Errorf("%d scopes recorded and %d counted as lost, want %d in all", t.recorded, t.lost, n)
		}
		return n / took.Seconds() / 1e6, t, err
	}
	r, t, err := rate(func() { hot.Tasks(n) })
	if err != nil {
		return broken(name, err)
	}
	result := row{name: name, value: quantity{r, "M/s"}, note: "none lost"}
	if t.lost == 0 {
		return result
	}
	result.note = fmt.Sprintf("%.1f %% lost and counted", 100*float64(t.lost)/n)
	for _, perMS := range []int{30_000, 20_000, 15_000, 10_000, 7_000, 5_000, 3_000, 2_000, 1_000} {
		r, t, err := rate(func() { paced(n, perMS) })
		if err != nil {
			return broken(name, err)
		}
		if t.lost == 0 {
			result.note += fmt.Sprintf("; none at %.1f M/s", r)
			return result
		}
	}
	return result
}

// gentle is a pace, in scopes per millisecond, that every disk sustains.
const gentle = 4000

// paced records n scopes, perMS in each millisecond.
func paced(n, perMS int) {
	begin := time.Now()
	for i := 0; i < n; i += perMS {
		hot.Tasks(min(perMS, n-i))
		time.Sleep(time.Until(begin.Add(time.Duration(i/perMS+1) * time.Millisecond)))
	}
}

// sustainedRows records a million scopes a second on two goroutines for half a
// minute.
func (b *bench) sustainedRows() []row {
	seconds := 30
	if b.short {
		seconds = 5
	}
	name := fmt.Sprintf("1 M scopes/s by two goroutines for %d s", seconds)
	var (
		peak, base int64
		took       time.Duration
		each       = seconds * 500_000
	)
	base = resident()
	t, err := b.recording(job{run: func() {
		stop := watch(&peak)
		begin := time.Now()
		var done sync.WaitGroup
		for range 2 {
			done.Go(func() { paced(each, 500) })
		}
		done.Wait()
		took = time.Since(begin)
		stop()
	}})
	if err != nil {
		return []row{broken(name, err)}
	}
	grown := quantity{float64(peak-base) / (1 << 20), "MiB"}
	return []row{
		{name: name, value: quantity{float64(2*each) / took.Seconds() / 1e6, "M/s"}, fault: t.kept(int64(2 * each)), note: "none lost"},
		{name: "  its growth of resident memory", value: grown, judge: grown, goal: 64, must: 96},
	}
}

// watch stores the maximum resident memory in peak until stop is called.
func watch(peak *int64) (stop func()) {
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !end.Load() {
			*peak = max(*peak, resident())
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return func() { end.Store(true); <-done }
}

// resident returns the process's resident memory in bytes; 0: unknown.
func resident() int64 {
	vs, _ := heartbeat.New().Sample(nil, nil)
	for _, v := range vs {
		if v.Field == format.FieldRSS {
			return v.Value
		}
	}
	return 0
}
