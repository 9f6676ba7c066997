package main

import (
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// scheduler records a Go execution trace, and what a recorder of switches and of locks
// would: its numbers are made up, its times are not.
type scheduler struct {
	r     collect.Recording
	begun time.Time
	last  int64 // ns since then

	mu  sync.Mutex
	seq uint32
}

func (c *scheduler) Start(r collect.Recording) {
	c.r, c.begun = r, time.Now()
	runtime.GC() // while nothing is traced, so that little is
	_ = trace.Start(c)
	c.locks()
}

// Write takes a part of the Go execution trace. All of it would be more than a
// recording here needs.
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

func (c *scheduler) Tick() {
	now := int64(time.Since(c.begun))
	mono := func(ns int64) int64 { return 1e9 + ns }
	s := format.Switches{Thread: uint32(os.Getpid()), First: c.last == 0, Lost: c.last > 20e6, On: true, Base: mono(c.last), Until: mono(now)}
	for at, how := c.last+1000, format.SwitchOut; at < now; at += 1e6 {
		s.List = append(s.List, format.Switch{Time: mono(at), How: how}, format.Switch{Time: mono(at + 5e4), How: format.SwitchIn})
		how = format.SwitchOut + format.SwitchPreempt - how // by turns
	}
	if n := len(s.List); n > 0 && s.List[n-1].Time > s.Until {
		s.List = s.List[:n-1]
	}
	c.r.Block(format.BlockSwitch, format.AppendSwitches(nil, &s))
	c.last = now
	c.locks()
}

func (c *scheduler) locks() {
	l := format.LockSums{Ticks: c.r.Ticks(), Addr: 0xc000012340, Kind: format.LockMutex, Acquired: 50, Contended: 3, Short: 2, ShortWait: 900}
	c.r.Block(format.BlockLock, format.AppendLockSums(nil, &l))
	l = format.LockSums{Ticks: c.r.Ticks(), Addr: 0xc000012348, Kind: format.LockRetry, Acquired: -1, Contended: 7}
	c.r.Block(format.BlockLock, format.AppendLockSums(nil, &l))
}

func (c *scheduler) Snapshot() {}
func (c *scheduler) Stop()     { trace.Stop() }
