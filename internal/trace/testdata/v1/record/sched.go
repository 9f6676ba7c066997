package main

import (
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/scope"
)

// scheduler records a Go execution trace, and the switches of a recorder: its numbers are made up,
// its times are not.
type scheduler struct {
	r     collect.Recording
	begun time.Time
	last  int64 // ns since then

	mu  sync.Mutex
	seq uint32
}

func (c *scheduler) Start(r collect.Recording) {
	c.r, c.begun = r, time.Now()
	runtime.GC() // untraced, so that the trace is short
	_ = trace.Start(c)
}

// Write stores a part of the Go execution trace. All of it would be more than a recording here
// needs.
func (c *scheduler) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := p; len(b) > 0 && c.seq < 4; c.seq++ {
		n := min(len(b), 4<<10)
		c.r.Block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, c.seq, b[:n]))
		b = b[n:]
	}
	return len(p), nil
}

func (c *scheduler) Beat() {
	now := int64(time.Since(c.begun))
	mono := func(ns int64) int64 { return 1e9 + ns }
	s := format.Switches{Thread: uint32(os.Getpid()), First: c.last == 0, Lost: c.last > 20e6, On: true, Base: mono(c.last), Until: mono(now)}
	for at, how := c.last+1000, format.SwitchOut; at < now; at += 1e6 {
		s.List = append(s.List, format.Switch{Time: mono(at), How: how}, format.Switch{Time: mono(at + 5e4), How: format.SwitchIn})
		if how++; how > format.SwitchText { // in turn
			how = format.SwitchOut
		}
	}
	if n := len(s.List); n > 0 && s.List[n-1].Time > s.Until {
		s.List = s.List[:n-1]
	}
	c.r.Block(format.BlockSwitch, format.AppendSwitches(nil, &s))
	c.last = now
}

func (c *scheduler) Snapshot() {}
func (c *scheduler) Stop()     { trace.Stop() }

// locks waits for locks of each kind.
func locks() {
	mu, rw := scope.Mutex{Name: "a mutex"}, scope.RWMutex{Name: "a rwmutex"}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			defer scope.Task("locks")()
			for range 2 {
				mu.Lock()
				time.Sleep(200 * time.Microsecond)
				mu.Unlock()
				rw.Lock()
				time.Sleep(200 * time.Microsecond)
				rw.Unlock()
				rw.RLock()
				time.Sleep(100 * time.Microsecond)
				rw.RUnlock()
			}
			r := scope.Retry("a loop")
			r.Again()
			time.Sleep(50 * time.Microsecond)
			r.Done()
		})
	}
	wg.Wait()
}
