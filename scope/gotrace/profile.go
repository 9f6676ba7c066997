//go:build !scope_off

package gotrace

import (
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// profile is the CPU profile. Go's tracer keeps its samples, with their times; what the
// profile itself makes of them is thrown away.
type profile struct {
	since time.Time
	ended atomic.Bool
}

// rotate is how long a profile runs: it keeps every stack that it saw in memory.
const rotate = time.Minute

// profileHeap is what a profile has in Go's heap, in bytes: 1.1 MB from its begin on, and stacks.
const profileHeap = 1400 << 10

func startProfile() (*profile, error) {
	p := &profile{since: time.Now()}
	if err := pprof.StartCPUProfile(p); err != nil {
		return nil, err
	}
	record.UseHeap(profileHeap)
	return p, nil
}

// Write is called when a profile ends, and never before: so it tells who stopped it.
func (p *profile) Write(b []byte) (int, error) {
	if !p.ended.Swap(true) {
		record.UseHeap(-profileHeap)
	}
	return len(b), nil
}

// tick reports whether it still runs.
func (p *profile) tick() bool {
	if time.Since(p.since) > rotate {
		p.end()
	}
	return !p.ended.Load()
}

// end stops the profile, if it is ours: the program may have stopped it, and have
// begun another one.
func (p *profile) end() {
	if !p.ended.Load() {
		pprof.StopCPUProfile()
	}
}
