//go:build !scope_off

package gotrace

import (
	"fmt"
	"runtime/trace"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// shared is what there is one of in a process.
var shared struct {
	mu      sync.Mutex
	yields  [collect.Resources]yields
	running *collector // nil: none
}

// yields are of one resource.
type yields struct {
	n   int    // how many were not released
	why string // a fact
}

func option(c config) scope.Option {
	return func(o *record.Options) { o.AddCollector(&collector{config: c}) }
}

func yield() func() {
	return yieldFor("off: the program has it (gotrace.Yield)", collect.ExecutionTrace, collect.FlightRecorder, collect.CPUProfile)
}

// yieldFor gives the resources of a list back. Nothing is taken here, not even what has become free:
// Go begins goroutines for that, which would be of the program's bubble, if it is in one.
func yieldFor(why string, list ...collect.Resource) (release func()) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, r := range list {
		y := &shared.yields[r]
		y.n++
		y.why = why
		if c := shared.running; c != nil {
			c.giveBack(r)
			c.yielded(r)
		}
	}
	return sync.OnceFunc(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		for _, r := range list {
			shared.yields[r].n--
		}
	})
}

// taken is collect.GiveBack.
func taken(r collect.Resource, by any) (release func()) {
	switch by := by.(type) {
	case *writer, *profile:
		return func() {}
	case *trace.FlightRecorder:
		if by == ownRecorder.Load() {
			return func() {}
		}
	}
	return yieldFor("off: the program takes it itself", r)
}

// collector is a collect.Collector. Its methods hold shared.mu: Yield may come from any
// goroutine, and so may Snapshot.
type collector struct {
	config
	rec     collect.Recording
	streams uint32 // begun so far
	trace   tracer // nil: it was not to be had
	profile *profile
	perf    *perf.Switches // nil: not to be had
	sampler *perf.Sampler  // nil: there is no counter
	heap    func(urgency)  // reads the heap profile; nil: it was not to be had
	told    map[string]string
	facts   int
	ended   int // how often the trace ended by itself
	pause   int // heartbeats to wait before it is tried again
	wait    int // what pause begins with next time
	parts   parts
}

// tracer is where the execution trace comes from: the live trace, or the flight recorder.
type tracer interface {
	// tick looks after it. An error tells why it ended by itself.
	tick() error
	// snapshot writes what is only in memory.
	snapshot() error
	// end gives it back.
	end() error
	// spent is what it has cost the program so far, in ns.
	spent() int64
}

// Facts about what was had: "on", or "off: " and why.
const (
	factTrace   = "gotrace"
	factProfile = "gotrace_profile"
	factLacks   = "gotrace_profile_lacks" // what there are no samples of
	factEnded   = "gotrace_ended"
)

// maxFacts bounds how often the trace is told something: in a ring facts are never
// overwritten.
const maxFacts = 200

func (c *collector) Start(rec collect.Recording) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != nil {
		return // With was given twice
	}
	shared.running = c
	giveBack := taken
	collect.GiveBack.Store(&giveBack)
	divided := c.divided
	collect.Parts.Store(&divided)
	*c = collector{config: c.config, rec: rec, told: map[string]string{}, wait: 1}
	if c.noSwitches {
		c.tell(perf.FactSwitches, "off: the program does not want them (gotrace.WithoutSwitches)")
	} else if p := new(perf.Switches); p.Start(rec) == nil { // otherwise it has told why
		c.perf = p
	}
	names := perf.NewOwnNamer(rec)
	if len(c.counters) > 0 {
		list := make([]perf.Counter, len(c.counters))
		for i, k := range c.counters {
			list[i] = perf.Counter(k)
		}
		if s := new(perf.Sampler); s.Start(rec, names, list) {
			c.sampler = s
		}
	}
	if c.startHeap != nil {
		var err error
		if c.heap, err = c.startHeap(rec, names); err != nil {
			c.tell(factHeap, "off: "+err.Error())
		}
	}
	c.take()
}

func (c *collector) Beat() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	if c.trace != nil {
		if err := c.trace.tick(); err != nil {
			c.parts.trace += time.Duration(c.trace.spent())
			c.trace = nil
			c.tell(factTrace, "off: it ended, because "+err.Error())
			c.lose(err)
			c.pause, c.wait = c.wait-1, min(2*c.wait, 64)
		} else if c.pause--; c.pause < -10 {
			c.wait = 1 // it goes well again
		}
	}
	if c.profile != nil && !c.profile.tick() {
		c.endProfile()
	}
	if c.heap != nil {
		c.heap(forBeat)
	}
	c.take()
}

