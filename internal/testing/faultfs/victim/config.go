//go:build linux

package victim

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Name is the name of the scopes of Numbers. Their arguments are the worker and the scope's
// number.
const Name = "numbered"

// Config describes a victim.
type Config struct {
	Path       string // argument of scope.Start
	Backing    string // disk, heap, shm; "": the default of scope.Start
	Ring       int64  // bytes; 0: none
	Buffer     int64  // maximum bytes that wait in memory; 0: the default
	Segments   bool   // Ring lies in segments of 1 MiB
	Limit      int64  // bytes; 0: the default
	FlushEvery time.Duration
	CPU        scope.CPUMode

	Workers int           // goroutines that record; 0: 4
	Scopes  uint64        // maximum number per worker; 0: until stopped
	Burst   int           // scopes between two pauses; 0: 32
	Pause   time.Duration // 0: 100 µs, which any disk can sustain; negative: none
	Timed   bool          // measure the duration of each call
	Collect bool          // run the garbage collector all the time

	Work string            // name of the work; "": Numbers
	Args map[string]string // for Work

	Hold     bool // start recording when Release is called
	MayFail  bool // continue without a recording if scope.Start fails
	Env      []string
	Patience time.Duration // limit for the begin and the end of the victim; 0: 30 s
}

func (c *Config) complete() {
	if c.Workers == 0 {
		c.Workers = 4
	}
	if c.Burst == 0 {
		c.Burst = 32
	}
	if c.Pause == 0 {
		c.Pause = 100 * time.Microsecond
	}
	if c.FlushEvery == 0 {
		c.FlushEvery = 10 * time.Millisecond
	}
	if c.Patience == 0 {
		c.Patience = 30 * time.Second
	}
}

// options returns the options of scope.Start.
func (c *Config) options() ([]scope.Option, error) {
	o := []scope.Option{scope.WithFlushEvery(c.FlushEvery), scope.WithHeartbeat(max(c.FlushEvery, 100*time.Millisecond)), scope.WithCPU(c.CPU)}
	if c.Backing != "" {
		b, ok := Backings()[c.Backing]
		if !ok {
			return nil, fmt.Errorf("there is no backing %q", c.Backing)
		}
		o = append(o, scope.WithBacking(b))
	}
	if c.Segments {
		o = append(o, scope.WithSegments(scope.MinSegment, int(c.Ring/scope.MinSegment)))
	} else if c.Ring != 0 {
		o = append(o, scope.WithRing(c.Ring))
	}
	if c.Buffer != 0 {
		o = append(o, scope.WithBuffer(c.Buffer))
	}
	if c.Limit != 0 {
		o = append(o, scope.WithLimit(c.Limit))
	}
	return o, nil
}

// Backings returns the backings of the build, by name.
func Backings() map[string]scope.BackingKind {
	b := map[string]scope.BackingKind{"heap": scope.HeapBacking}
	if mapped {
		b["disk"], b["shm"] = scope.DiskBacking, scope.ShmBacking
	}
	return b
}