func (c *collector) Snapshot() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	if c.trace != nil {
		if err := c.trace.snapshot(); err != nil {
			c.lose(err)
		}
	}
	if c.perf != nil {
		c.perf.Snapshot()
	}
	if c.sampler != nil {
		c.sampler.Snapshot()
	}
	if c.heap != nil {
		c.heap(forSnapshot)
	}
}

func (c *collector) Stop() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	for r := range collect.Resources {
		c.giveBack(r)
	}
	if c.perf != nil {
		c.perf.Stop()
		c.perf = nil
	}
	if c.sampler != nil {
		c.sampler.Stop()
		c.sampler = nil
	}
	if c.heap != nil {
		c.heap(forStop)
		c.heap = nil
	}
	shared.running = nil
}

// traces is where the execution trace is taken from.
func (c *collector) traces() collect.Resource {
	if c.rec.Ring() > 0 {
		return collect.FlightRecorder
	}
	return collect.ExecutionTrace
}

// yielded reports whether r is the program's, and tells the trace so.
func (c *collector) yielded(r collect.Resource) bool {
	y := shared.yields[r]
	switch {
	case y.n == 0:
		return false
	case r == c.traces():
		c.tell(factTrace, y.why)
	case r == collect.CPUProfile && !c.noProfile:
		c.tell(factProfile, y.why)
	}
	return true
}

// take takes what it has not, if it is free.
func (c *collector) take() {
	if why := unsafeTrace(); why != "" {
		c.tell(factTrace, "off: "+why)
		c.tell(factProfile, "off: its samples are kept in Go's execution trace, which is off")
		return
	}
	if !c.yielded(c.traces()) && c.trace == nil && !c.parts.noTrace {
		if c.pause--; c.pause < 0 {
			c.takeTrace()
		}
	}
	switch {
	case c.noProfile:
		c.tell(factProfile, "off: the program does not want it (gotrace.WithoutProfile)")
	case c.yielded(collect.CPUProfile) || c.parts.noProfile:
	case c.profile == nil:
		var err error
		if c.profile, err = startProfile(); err != nil {
			c.tell(factProfile, "off: the program takes it itself: "+err.Error())
			break
		}
		c.tell(factProfile, "on")
		if without := lacks(); without != "" {
			c.tell(factLacks, without)
		}
	}
}

func (c *collector) takeTrace() {
	var err error
	how := "on"
	if c.traces() == collect.FlightRecorder {
		how = "on (flight recorder)"
		c.trace, err = startFlight(c)
	} else {
		c.trace, err = startLive(c)
	}
	if err != nil {
		c.trace = nil
		c.tell(factTrace, "off: the program takes it itself: "+err.Error())
		return
	}
	c.tell(factTrace, how)
}

// giveBack ends what is had of r.
func (c *collector) giveBack(r collect.Resource) {
	switch {
	case r == collect.CPUProfile:
		c.endProfile()
	case r == c.traces():
		c.endTrace()
	}
}

func (c *collector) endProfile() {
	if c.profile != nil {
		c.parts.profile += c.profile.spent()
		c.profile.end()
		c.profile = nil
	}
}

func (c *collector) endTrace() {
	if c.trace == nil {
		return
	}
	if err := c.trace.end(); err != nil {
		c.lose(err)
	}
	c.parts.trace += time.Duration(c.trace.spent())
	c.trace = nil
}

// lose takes note of a stream that ended too early.
func (c *collector) lose(why error) {
	if c.ended++; c.ended == 1 {
		c.tell(factEnded, "once, because "+why.Error())
		return
	}
	c.tell(factEnded, fmt.Sprintf("%d times, the last time because %v", c.ended, why))
}

// tell tells the trace something new.
func (c *collector) tell(key, value string) {
	if c.told[key] == value || c.facts >= maxFacts {
		return
	}
	c.told[key] = value
	c.facts++
	c.rec.Fact(key, value)
}

// writer begins another stream.
func (c *collector) writer() *writer {
	c.streams++
	return &writer{rec: c.rec, stream: c.streams}
}
